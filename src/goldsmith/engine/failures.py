"""Errors of a stage turned into one readable sentence; the stack trace goes to the log."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from goldsmith.engine.readers.errors import as_reading_error
from goldsmith.errors import GoldsmithError
from goldsmith.planning.files import FileSeen
from goldsmith.planning.neighbourhood import Neighbourhood

_JAVA_NOISE = re.compile(r"\s*(JVM stacktrace:|\n\s+at .*|Py4JJavaError.*?:)", re.DOTALL)
_SQL_PLACE = re.compile(r"\(line (\d+), pos \d+\)")
_FIRST_LINES = 3


@dataclass(eq=False, kw_only=True)
class StageError(GoldsmithError):
    """A stage failed in Spark."""

    exit_code = 1

    stage: str
    target: str
    condition: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        place = f", line {self.line} of its SQL" if self.line is not None else ""
        return f"Stage {self.stage} ({self.target}{place}) failed: {self.message}"

    @property
    def code(self) -> str:
        return self.condition

    @property
    def hint(self) -> str:
        return (
            "Nothing was published. `goldsmith runs show RUN` has the run, the log has the trace."
        )


@dataclass(eq=False, kw_only=True)
class StageTimeout(GoldsmithError):
    """A stage took longer than its timeout_sec allows."""

    exit_code = 1

    stage: str
    seconds: int

    def __str__(self) -> str:
        return f"Stage {self.stage} did not finish within {self.seconds} s and was ended."

    @property
    def hint(self) -> str:
        return "Raise timeout_sec, or give the stage less to do at once. Nothing was published."


#: Gives an exception its error code; healing has the one that is used.
CodeOf = Callable[[BaseException], str]


def own_code(error: BaseException) -> str:
    """The code of an error of ours, the class of any other."""
    return error.code if isinstance(error, GoldsmithError) else type(error).__name__


def readable(
    error: Exception,
    near: Neighbourhood,
    files: Sequence[FileSeen] = (),
    code_of: CodeOf = own_code,
) -> GoldsmithError:
    """An error as people can read it, with the stage, the dataset and the line of SQL."""
    if isinstance(error, GoldsmithError):
        return error
    read = as_reading_error(error, files)
    if read is not None:
        read.__cause__ = error  # it may say more exactly why: an expired token, a full disk
        return read
    text = _JAVA_NOISE.split(str(error))[0].strip()
    line = _SQL_PLACE.search(text)
    lines = [part.strip() for part in text.splitlines() if part.strip()]
    return StageError(
        stage=near.stage_id,
        target=str(near.stage.target_id),
        condition=code_of(error),
        message=" ".join(lines[:_FIRST_LINES]) or type(error).__name__,
        line=int(line[1]) if line else None,
    )
