"""What a check may use besides the rows: the time, other datasets, earlier runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from goldsmith.checks.errors import NoSuchDataset

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


def _none_known(name: str) -> DataFrame:
    raise NoSuchDataset(dataset=name)


def _no_history() -> Sequence[int]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Context:
    """The context in which checks are evaluated."""

    now: datetime
    #: Another dataset's rows by its id; raises NoSuchDataset.
    dataset: Callable[[str], DataFrame] = _none_known
    #: The dataset's previous schema; None: it is new.
    schema_before: StructType | None = None
    #: Rows written by earlier published runs, newest first; called only if a check needs them.
    row_counts: Callable[[], Sequence[int]] = _no_history
    #: When the newest file of the input was written.
    newest_file: datetime | None = None
    #: Values of {{ name }} in settings, besides run_date and now.
    parameters: Mapping[str, Any] = field(default_factory=dict)
