"""What a check may ask for beside the rows: the time, another dataset, what was there before."""

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
    """Where and when checks are put to rows."""

    now: datetime
    #: Another dataset's rows by its id; raises NoSuchDataset.
    dataset: Callable[[str], DataFrame] = _none_known
    #: The columns the dataset had before; None: it is new.
    schema_before: StructType | None = None
    #: Rows written by earlier published runs, newest first; asked for only if a check needs them.
    row_counts: Callable[[], Sequence[int]] = _no_history
    #: When the newest of the files that were read was written.
    newest_file: datetime | None = None
    #: What {{ name }} in settings stands for, beside run_date and now.
    parameters: Mapping[str, Any] = field(default_factory=dict)
