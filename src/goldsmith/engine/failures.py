"""Turn the error of a stage into one readable sentence; the log has the stack trace."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from goldsmith.engine.error_codes import CodeOf, own_code
from goldsmith.engine.personal_data import masked_message, masked_text, personal
from goldsmith.engine.read.errors import RecordMalformed, as_reading_error
from goldsmith.errors import GoldsmithError
from goldsmith.planning.stage_context import StageContext
from goldsmith.storage.files import ListedFile

_JAVA_NOISE = re.compile(r"\s*(JVM stacktrace:|\n\s+at .*|Py4JJavaError.*?:)", re.DOTALL)
_SQL_PLACE = re.compile(r"\(line (\d+), pos(?:ition)? \d+\)")
#: Spark's analyzer appends a position in generated SQL and the query plan to its message.
_PLAN = re.compile(r"(?:\. )?(?:SQLSTATE: \w+)?;?\s*(line \d+) pos \d+(?:;.*|\s*$)", re.DOTALL)
#: An error of a running query ends with the SQL around it, in which ids are names of views.
_SQL_AROUND = re.compile(r"\s*(?:SQLSTATE: \w+)?\s*== (?:SQL|DataFrame)\b.*", re.DOTALL)
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
        location = f", line {self.line} of its SQL" if self.line is not None else ""
        return f"Stage {self.stage} ({self.target}{location}) failed: {self.message}"

    @property
    def code(self) -> str:
        return self.condition

    @property
    def hint(self) -> str:
        return (
            "Nothing was published. `goldsmith runs show RUN` has the run, "
            "`goldsmith runs logs RUN` the trace."
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


def readable(
    error: Exception,
    context: StageContext,
    files: Sequence[ListedFile] = (),
    code_of: CodeOf = own_code,
) -> GoldsmithError:
    """The error as a sentence with stage, dataset and line of SQL; personal data is masked."""
    found = _readable(error, context, files, code_of)
    hide = personal(context.target and context.target.target)
    for attribute in ("message", "cause"):
        if hide and isinstance(text := getattr(found, attribute, None), str):
            setattr(found, attribute, masked_message(text, hide))
    if hide and isinstance(found, RecordMalformed):
        found.text = masked_text(found.text, hide) or ""
    return found


def _readable(
    error: Exception, context: StageContext, files: Sequence[ListedFile], code_of: CodeOf
) -> GoldsmithError:
    if isinstance(error, GoldsmithError):
        return error
    read = as_reading_error(error, files)
    if read is not None:
        read.__cause__ = error  # healing classifies by it: an expired token, a full disk
        return read
    text = _JAVA_NOISE.split(str(error))[0].strip()
    line = _SQL_PLACE.search(text)
    text = _SQL_AROUND.sub("", _PLAN.sub(r" (\1).", text))
    lines = [part.strip() for part in text.splitlines() if part.strip()]
    notes: Sequence[str] = getattr(error, "__notes__", ())  # the file and row of a bad value
    return StageError(
        stage=context.stage_id,
        target=str(context.stage.target_id),
        condition=code_of(error),
        message=" ".join((*lines[:_FIRST_LINES], *notes)) or type(error).__name__,
        line=int(line[1]) if line else None,
    )
