"""The journal's table of ledgers: which stage a ledger belongs to, and which table it describes."""

from __future__ import annotations

from goldsmith.catalog.columns import key, text, whole
from goldsmith.catalog.rows import Row, table


@table(
    "stage_ledgers",
    purpose="One row a ledger: the stage whose inputs it lists, and the table they were loaded to.",
    read_by="planner, engine",
)
class StageLedger(Row):
    """The ledger of what a stage has loaded into a target; renumbering the stage keeps it."""

    ledger_id: str = key(doc="The ledger: `consumer` of input_files and input_snapshots.")
    pipeline_id: str | None = text(default=None, doc="The pipeline of the stage it belongs to.")
    stage_order: int | None = whole(default=None, doc="The stage it belongs to.")
    stage_name: str | None = text(default=None, doc="The stage's name when it last published.")
    source_id: str | None = text(default=None, doc="The stage's source when it last published.")
    target_id: str | None = text(default=None, doc="The target it was loaded to.")
    table_name: str | None = text(
        default=None, doc="The table: lake.layer.name, or type:schema.table; unset: not known."
    )
    table_uuid: str | None = text(default=None, doc="The table's own id.")
    location: str | None = text(default=None, doc="The target's location at that time, normalised.")
    definition: str | None = text(default=None, doc="Hash of the definition last published.")
    published_by: str | None = text(
        default=None, doc="The newest stage run in the table; unset: nothing is in it."
    )


OF_LEDGERS: tuple[type[Row], ...] = (StageLedger,)
