"""The explorer on toy models: nothing here knows Kafka."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.explorer import (
    Action,
    Graph,
    always,
    chances,
    check,
    discover,
    distribution,
    eventually,
    graph_dot,
    graph_json,
    least_and_most,
    loops,
    path_dot,
    path_itf,
    path_mermaid,
    path_text,
    reachable,
    runs,
)

START = Action("start")


class Jugs:
    """Four litres out of a jug of three and a jug of five."""

    def initial(self) -> Iterator[tuple[Action, tuple[int, int]]]:
        yield START, (0, 0)

    def moves(self, state: tuple[int, int]) -> Iterator[tuple[Action, tuple[int, int]]]:
        small, big = state
        yield Action("fill", (("jug", "small"),), cost=3 - small), (3, big)
        yield Action("fill", (("jug", "big"),), cost=5 - big), (small, 5)
        yield Action("empty", (("jug", "small"),)), (0, big)
        yield Action("empty", (("jug", "big"),)), (small, 0)
        poured = min(small, 5 - big)
        yield Action("pour", (("from", "small"),)), (small - poured, big + poured)
        poured = min(3 - small, big)
        yield Action("pour", (("from", "big"),)), (small + poured, big - poured)

    def describe(self, state: tuple[int, int]) -> Mapping[str, object]:
        return {"small": state[0], "big": state[1]}


class Locks:
    """Two processes take two locks in opposite order, then give both back and are done."""

    def initial(self) -> Iterator[tuple[Action, tuple[int, int]]]:
        yield START, (0, 0)

    def moves(self, state: tuple[int, int]) -> Iterator[tuple[Action, tuple[int, int]]]:
        # 0 nothing, 1 its first lock, 2 both, 3 done
        for me in (0, 1):
            mine, other = state[me], state[1 - me]
            first_is_free = other not in (2,)
            second_is_free = other not in (1, 2)
            if mine == 2 or (mine == 0 and first_is_free) or (mine == 1 and second_is_free):
                after = (mine + 1, other) if me == 0 else (other, mine + 1)
                yield Action(("take first", "take second", "release")[mine], (("process", me),), by=f"p{me}"), after

    def describe(self, state: tuple[int, int]) -> Mapping[str, object]:
        return {"held": state}


@dataclass(frozen=True)
class Drawn:
    """A graph given as {state: moves}; state 0 is where it starts."""

    edges: Mapping[int, tuple[tuple[Action, int], ...]]

    def initial(self) -> Iterator[tuple[Action, int]]:
        yield START, 0

    def moves(self, state: int) -> tuple[tuple[Action, int], ...]:
        return self.edges.get(state, ())

    def describe(self, state: int) -> Mapping[str, object]:
        return {"at": state}


def drawn(*edges: tuple[int, int]) -> Drawn:
    table: dict[int, list[tuple[Action, int]]] = {}
    for source, target in edges:
        table.setdefault(source, []).append((Action("go", (("to", target),), cost=1), target))
    return Drawn({source: tuple(moves) for source, moves in table.items()})


def test_the_jugs_have_sixteen_states_and_the_shortest_way_to_four_litres_is_six_pours() -> None:
    graph = discover(Jugs())
    assert len(graph) == 16
    (finding,) = check(graph, [reachable("four litres", lambda state: state[1] == 4)])
    assert finding.holds is True
    (path,) = finding.paths
    assert len(path) == 6
    assert path.states[0] == (0, 0) and path.states[-1][1] == 4
    assert path.cost == 10


def test_two_locks_in_opposite_order_end_in_a_deadlock_and_nowhere_else_but_done() -> None:
    graph = discover(Locks())
    assert len(graph) == 13
    assert sorted(graph.states[i] for i in graph.ends()) == [(1, 1), (3, 3)]
    done = eventually("done", lambda state: state == (3, 3))
    exclusive = always("never both", lambda state: state != (2, 2))
    findings = check(graph, [done, exclusive])
    assert [finding.holds for finding in findings] == [False, True]
    assert findings[0].paths[0].states == ((0, 0), (1, 0), (1, 1))
    assert runs(graph) == len(list(_walks(graph)))


def test_a_path_tells_at_each_step_which_property_holds() -> None:
    graph = discover(Locks())
    free = always("somebody is free", lambda state: 0 in state)
    (finding,) = check(graph, [free])
    assert [held["somebody is free"] for held in finding.paths[0].holding([free])] == [True, True, False]


def test_several_counterexamples_end_in_different_states_and_none_begins_with_another() -> None:
    graph = discover(Locks())
    (finding,) = check(graph, [always("somebody is free", lambda state: 0 in state)], most=5)
    ends = [path.states[-1] for path in finding.paths]
    assert len(ends) == len(set(ends)) > 1
    assert [len(path) for path in finding.paths] == sorted(len(path) for path in finding.paths)
    for path in finding.paths:
        assert all(0 in state for state in path.states[:-1])


def lamp(*, fair: bool, broken: bool) -> Drawn:
    """A lamp that flickers between off (0) and dim (1) until a push makes it bright (2), or breaks it (3)."""
    push = Action("push", by="hand", fair=fair)
    table = {0: ((Action("flicker"), 1),), 1: ((Action("flicker"), 0), (push, 2))}
    if broken:
        table |= {1: ((Action("flicker"), 0), (push, 2), (Action("break"), 3)), 3: ((Action("buzz", cost=1), 3),)}
    return Drawn(table)


def test_a_loop_that_needs_luck_to_leave_is_told_from_one_that_only_an_unfair_run_stays_in() -> None:
    assert [loop.kind for loop in loops(discover(lamp(fair=False, broken=False)))] == ["escapable"]
    assert [loop.kind for loop in loops(discover(lamp(fair=True, broken=False)))] == ["unfair"]
    bright = eventually("bright", lambda state: state == 2)
    assert check(discover(lamp(fair=True, broken=False)), [bright])[0].holds is True
    assert check(discover(lamp(fair=False, broken=False)), [bright])[0].holds is False


def test_a_loop_without_an_exit_comes_first_and_is_shown_as_a_cycle() -> None:
    graph = discover(lamp(fair=True, broken=True))
    found = loops(graph)
    assert [loop.kind for loop in found] == ["loop", "unfair"]
    path = found[0].path
    assert path.states == (0, 1, 3)
    assert path.loop == 2
    assert [str(action) for action in path.actions] == ["start()", "flicker()", "break()", "buzz()"]


def test_a_loop_may_be_looked_for_among_the_actions_of_some() -> None:
    graph = discover(lamp(fair=False, broken=False))
    assert [loop.kind for loop in loops(graph, keep=lambda action: action.by != "hand")] == ["loop"]
    assert loops(graph, keep=lambda action: action.by == "hand") == ()


def test_a_limit_gives_a_partial_result_that_says_so() -> None:
    graph = discover(Jugs(), limit=7)
    assert not graph.complete and graph.stopped == "limit"
    assert 7 <= len(graph) < 16
    never, four = check(graph, [always("never", lambda state: state != (9, 9)), reachable("9", lambda s: s == (9, 9))])
    assert never.holds is None and four.holds is None
    assert check(graph, [always("empty", lambda state: state == (0, 0))])[0].holds is False


def test_a_limit_that_is_not_met_changes_nothing() -> None:
    assert discover(Jugs(), limit=17).complete


class Impatient(Jugs):
    """Its user presses Ctrl-C at the fourth state."""

    def __init__(self) -> None:
        self.asked = 0

    def moves(self, state: tuple[int, int]) -> Iterator[tuple[Action, tuple[int, int]]]:
        self.asked += 1
        for i, move in enumerate(super().moves(state)):
            if self.asked == 4 and i == 3:
                raise KeyboardInterrupt
            yield move


def test_ctrl_c_keeps_what_is_done() -> None:
    graph = discover(Impatient())
    assert graph.stopped == "interrupted"
    assert graph.expanded == 3
    whole = discover(Jugs())
    assert graph.states == whole.states[: len(graph)]
    assert set(graph.index) == set(graph.states)
    assert graph.path(len(graph) - 1).states == whole.path(len(graph) - 1).states


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    discover(Jugs(), progress=lambda found, done: told.append((found, done)))
    assert told[-1] == (16, 16)


def test_a_coin_tossed_until_it_shows_heads_takes_two_tosses_on_average() -> None:
    toss = (Action("tails", cost=1), 0), (Action("heads", cost=1), 1)
    graph = discover(Drawn({0: toss}))
    result = chances(graph)
    assert result.ends == {1: Fraction(1)} and result.cost == 2 and result.endless == 0
    assert least_and_most(graph) == (1, None)
    assert runs(graph) is None and distribution(graph) is None


def test_chances_stop_where_they_are_told_to() -> None:
    table = {0: ((Action("left", weight=2), 1), (Action("right"), 2)), 1: ((Action("on", cost=3), 0),)}
    result = chances(discover(Drawn(table)), stop=lambda state: state == 1)
    assert result.ends == {1: Fraction(2, 3), 2: Fraction(1, 3)}


def test_a_run_that_can_be_caught_for_ever_has_no_average_cost() -> None:
    table = {0: ((Action("in", cost=1), 1), (Action("out", cost=1), 2)), 1: ((Action("round", cost=1), 1),)}
    result = chances(discover(Drawn(table)))
    assert result.endless == Fraction(1, 2) and result.cost is None and result.ends == {2: Fraction(1, 2)}


def test_a_gauge_is_carried_along_a_run() -> None:
    graph = discover(drawn((0, 5), (0, 1), (5, 2), (1, 2)))
    assert distribution(graph, gauge=lambda state: state) == {(2, 2): 1, (2, 5): 1}
    assert distribution(graph, chance=True) == {(2, 0): Fraction(1)}


def _walks(graph: Graph[object]) -> Iterator[tuple[int, int]]:
    """(cost, ways) of every run, one by one."""
    todo = [(i, 0, action.ways) for action, i in graph.initial]
    while todo:
        i, cost, ways = todo.pop()
        moves = list(graph.edges(i))
        if not moves:
            yield cost, ways
        todo += [(target, cost + action.cost, ways * action.ways) for action, target in moves]


edges = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(0, 2), st.integers(1, 3), st.integers(1, 4)),
    max_size=14,
)


def build(picked: list[tuple[int, int, int, int, int]], *, forward: bool) -> Graph[int]:
    table: dict[int, list[tuple[Action, int]]] = {}
    for number, (a, b, cost, ways, weight) in enumerate(picked):
        if forward and a == b:
            continue
        source, target = (min(a, b), max(a, b)) if forward else (a, b)
        action = Action("go", (("edge", number),), cost=cost, ways=ways, weight=weight)
        table.setdefault(source, []).append((action, target))
    return discover(Drawn({source: tuple(moves) for source, moves in table.items()}))


@given(edges)
def test_counts_and_costs_agree_with_walking_every_run(picked: list[tuple[int, int, int, int, int]]) -> None:
    graph = build(picked, forward=True)
    walked = list(_walks(graph))
    assert runs(graph) == sum(ways for _, ways in walked)
    assert least_and_most(graph) == (min(cost for cost, _ in walked), max(cost for cost, _ in walked))
    counted = distribution(graph)
    assert counted is not None
    for (cost, _), ways in counted.items():
        assert ways == sum(w for c, w in walked if c == cost)
    shares = distribution(graph, chance=True)
    solved = chances(graph)
    assert shares is not None
    assert sum(shares.values()) == 1 == sum(solved.ends.values())
    assert solved.cost == sum(cost * share for (cost, _), share in shares.items())


@given(edges)
def test_loops_agree_with_reachability(picked: list[tuple[int, int, int, int, int]]) -> None:
    graph = build(picked, forward=False)
    n = len(graph)
    reach = [[False] * n for _ in range(n)]
    for i in range(n):
        for _, target in graph.edges(i):
            reach[i][target] = True
    for k, i, j in product(range(n), repeat=3):
        reach[i][j] = reach[i][j] or (reach[i][k] and reach[k][j])
    classes = {tuple(j for j in range(n) if reach[i][j] and reach[j][i]) for i in range(n) if reach[i][i]}
    found = loops(graph)
    assert {loop.states for loop in found} == classes
    for loop in found:
        inside = set(loop.states)
        leaves = any(target not in inside for i in inside for _, target in graph.edges(i))
        assert loop.kind == ("escapable" if leaves else "loop")
        assert loop.path.loop is not None
        assert all(graph.index[state] in inside for state in loop.path.states[loop.path.loop :])


@given(edges)
def test_chances_agree_with_many_steps_of_the_chain(picked: list[tuple[int, int, int, int, int]]) -> None:
    graph = build(picked, forward=False)
    solved = chances(graph)
    assert sum(solved.ends.values()) + solved.endless == 1
    mass = {0: 1.0}
    for _ in range(4000):
        after: dict[int, float] = {}
        for i, here in mass.items():
            moves = list(graph.edges(i))
            total = sum(action.weight for action, _ in moves)
            if not moves:
                after[i] = after.get(i, 0.0) + here
            for action, target in moves:
                after[target] = after.get(target, 0.0) + here * float(action.weight / total)
        mass = after
    for i, share in solved.ends.items():
        assert mass[i] == pytest.approx(float(share), abs=1e-6)


@given(edges)
def test_shortest_paths_are_shortest(picked: list[tuple[int, int, int, int, int]]) -> None:
    graph = build(picked, forward=False)
    depth = {0: 0}
    queue = [0]
    for i in queue:
        for _, target in graph.edges(i):
            if target not in depth:
                depth[target] = depth[i] + 1
                queue.append(target)
    assert {i: len(graph.path(i)) for i in range(len(graph))} == depth


def test_a_graph_is_exported_to_json_and_dot() -> None:
    graph = discover(Locks())
    told = json.loads(json.dumps(graph_json(graph)))
    assert told["schema"] == 1 and told["complete"] is True
    assert len(told["states"]) == 13 and told["edges"][0]["name"] == "take first"
    dot = graph_dot(graph)
    assert dot.startswith('digraph "states" {') and dot.count(" -> ") == len(told["edges"])


def test_a_path_is_exported_to_itf_dot_mermaid_and_text_with_its_cycle() -> None:
    graph = discover(lamp(fair=True, broken=True))
    path = loops(graph)[0].path
    intact = always("intact", lambda state: state != 3)
    itf = json.loads(json.dumps(path_itf(graph.model, path, properties=[intact])))
    assert itf["#meta"]["format"] == "ITF" and itf["loop"] == 2
    assert itf["vars"] == ["at", "action", "parameters", "holds"]
    assert [state["at"] for state in itf["states"]] == [0, 1, 3]
    assert itf["states"][2]["holds"] == {"#map": [["intact", False]]}
    assert '2 -> 2 [label="buzz()"]' in path_dot(graph.model, path)
    assert 's2 -->|"buzz()"| s2' in path_mermaid(graph.model, path)
    text = path_text(graph.model, path, properties=[intact])
    assert "at: 3   ✗ intact   ⟲ from here" in text and "buzz() leads back to 2" in text
