"""Declared lineage edges between datasets, and the paths by which a dataset can be obtained."""

from __future__ import annotations

from datetime import datetime

from goldsmith.catalog.columns import ColumnKind, key, moment, number, text, whole
from goldsmith.catalog.rows import Row, table


@table(
    "dataset_lineage",
    purpose="Which dataset feeds which, by which transform.",
    read_by="planner, lineage, path search, blast radius",
    takes_effect="at the next plan",
)
class Edge(Row):
    """One dataset feeding another."""

    from_dataset_id: str = key(doc="The dataset that is read.")
    to_dataset_id: str = key(doc="The dataset that is written.")
    transform_name: str | None = text(default=None, doc="What the step is called.")
    transformation_sql: str | None = text(
        default=None, doc="Its SQL; a stage over this edge without SQL of its own runs it."
    )
    cost: float | None = number(default=None, doc="What the step costs, for the path search.")
    latency_sec: float | None = number(default=None, doc="How long the step takes.")


@table(
    "column_lineage",
    purpose="Which column is made from which columns, and how.",
    read_by="lineage",
    takes_effect="at once",
)
class ColumnLineage(Row):
    """One column feeding another."""

    from_dataset_id: str = key(doc="The dataset that is read.")
    from_column: str = key(doc="Its column; `*` for all columns of a dataset of unknown shape.")
    to_dataset_id: str = key(doc="The dataset that is written.")
    to_column: str = key(doc="Its column.")
    kind: str | None = text(default=None, doc="identity, cast, expression, aggregate or window.")
    expression: str | None = text(default=None, doc="The SQL expression that makes the column.")


@table(
    "dataset_recovery_paths",
    purpose="Declared paths to a dataset, in order of preference.",
    read_by="path search",
    takes_effect="at the next plan",
)
class RecoveryPath(Row):
    """One way to obtain a dataset."""

    dataset_id: str = key(doc="The dataset wanted.")
    path_order: int = key(kind=ColumnKind.WHOLE, doc="1, 2, 3 … in order of preference.")
    path_sequence: str | None = text(
        default=None, doc="Comma list of datasets from the origin to the one wanted."
    )
    cost: float | None = number(default=None, doc="What the path costs.")
    computed_at: datetime | None = moment(
        default=None, doc="When it was computed; unset: written by hand."
    )
    revision: int | None = whole(default=None, doc="The catalog revision it was computed from.")
