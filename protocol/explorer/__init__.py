"""Walks every state that a model can reach, and says what holds, what it costs, and how it goes wrong.

It knows no Kafka: models of groups that are upgraded are in `upgrade`.
"""

from __future__ import annotations

from .chances import Chances, chances
from .costs import distribution, least_and_most, runs
from .discovery import Stopped, discover
from .export import graph_dot, graph_json, path_dot, path_itf, path_mermaid, path_text
from .graph import Graph, Path
from .loops import Loop, loops
from .model import Action, Model, Property, always, eventually, reachable
from .properties import Finding, check

__all__ = [
    "Action",
    "Chances",
    "Finding",
    "Graph",
    "Loop",
    "Model",
    "Path",
    "Property",
    "Stopped",
    "always",
    "chances",
    "check",
    "discover",
    "distribution",
    "eventually",
    "graph_dot",
    "graph_json",
    "least_and_most",
    "loops",
    "path_dot",
    "path_itf",
    "path_mermaid",
    "path_text",
    "reachable",
    "runs",
]
