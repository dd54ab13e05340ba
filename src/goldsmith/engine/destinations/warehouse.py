"""A warehouse table as a destination: Parquet aside, one transaction that publishes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldsmith.catalog.datasets import Target
from goldsmith.engine import faults, staging
from goldsmith.engine.destinations.destination import Aside, Order, Published
from goldsmith.engine.names import name
from goldsmith.engine.parting import Parted, part
from goldsmith.engine.split import ASIDE, GOOD, OUT, SIDE
from goldsmith.engine.transforms.latest_per_key import latest_per_key
from goldsmith.engine.warehouses.warehouse import Load, LoadColumn, Loaded, Warehouse
from goldsmith.engine.writers.scd2 import FROM
from goldsmith.errors import GoldsmithError
from goldsmith.planning.places import Places

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType


@dataclass(eq=False, kw_only=True)
class NotMeasuredThere(GoldsmithError):
    """A check of the whole table as it would be published, of a table in a warehouse."""

    target: str
    type: str

    def __str__(self) -> str:
        return f"'{self.target}' lies in {self.type}, which shows no table before it is published."

    @property
    def hint(self) -> str:
        return "Use `scope: batch`, or `goldsmith checks run DATASET` on what was published."


class WarehouseDestination:
    """A warehouse table that a stage writes."""

    def __init__(self, places: Places, target: Target, warehouse: Warehouse) -> None:
        self.target = target
        self.places = places
        self.warehouse = warehouse
        self.location = target.location or target.target_id
        self.resource = f"{target.type}:{self.location}"
        #: How a load meets others that write the table: see `Load.lock`.
        self.lock: str | None = None

    def schema(self, rows: DataFrame) -> StructType | None:
        """The table's columns; of types the warehouse is the judge."""
        from pyspark.sql.types import StructField, StructType

        there = self.warehouse.columns(self.location)
        if there is None:
            return None
        known = {column.lower() for column in there}
        given = [field for field in rows.schema.fields if field.name.lower() in known]
        return StructType([StructField(f.name, f.dataType, f.nullable) for f in given])

    def write_aside(self, order: Order) -> Aside:
        folder = self._folder(order.stage_run_id)
        parted = part(order, self.places, folder, target=self.target.target_id)
        samples = order.look(parted.rows, parted.measured, parted.beside, parted.repeats)
        staged, good = self._good(order, parted)
        faults.reach("staged")
        faults.reach("written")
        return Aside(
            measured={**parted.measured, "staged": staged, "folder": good},
            beside=parted.beside,
            kept=parted.counts[GOOD],
            aside=parted.counts[ASIDE],
            out=parted.counts[OUT],
            samples=samples,
        )

    def _good(self, order: Order, parted: Parted) -> tuple[int, str]:
        """The good rows' own folder, and how many rows it holds."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        folder = self._folder(order.stage_run_id)
        as_they_lie = f"{folder}/{SIDE}={GOOD}"
        good = parted.of(GOOD)
        kept = _plain(good)
        if order.mode == "merge":
            kept = latest_per_key(kept, keys=order.keys, newest_by=order.watermark)
        elif order.mode == "scd2":
            kept = latest_per_key(kept, keys=(*order.keys, FROM))
        elif parted.counts[GOOD] and not parted.moved and kept is good:
            return parted.counts[GOOD], as_they_lie
        seen = Observation("goldsmith_staged")
        kept = kept.observe(seen, F.count(F.lit(1)).alias("rows"))
        kept.write.mode("overwrite").parquet(staging.for_spark(f"{folder}/good"))
        return int(seen.get["rows"]), f"{folder}/good"

    def publish(self, order: Order, aside: Aside, token: int) -> Published:
        columns = tuple(
            LoadColumn(name=field.name, type=_staged_type(field.dataType))
            for field in order.fitted.rows.schema.fields
            if field.name != "_discard"
        )
        replaced = None
        if order.replaced_rows is not None and order.mode == "append":
            window = order.replaced_rows.window
            replaced = (order.replaced_rows.column, window.start, window.end)
        load = Load(
            stage_run_id=order.stage_run_id,
            location=self.location,
            mode=order.mode,
            columns=columns,
            staged=str(aside.measured["folder"]),
            rows=int(aside.measured["staged"]),
            token=token,
            keys=order.keys,
            watermark=order.watermark,
            from_scratch=order.from_scratch,
            replaced=replaced,
            options=self.target.options,
            lock=self.lock,
        )
        loaded = self.warehouse.load(load, faults.reach)
        faults.reach("published")
        staging.remove(self.places, self._folder(order.stage_run_id))
        faults.reach("staged-removed")
        return _published(loaded)

    def published(self, stage_run_id: str) -> Published | None:
        loaded = self.warehouse.loaded(self.location, stage_run_id)
        return None if loaded is None else _published(loaded)

    def as_published(self, order: Order) -> DataFrame:
        raise NotMeasuredThere(target=self.target.target_id, type=str(self.target.type))

    def clean(self, stage_run_id: str) -> None:
        self.warehouse.clean(self.location, stage_run_id)
        staging.remove(self.places, self._folder(stage_run_id))

    def cancel(self) -> bool:
        return self.warehouse.cancel()

    def _folder(self, stage_run_id: str) -> str:
        settings = self.places.settings.warehouses[str(self.target.type)]
        return staging.folder(self.places, settings, stage_run_id)


def _plain(rows: DataFrame) -> DataFrame:
    """Rows with every VARIANT, and what holds one, as JSON text: nobody else reads Spark's form."""
    from pyspark.sql import functions as F

    texts = {
        field.name: F.to_json(F.col(name(field.name)))
        for field in rows.schema.fields
        if _has_variant(field.dataType)
    }
    return rows.withColumns(texts) if texts else rows


def _staged_type(type_: DataType) -> str:
    """A column's type in the words of a load."""
    return "variant" if _has_variant(type_) else type_.simpleString()


def _has_variant(type_: DataType) -> bool:
    from pyspark.sql.types import ArrayType, MapType, StructType, VariantType

    match type_:
        case VariantType():
            return True
        case ArrayType():
            return _has_variant(type_.elementType)
        case MapType():
            return _has_variant(type_.valueType)
        case StructType():
            return any(_has_variant(field.dataType) for field in type_.fields)
    return False


def _published(loaded: Loaded) -> Published:
    return Published(snapshot=loaded.stage_run_id, rows=loaded.rows)
