"""A process of `test_concurrent_processes.py`: `concurrent_process.py KIND URL NAME TIMES`.

Each says `ready`, waits for a line, does its work, and prints what it did as one JSON value. Each
imports only what it needs: ten processes share two cores.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from plain_sql import PlainSql

BUNDLE = """
pipelines:
  - {{pipeline_id: {name}_{turn}, owner: {name}}}
  - {{pipeline_id: contested, owner: {name}_{turn}}}
stages:
  - pipeline_id: {name}_{turn}
    stage_order: 1
    source_id: raw
    target_id: {name}_{turn}
    transform_sql: SELECT id, '{name}_{turn}' AS who FROM raw
targets:
  - {{target_id: {name}_{turn}, location: "s3://shop/{name}_{turn}/", type: s3}}
"""


def apply(url: str, name: str, times: int) -> list[dict[str, Any]]:
    """Apply files, one row of which everybody fights over; the revisions and how many rows."""
    from goldsmith.catalog import bundle
    from goldsmith.catalog.catalog import Catalog
    from goldsmith.planning import apply_files
    from goldsmith.planning.catalog_indexer import CatalogIndexer

    catalog = Catalog.open(url)
    catalog_indexer = CatalogIndexer(catalog)
    done = []
    for turn in range(times):
        files = bundle.load([("a.yaml", BUNDLE.format(name=name, turn=turn))])
        proposal = apply_files.propose(catalog_indexer, files)
        reason = f"{name} {turn}"
        revision, found = apply_files.apply(
            catalog_indexer, files, proposal, actor=name, reason=reason, as_shown=False
        )
        done.append({"reason": reason, "revision": revision, "rows": len(found.rows)})
    catalog.close()
    return done


def edit(url: str, name: str, times: int) -> list[str]:
    """Change rows by plain SQL: a counter everybody raises, and a row of one's own."""
    plain = PlainSql(url)
    plain.run(f"INSERT INTO targets (target_id) VALUES ('{name}')")
    marks = []
    for turn in range(times):
        plain.run(
            "UPDATE pipelines SET sla_minutes = sla_minutes + 1 WHERE pipeline_id = 'counter'"
        )
        marks.append(f"{name} {turn}")
        plain.run(f"UPDATE targets SET location = '{marks[-1]}' WHERE target_id = '{name}'")
        # Both in one transaction, in an order of its own.
        plain.run("BEGIN IMMEDIATE" if plain.is_sqlite else "BEGIN")
        plain.run(f"INSERT INTO sources (source_id, s3_path) VALUES ('{name}_{turn}', 's3://x/')")
        plain.run(f"DELETE FROM sources WHERE source_id = '{name}_{turn - 1}'")
        plain.run("COMMIT")
    plain.close()
    return marks


def undo(url: str, name: str, times: int) -> list[int]:
    """Change a row and take that back; the revisions of both."""
    from goldsmith.catalog import changes
    from goldsmith.catalog.catalog import Catalog
    from goldsmith.catalog.retries import RetryPolicy

    catalog = Catalog.open(url)
    revisions = []
    for turn in range(times):
        with catalog.change(actor=name, reason=f"{name} {turn}") as change:
            change.put([RetryPolicy(retry_id=f"{name}_{turn}")])
            revisions.append(change.revision)
        changes.undo(catalog, actor=name, revision=revisions[-1])
    catalog.close()
    return revisions


def plan(url: str, name: str, times: int) -> list[int]:
    """Plan again and again; the revisions the plans were made from."""
    from goldsmith.catalog.catalog import Catalog
    from goldsmith.planning import planner
    from goldsmith.planning.catalog_indexer import CatalogIndexer

    catalog = Catalog.open(url)
    catalog_indexer = CatalogIndexer(catalog)
    revisions = []
    for _ in range(times):
        catalog_index = catalog_indexer.catalog_index()
        try:
            made = planner.plan(catalog_index, (), now=datetime.now(UTC), environment=name)
        except planner.CatalogHasErrors:
            pass  # somebody is between two statements of his; that is an answer too
        else:
            assert len(made.stages) == len({stage.stage_id for stage in made.stages})
        revisions.append(catalog_index.rows.revision)
    catalog.close()
    return revisions


def poll(url: str, _name: str, times: int) -> list[int]:
    """Read the revision again and again, as anybody may."""
    plain = PlainSql(url)
    seen = [plain.revision() for _ in range(times)]
    plain.close()
    return seen


if __name__ == "__main__":
    kind, url, name, times = sys.argv[1:]
    # Imported before anybody begins, so that they really are at it together.
    needs = {
        "apply": ["planning.apply_files"],
        "plan": ["planning.planner"],
        "undo": ["catalog.changes"],
    }
    for module in needs.get(kind, []):
        import_module(f"goldsmith.{module}")
    work = {"apply": apply, "edit": edit, "undo": undo, "plan": plan, "poll": poll}[kind]
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(work(url, name, int(times))))
