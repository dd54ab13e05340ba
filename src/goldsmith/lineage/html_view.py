"""A lineage page in one file: one hop each side, opened further by clicks, no network."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from goldsmith.lineage.columns import ColumnStep
from goldsmith.lineage.export import as_plain
from goldsmith.lineage.graph import LineageGraph


def as_html(
    graph: LineageGraph,
    dataset: str | None = None,
    *,
    facts: Mapping[str, Mapping[str, object]] | None = None,
    columns: Iterable[ColumnStep] = (),
) -> str:
    """The page; `facts` has the health and the last run of datasets, where they are known."""
    data = {
        **as_plain(graph),
        "start": dataset or (graph.names[0] if graph.names else ""),
        "facts": {name: dict(values) for name, values in (facts or {}).items()},
        "columns": [edge.as_plain() for edge in columns],
    }
    # No name can end the script element: `<` never stands in the data.
    text = json.dumps(data, ensure_ascii=False, default=str).replace("<", "\\u003c")
    return _PAGE.replace("@DATA@", text)


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Lineage</title>
<style>
body { font: 14px system-ui, sans-serif; margin: 1.5rem; color: #1f2933; }
#view { display: flex; gap: 2.5rem; align-items: center; }
.side { display: flex; flex-direction: column; gap: .5rem; }
button.dataset { text-align: left; padding: .5rem .75rem; border: 1px solid #9aa5b1;
  border-radius: 6px; background: #fff; font: inherit; cursor: pointer; }
button.dataset.start { border-width: 2px; border-color: #b7791f; }
button.dataset.down { border-color: #c53030; }
small { display: block; color: #616e7c; }
table { border-collapse: collapse; margin-top: 1rem; }
td, th { padding: .2rem .8rem .2rem 0; text-align: left; }
</style></head><body>
<h1 id="title"></h1><p>A click on a dataset shows what feeds it and what it feeds.</p>
<div id="view"></div>
<p><button id="more">Show columns</button></p><div id="columns"></div>
<script type="application/json" id="data">@DATA@</script>
<script>
const data = JSON.parse(document.getElementById("data").textContent);
let current = data.start, withColumns = false;
function box(name, step) {
  const button = document.createElement("button"), facts = data.facts[name] || {};
  button.className = "dataset" + (name === current ? " start" : "")
    + (facts.status === "down" ? " down" : "");
  button.textContent = name;
  const lines = [];
  if (step) lines.push((step.name || "edge") + " \\u00b7 " + step.origins.join(", "));
  for (const key of Object.keys(facts)) lines.push(key + ": " + facts[key]);
  for (const line of lines) {
    const small = document.createElement("small");
    small.textContent = line;
    button.append(small);
  }
  button.onclick = () => { current = name; draw(); };
  return button;
}
function side(boxes) {
  const column = document.createElement("div");
  column.className = "side";
  column.append(...boxes);
  return column;
}
function draw() {
  document.getElementById("title").textContent = current;
  const up = [], down = [];
  for (const step of data.steps) {
    if (step.output === current) for (const name of step.inputs) up.push(box(name, step));
    if (step.inputs.includes(current)) down.push(box(step.output, step));
  }
  document.getElementById("view").replaceChildren(side(up), side([box(current)]), side(down));
  const list = document.getElementById("columns");
  list.replaceChildren();
  if (!withColumns) return;
  const table = list.appendChild(document.createElement("table"));
  for (const edge of data.columns) {
    if (edge.from_dataset_id !== current && edge.to_dataset_id !== current) continue;
    const row = table.insertRow();
    for (const text of [edge.from_dataset_id + "." + edge.from_column, "\\u2192",
        edge.to_dataset_id + "." + edge.to_column, edge.kind || "", edge.expression || ""])
      row.insertCell().textContent = text;
  }
  if (!table.rows.length) list.textContent = "No column lineage is known.";
}
document.getElementById("more").onclick = () => { withColumns = !withColumns; draw(); };
draw();
</script></body></html>
"""
