"""Write a lineage graph in the formats of other tools: Mermaid, DOT, GraphML, Cypher, Gremlin."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

from goldsmith.lineage.graph import LineageGraph, LineageStep


def part_of(graph: LineageGraph, datasets: Collection[str]) -> LineageGraph:
    """The graph of only these datasets and the steps between them."""
    kept = set(datasets)
    steps = (
        step
        for step in graph.steps()
        if step.output in kept and any(read in kept for read in step.inputs)
    )
    shown = (
        LineageStep(
            inputs=tuple(read for read in step.inputs if read in kept),
            output=step.output,
            name=step.name,
            origins=step.origins,
            cost=step.cost,
            latency_sec=step.latency_sec,
            runs=step.runs,
            stage_id=step.stage_id,
        )
        for step in steps
    )
    return LineageGraph.of(shown, sorted(kept), graph.revision)


def as_json(graph: LineageGraph) -> str:
    """Datasets and steps as one JSON object."""
    return json.dumps(as_plain(graph), ensure_ascii=False, indent=2) + "\n"


def as_plain(graph: LineageGraph) -> dict[str, object]:
    return {
        "revision": graph.revision,
        "datasets": list(graph.names),
        "steps": [plain_step(step) for step in graph.steps()],
    }


def plain_step(step: LineageStep) -> dict[str, object]:
    return {
        "inputs": list(step.inputs),
        "output": step.output,
        "name": step.name,
        "stage_id": step.stage_id,
        "origins": sorted(step.origins),
        "cost": step.cost,
        "latency_sec": step.latency_sec,
        "runs": step.runs,
    }


def _edges(graph: LineageGraph) -> Iterator[tuple[str, str, LineageStep]]:
    for step in graph.steps():
        for read in step.inputs:
            yield read, step.output, step


def as_mermaid(graph: LineageGraph) -> str:
    """A Mermaid flowchart; edges that nothing runs are dotted."""
    lines = ["flowchart LR"]
    lines += [f"  n{number}[{_mermaid(name)}]" for number, name in enumerate(graph.names)]
    for source, target, step in _edges(graph):
        arrow = "-->" if step.runs else "-.->"
        label = f"|{_mermaid(step.name)}|" if step.name else ""
        lines.append(f"  n{graph.numbers[source]} {arrow}{label} n{graph.numbers[target]}")
    return "\n".join(lines) + "\n"


def _mermaid(text: str) -> str:
    # Mermaid reads entities by number: no character of a name can end the label.
    safe = "".join(c if c.isalnum() or c in " _-." else f"#{ord(c)};" for c in text)
    return f'"{safe}"'


def as_dot(graph: LineageGraph) -> str:
    """A Graphviz digraph."""
    lines = ["digraph lineage {", "  rankdir=LR;", "  node [shape=box];"]
    lines += [f"  {_dot(name)};" for name in graph.names]
    for source, target, step in _edges(graph):
        style = "" if step.runs else ", style=dotted"
        lines.append(f"  {_dot(source)} -> {_dot(target)} [label={_dot(step.name or '')}{style}];")
    return "\n".join([*lines, "}"]) + "\n"


def _dot(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def as_graphml(graph: LineageGraph) -> str:
    """GraphML, as networkx, Gephi and yEd read it."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        '  <key id="name" for="edge" attr.name="name" attr.type="string"/>',
        '  <key id="cost" for="edge" attr.name="cost" attr.type="double"/>',
        '  <graph edgedefault="directed">',
    ]
    lines += [f"    <node id={quoteattr(_xml(name))}/>" for name in graph.names]
    for source, target, step in _edges(graph):
        ends = f"source={quoteattr(_xml(source))} target={quoteattr(_xml(target))}"
        name = escape(_xml(step.name or ""))
        data = f'<data key="name">{name}</data><data key="cost">{step.cost:g}</data>'
        lines.append(f"    <edge {ends}>{data}</edge>")
    return "\n".join([*lines, "  </graph>", "</graphml>"]) + "\n"


def _xml(text: str) -> str:
    """A text without the control characters that XML cannot hold."""
    return "".join(c if c >= " " or c in "\t\n\r" else "\ufffd" for c in text)


def as_cypher(graph: LineageGraph) -> str:
    """Cypher for Neo4j; running it again changes nothing."""
    lines = [f"MERGE (:Dataset {{dataset_id: {_quoted(name)}}});" for name in graph.names]
    lines += [
        f"MATCH (a:Dataset {{dataset_id: {_quoted(source)}}}), "
        f"(b:Dataset {{dataset_id: {_quoted(target)}}}) "
        f"MERGE (a)-[r:FEEDS {{transform_name: {_quoted(step.name or '')}}}]->(b) "
        f"SET r.cost = {float(step.cost)!r};"
        for source, target, step in _edges(graph)
    ]
    return "\n".join(lines) + "\n"


def as_gremlin(graph: LineageGraph) -> str:
    """Gremlin traversals, one a line."""
    lines = [
        f"g.addV('Dataset').property('dataset_id', {_quoted(n)}).iterate()" for n in graph.names
    ]
    lines += [
        f"g.V().has('Dataset', 'dataset_id', {_quoted(source)}).as('a')"
        f".V().has('Dataset', 'dataset_id', {_quoted(target)})"
        f".addE('feeds').from('a').property('transform_name', {_quoted(step.name or '')})"
        f".property('cost', {float(step.cost)!r}d).iterate()"
        for source, target, step in _edges(graph)
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A string literal: a backslash escapes quotes and line ends, in Cypher and in Groovy."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    escaped = escaped.replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def as_tree(graph: LineageGraph, dataset: str, *, up: bool, depth: int | None = None) -> str:
    """A text tree; a dataset that was shown before is not opened again."""
    neighbours = graph.fed_by if up else graph.feeds
    lines: list[str] = []
    shown: set[int] = set()
    start = graph.numbers[dataset]
    waiting = [(start, "", "", 0)]
    while waiting:
        number, first, rest, distance = waiting.pop()
        again = number in shown and bool(neighbours[number])
        lines.append(f"{first}{graph.names[number]}{' …' if again else ''}")
        if again or (depth is not None and distance >= depth):
            continue
        shown.add(number)
        below = sorted(set(neighbours[number]), key=graph.names.__getitem__)
        for index in range(len(below) - 1, -1, -1):
            last = index == len(below) - 1
            branch = f"{rest}{'└── ' if last else '├── '}", f"{rest}{'    ' if last else '│   '}"
            waiting.append((below[index], *branch, distance + 1))
    return "\n".join(lines) + "\n"


#: The formats of `goldsmith lineage export`.
FORMATS: Mapping[str, Callable[[LineageGraph], str]] = {
    "json": as_json,
    "mermaid": as_mermaid,
    "dot": as_dot,
    "graphml": as_graphml,
    "cypher": as_cypher,
    "gremlin": as_gremlin,
}
