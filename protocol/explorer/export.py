"""Graphs and paths as text that other programs read: JSON, ITF, DOT, Mermaid.

ITF is the trace format of Apalache, Quint and TLC's users (Informal Trace Format). Pictures are made elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .graph import Graph, Path
from .model import Action, Model, Property, S


def _words(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_words(one)}" for key, one in value.items())
    if isinstance(value, tuple | list):
        return " ".join(map(_words, value))
    return str(value)


def _label(model: Model[S], state: S) -> str:
    return "; ".join(f"{key}: {_words(value)}" for key, value in model.describe(state).items())


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _plain(value: object) -> object:
    """JSON has no tuples and no fractions."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _itf(value: object) -> object:
    """ITF writes integers as they are, tuples as {"#tup": […]}, and maps as {"#map": [[key, value], …]}."""
    if isinstance(value, Mapping):
        return {"#map": [[str(key), _itf(one)] for key, one in value.items()]}
    if isinstance(value, tuple | list):
        return {"#tup": [_itf(one) for one in value]}
    return _plain(value)


def _action(action: Action) -> dict[str, object]:
    told: dict[str, object] = {"name": action.name, "parameters": {k: _plain(v) for k, v in action.parameters}}
    if action.by:
        told["by"] = action.by
    return told


def graph_json(graph: Graph[S]) -> dict[str, object]:
    """The whole graph as plain data: states with their variables, edges with their actions."""
    return {
        "schema": 1,
        "complete": graph.complete,
        "stopped": graph.stopped,
        "initial": sorted({i for _, i in graph.initial}),
        "states": [_plain(graph.model.describe(state)) for state in graph.states],
        "edges": [
            {"from": i, "to": target, "cost": action.cost, "ways": action.ways, **_action(action)}
            for i in range(graph.expanded)
            for action, target in graph.edges(i)
        ],
    }


def graph_dot(graph: Graph[S], *, name: str = "states") -> str:
    """The whole graph as DOT text, in the order of discovery."""
    starts = {i for _, i in graph.initial}
    lines = [f"digraph {_quoted(name)} {{", "  node [shape=box];"]
    for i, state in enumerate(graph.states):
        style = ", penwidth=2" if i in starts else ""
        lines.append(f"  {i} [label={_quoted(_label(graph.model, state))}{style}];")
    for i in range(graph.expanded):
        lines += [f"  {i} -> {target} [label={_quoted(str(action))}];" for action, target in graph.edges(i)]
    return "\n".join([*lines, "}", ""])


def path_itf(
    model: Model[S], path: Path[S], *, source: str = "", properties: Sequence[Property[S]] = ()
) -> dict[str, object]:
    """A path in ITF; each state has its variables, the action that led to it, and which property holds."""
    described = [model.describe(state) for state in path.states]
    variables = list(dict.fromkeys(key for variables in described for key in variables))
    states: list[dict[str, object]] = []
    for i, (variables_here, action) in enumerate(zip(described, path.actions, strict=False)):
        state: dict[str, object] = {"#meta": {"index": i}}
        state |= {key: _itf(value) for key, value in variables_here.items()}
        state["action"] = action.name
        state["parameters"] = _itf(dict(action.parameters))
        if properties:
            state["holds"] = _itf({claim.name: claim.holds(path.states[i]) for claim in properties})
        states.append(state)
    extra = ["action", "parameters", *(["holds"] if properties else [])]
    told: dict[str, object] = {
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "source": source,
        },
        "vars": [*variables, *extra],
        "states": states,
    }
    if path.loop is not None:
        told["loop"] = path.loop
    return told


def path_text(model: Model[S], path: Path[S], *, properties: Sequence[Property[S]] = ()) -> str:
    """A path for people: each action, the state after it, and the properties that do not hold there."""
    lines = []
    for i, state in enumerate(path.states):
        broken = [claim.name for claim in properties if not claim.holds(state)]
        mark = f"   ✗ {', '.join(broken)}" if broken else ""
        back = "   ⟲ from here" if path.loop == i else ""
        lines += [f"{i:>3}  {path.actions[i]}", f"     {_label(model, state)}{mark}{back}"]
    if path.loop is not None:
        lines.append(f"     {path.actions[len(path.states)]} leads back to {path.loop}, and so on for ever")
    return "\n".join(lines)


def path_dot(model: Model[S], path: Path[S], *, name: str = "path") -> str:
    """A path as DOT text; a loop is drawn as a cycle."""
    lines = [f"digraph {_quoted(name)} {{", "  node [shape=box];"]
    lines += [f"  {i} [label={_quoted(_label(model, state))}];" for i, state in enumerate(path.states)]
    lines += [f"  {i - 1} -> {i} [label={_quoted(str(path.actions[i]))}];" for i in range(1, len(path.states))]
    if path.loop is not None:
        lines.append(f"  {len(path)} -> {path.loop} [label={_quoted(str(path.actions[len(path.states)]))}];")
    return "\n".join([*lines, "}", ""])


def path_mermaid(model: Model[S], path: Path[S]) -> str:
    """A path as a Mermaid flowchart; a loop is drawn as a cycle."""

    def safe(text: str) -> str:
        return text.replace('"', "#quot;")

    lines = ["flowchart TD"]
    lines += [f'  s{i}["{safe(_label(model, state))}"]' for i, state in enumerate(path.states)]
    lines += [f'  s{i - 1} -->|"{safe(str(path.actions[i]))}"| s{i}' for i in range(1, len(path.states))]
    if path.loop is not None:
        lines.append(f'  s{len(path)} -->|"{safe(str(path.actions[len(path.states)]))}"| s{path.loop}')
    return "\n".join([*lines, ""])
