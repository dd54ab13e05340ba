"""What a package of somebody else may bring: one plugin of every kind.

Tests announce these objects as entry points; no file of Goldsmith names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from goldsmith.catalog.file_formats import FILE_OPTIONS, FileFormat
from goldsmith.catalog.options import Option
from goldsmith.catalog.transforms import StageTransform, by_column
from goldsmith.catalog.write_modes import Replaces, WriteMode
from goldsmith.checks.check import row_check
from goldsmith.checks.field import Plain
from goldsmith.engine.names import name
from goldsmith.engine.read.source_file import source_file
from goldsmith.engine.shape.latest_per_key import latest_per_key
from goldsmith.engine.warehouses import statements
from goldsmith.engine.warehouses.duckdb.warehouse import EmbeddedWarehouse
from goldsmith.engine.warehouses.warehouse import Load, WarehouseKind
from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.remedy import remedy
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, stage_rule
from goldsmith.planning.stage_context import StageContext

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

    from goldsmith.engine.read.reading import Reading
    from goldsmith.engine.warehouses.warehouse_write import WarehouseWrite
    from goldsmith.engine.write.lake_write import LakeWrite

#: The entry points, by the group that is the package of Goldsmith's own plugins of the kind.
ENTRY_POINTS = {
    "goldsmith.checks.library": ("even",),
    "goldsmith.healing.remedies": ("try_once_more",),
    "goldsmith.planning.integrity.findings": ("stage_without_description",),
    "goldsmith.engine.read.formats": ("piped",),
    "goldsmith.engine.shape.transforms": ("upper",),
    "goldsmith.engine.write.modes": ("apply_changes", "keep_all"),
    "goldsmith.engine.warehouses": ("counting_duckdb",),
}


@row_check(says="{column} is odd")
def even(column: Plain) -> Column:
    """The column's value is even."""
    return column.value % 2 != 0


@remedy
def try_once_more(failure: Failure) -> Decision | None:
    return rerun("it is tried once more", after=0) if failure.uses == 0 else None


@stage_rule(FindingSeverity.ERROR)
def stage_without_description(context: StageContext) -> Iterator[FoundProblem]:
    if not context.stage.options.get("description"):
        yield FoundProblem(
            context.stage, f"Stage {context.stage_id} has no description.", "Say what it is for."
        )


def _infer(reading: Reading) -> StructType:
    raise AssertionError("the test's source declares its schema")


def _read(reading: Reading, schema: StructType) -> DataFrame:
    """Fields between bars."""
    from pyspark.sql import functions as F

    raw = reading.reader().format("text").load(reading.addresses())
    fields = F.split("value", r"\|")
    return raw.select(
        *(fields[i].cast(field.dataType).alias(field.name) for i, field in enumerate(schema)),
        source_file(raw, reading.files, reading.storage),
    )


piped = FileFormat(options=FILE_OPTIONS, endings=("bars",), infer=_infer, read=_read)


def _upper(rows: DataFrame, columns: Any) -> DataFrame:
    from pyspark.sql import functions as F

    return rows.withColumns({column: F.upper(name(column)) for column in columns})


upper = StageTransform(
    position=15,
    type="mapping of a column to true",
    doc="Columns of text in capital letters.",
    example="{city: true}",
    problems=by_column("column: true"),
    apply=_upper,
    changes=tuple,
)

_DELETED = Option(
    name="deleted_where",
    type="a column's name",
    default="none",
    doc="apply_changes: a row in which this column is true deletes the row of its key.",
    example="gone",
)


def _newest(rows: DataFrame, keys: Sequence[str], watermark: str | None) -> DataFrame:
    return latest_per_key(rows, keys=keys, newest_by=watermark)


def _to_lake(write: LakeWrite) -> None:
    deleted = name(write.options[_DELETED.name])
    if write.is_empty:
        write.replace_all(write.rows.where(f"NOT {deleted}"))
        return
    write.rows.createOrReplaceTempView("changes")
    same = " AND ".join(f"t.{name(key)} <=> s.{name(key)}" for key in write.keys)
    write.merge(
        f"MERGE INTO {write.sql_name} t USING changes s ON {same}"
        f" WHEN MATCHED AND s.{deleted} THEN DELETE WHEN MATCHED THEN UPDATE SET *"
        f" WHEN NOT MATCHED AND NOT s.{deleted} THEN INSERT *"
    )


def _to_warehouse(write: WarehouseWrite) -> int:
    landing = write.landing
    deleted = landing.staging.column(landing.names[str(landing.stage_options[_DELETED.name])])
    write.run(statements.delete_matching(landing, write.key_patterns()))
    write.run([f"DELETE FROM {landing.staging.sql} WHERE {deleted}"])
    write.run(statements.append(landing))
    return write.count(landing.staging)


apply_changes = WriteMode(
    replaces=lambda options: Replaces.SAME_KEYS,
    replaced_rows="the rows of the same keys",
    needs_keys=True,
    options=(_DELETED,),
    deduplicate=_newest,
    write_to_lake=_to_lake,
    write_to_warehouse=_to_warehouse,
)


#: A mode with a mistake: it appends where it has to replace all rows.
keep_all = WriteMode(
    replaces=lambda options: Replaces.NOTHING,
    write_to_lake=lambda write: write.append(write.rows),
    write_to_warehouse=_to_warehouse,
)


class CountingWarehouse(EmbeddedWarehouse):
    """DuckDB, with a list of the tables that were loaded."""

    loads: ClassVar[list[str]] = []

    def load(self, load: Load, reach: Any) -> Any:
        self.loads.append(load.location)
        return super().load(load, reach)


counting_duckdb = WarehouseKind(
    is_embedded=True,
    open=lambda storage, settings, wait: CountingWarehouse(storage, settings, wait_seconds=wait),
    probe=lambda settings, probing: "ok",
)
