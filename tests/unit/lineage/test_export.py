"""Exports: other tools read back what the graph holds, whatever characters a name has."""

from __future__ import annotations

import io
import json
import re

import networkx as nx

from goldsmith.lineage.columns import ColumnStep
from goldsmith.lineage.export import FORMATS, as_tree, part_of
from goldsmith.lineage.graph import LineageGraph, LineageStep
from goldsmith.lineage.html_view import as_html

ODD = """we"ird' <b> & \\ name"""
GRAPH = LineageGraph.of(
    [
        LineageStep(inputs=("raw", ODD), output="silver", name="join 'em"),
        LineageStep(inputs=("silver",), output="gold", runs=False),
    ]
)


def test_graphml_is_read_back_by_networkx() -> None:
    read = nx.read_graphml(io.BytesIO(FORMATS["graphml"](GRAPH).encode()))
    assert set(read.edges) == {("raw", "silver"), (ODD, "silver"), ("silver", "gold")}
    assert read.edges["raw", "silver"]["name"] == "join 'em"


def test_json_holds_every_dataset_and_step() -> None:
    read = json.loads(FORMATS["json"](GRAPH))
    assert read["datasets"] == ["raw", ODD, "silver", "gold"]
    assert [step["runs"] for step in read["steps"]] == [True, False]


def test_no_name_leaves_its_quotes() -> None:
    assert "'we\"ird\\' <b> & \\\\ name'" in FORMATS["cypher"](GRAPH)
    assert "'we\"ird\\' <b> & \\\\ name'" in FORMATS["gremlin"](GRAPH)
    assert '"we\\"ird\' <b> & \\\\ name"' in FORMATS["dot"](GRAPH)
    assert '["we#34;ird#39; #60;b#62; #38; #92; name"]' in FORMATS["mermaid"](GRAPH)


def test_an_edge_that_nothing_runs_is_dotted() -> None:
    assert "n2 -.-> n3" in FORMATS["mermaid"](GRAPH)
    assert "style=dotted" in FORMATS["dot"](GRAPH)


def test_the_tree_opens_a_dataset_once() -> None:
    graph = LineageGraph.of(
        [LineageStep(inputs=(a,), output=b) for a, b in ("xa", "xb", "ac", "bc", "cd")]
    )
    assert as_tree(graph, "x", up=False) == (
        "x\n├── a\n│   └── c\n│       └── d\n└── b\n    └── c …\n"
    )


def test_a_part_keeps_only_its_datasets() -> None:
    part = part_of(GRAPH, ["raw", "silver"])
    assert [(step.inputs, step.output) for step in part.steps()] == [(("raw",), "silver")]


def test_the_page_holds_its_data_and_needs_no_network() -> None:
    edge = ColumnStep(from_dataset_id="raw", from_column="a", to_dataset_id="silver", to_column="b")
    page = as_html(GRAPH, "silver", facts={"raw": {"status": "down"}}, columns=[edge])
    held = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert held is not None
    data = json.loads(held[1])
    assert data["start"] == "silver"
    assert ODD in data["datasets"]
    assert data["columns"][0]["to_column"] == "b"
    assert "http" not in page
