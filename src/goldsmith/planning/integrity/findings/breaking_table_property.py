"""A target's options.properties set an Iceberg property that would make stages miss rows, or that
Goldsmith writes itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from goldsmith.catalog.datasets import Target
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule

#: Required properties. Without copy-on-write, stages that read new rows miss changed rows.
_NEEDED: Mapping[str, str] = {
    "format-version": "2",
    "write.delete.mode": "copy-on-write",
    "write.update.mode": "copy-on-write",
    "write.merge.mode": "copy-on-write",
    "write.format.default": "parquet",
}


@catalog_rule(FindingSeverity.ERROR, reads=(Target,))
def breaking_table_property(rows: CatalogRows) -> Iterator[FoundProblem]:
    for target in rows.rows(Target):
        properties = target.options.get("properties")
        for name, value in properties.items() if isinstance(properties, dict) else ():
            needed, text = _NEEDED.get(name), str(value).strip().lower()
            if needed is not None and text != needed:
                yield FoundProblem(
                    target,
                    f"options.properties of target '{target.target_id}' set {name} to"
                    f" '{str(value)[:100]}', and lake tables have {needed}.",
                    "Take the property away. Stages read what is new of a table by its"
                    " snapshots, and would miss rows otherwise.",
                )
            elif name.startswith("goldsmith."):
                yield FoundProblem(
                    target,
                    f"options.properties of target '{target.target_id}' set {name}, a property"
                    " that Goldsmith writes itself.",
                    "Give it another name.",
                )
