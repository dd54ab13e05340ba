"""Update the row of each known key and insert new keys; an older row never replaces a newer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from goldsmith.catalog.write_modes import Replaces, WriteMode
from goldsmith.engine.names import literal, name
from goldsmith.engine.shape.latest_per_key import latest_per_key
from goldsmith.engine.shape.watermarks import (
    DECIMAL,
    NUMBER,
    TIME,
    WatermarkNotComparable,
    not_older,
)
from goldsmith.engine.warehouses import statements

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from goldsmith.engine.warehouses.landing import Landing
    from goldsmith.engine.warehouses.warehouse_write import WarehouseWrite
    from goldsmith.engine.write.lake_write import LakeWrite

_VIEW = "goldsmith_merged"


def _deduplicate(rows: DataFrame, keys: Sequence[str], watermark: str | None) -> DataFrame:
    return latest_per_key(rows, keys=keys, newest_by=watermark)


def _write_to_lake(write: LakeWrite) -> None:
    if write.is_empty:
        write.replace_all(write.rows)
        return
    rows = write.rows
    rows.createOrReplaceTempView(_VIEW)
    same = " AND ".join(f"t.{name(key)} <=> s.{name(key)}" for key in write.keys)
    newer = ""
    if write.watermark is not None:
        mark = name(write.watermark)
        # A NULL watermark is older than any other value.
        newer = f" AND (t.{mark} IS NULL OR {not_older(rows, write.watermark)})"
    columns = [name(column) for column in rows.columns]
    updates = ", ".join(f"t.{column} = s.{column}" for column in columns)
    write.merge(
        f"MERGE INTO {write.sql_name} t USING {_VIEW} s ON {same}"
        f" WHEN MATCHED{newer} THEN UPDATE SET {updates}"
        f" WHEN NOT MATCHED THEN INSERT ({', '.join(columns)})"
        f" VALUES ({', '.join(f's.{column}' for column in columns)})"
    )


def _write_to_warehouse(write: WarehouseWrite) -> int:
    patterns = write.key_patterns()
    if not patterns:
        return 0
    if _has_text_watermark(write.landing):
        for pattern in patterns:
            if write.session.run(_not_comparable(write.landing, pattern))[0][0]:
                raise WatermarkNotComparable(column=str(write.landing.watermark))
    write.run(_merge(write.landing, patterns))
    return write.count(write.landing.staging)


def _merge(landing: Landing, patterns: Sequence[statements.KeyPattern]) -> Iterator[str]:
    """Delete staged rows older than the target's, then replace target rows by the others."""
    target, staging = landing.target, landing.staging
    if landing.watermark is not None:
        ours, theirs = staging.column(landing.watermark), target.column(landing.watermark)
        # A NULL watermark is older than any other value.
        less = f"({_less(ours, theirs)})" if _has_text_watermark(landing) else f"{ours} < {theirs}"
        older = f"{theirs} IS NOT NULL AND ({ours} IS NULL OR {less})"
        for pattern in patterns:
            same = statements.same_keys(landing, pattern)
            yield f"DELETE FROM {staging.sql} USING {target.sql} WHERE {same} AND {older}"
    yield from statements.delete_matching(landing, patterns)
    yield from statements.append(landing)


def _has_text_watermark(landing: Landing) -> bool:
    """Whether the watermark is text, which is compared as a number or a time."""
    text = landing.dialect.type_of("", "string")
    return any(c.name == landing.watermark and c.type == text for c in landing.columns)


def _not_comparable(landing: Landing, pattern: statements.KeyPattern) -> str:
    """Counts staged rows whose watermark cannot be compared with the target's."""
    mark = str(landing.watermark)
    ours, theirs = landing.staging.column(mark), landing.target.column(mark)
    return (
        f"SELECT count(*) FROM {landing.staging.sql} JOIN {landing.target.sql}"
        f" ON {statements.same_keys(landing, pattern)} WHERE {ours} <> {theirs}"
        f" AND NOT ({_both(ours, theirs, NUMBER)}) AND NOT ({_both(ours, theirs, TIME)})"
    )


def _less(ours: str, theirs: str) -> str:
    moment = "TIMESTAMP WITH TIME ZONE"
    return (
        f"CASE WHEN {_both(ours, theirs, NUMBER)}"
        f" THEN CAST({ours} AS {DECIMAL}) < CAST({theirs} AS {DECIMAL})"
        f" WHEN {_both(ours, theirs, TIME)}"
        f" THEN CAST({ours} AS {moment}) < CAST({theirs} AS {moment}) ELSE FALSE END"
    )


def _both(ours: str, theirs: str, pattern: str) -> str:
    return f"{ours} ~ {literal(pattern)} AND {theirs} ~ {literal(pattern)}"


merge = WriteMode(
    replaces=lambda options: Replaces.SAME_KEYS,
    replaced_rows="the rows of the same keys",
    needs_keys=True,
    deduplicate=_deduplicate,
    write_to_lake=_write_to_lake,
    write_to_warehouse=_write_to_warehouse,
)
