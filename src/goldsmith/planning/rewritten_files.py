"""Rewritten files: an append replaces the rows of such a file, or is refused before it writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldsmith.catalog.datasets import Source
from goldsmith.catalog.pipelines import Stage
from goldsmith.errors import GoldsmithError
from goldsmith.planning.locations import folder
from goldsmith.planning.provenance import SOURCE_FILE, keeps_source_file
from goldsmith.planning.resolved_stage import stage_id
from goldsmith.planning.stage_context import StageContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NO_FILE = "its rows do not say which file they came from"
SOME_WITHOUT_FILE = "some of its rows do not say which file they came from"


@dataclass(eq=False, kw_only=True)
class FileRewritten(GoldsmithError):
    """A file was rewritten or is loaded again, and its earlier rows cannot be found."""

    exit_code = 1

    target: str
    files: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        more = f" and {len(self.files) - 1:,} more" if len(self.files) > 1 else ""
        return (
            f"{self.files[0]}{more} would be loaded a second time, and the rows it gave to "
            f"'{self.target}' cannot be replaced: {self.reason}. Nothing was published."
        )

    @property
    def hint(self) -> str:
        return (
            "`goldsmith run STAGE --full-refresh` loads all files again. To have rewritten files "
            "replace their rows, select _source_file in the stage's SQL and refresh once, or "
            "write by keys (write_mode: merge)."
        )


def why_not_found(context: StageContext) -> str | None:
    """Why the rows of a file cannot be found in the stage's target; None where they can."""
    if not keeps_source_file(context):
        return NO_FILE
    writers = context.target.writers if context.target is not None else ()
    for writer in writers:
        if stage_id(writer) != context.stage_id and _reads_same_files(writer, context):
            return f"stage {stage_id(writer)} writes rows of the same files into it"
    return None


def _reads_same_files(writer: Stage, context: StageContext) -> bool:
    """The other stage reads the same source, or a source whose folder is inside or around it."""
    if writer.source_id == context.stage.source_id:
        return True
    sources = context.rows.table(Source)
    found = [sources.get((name,)) for name in (writer.source_id, context.stage.source_id)]
    own_folder, other_folder = (
        f"{folder(source.s3_path)}/" if source and source.s3_path else None for source in found
    )
    return bool(
        own_folder
        and other_folder
        and (own_folder.startswith(other_folder) or other_folder.startswith(own_folder))
    )


def refuse_unless_found(context: StageContext, rewritten: tuple[str, ...]) -> None:
    """Raises where loading rewritten files would duplicate their rows."""
    if rewritten and (reason := why_not_found(context)):
        raise FileRewritten(target=str(context.stage.target_id), files=rewritten, reason=reason)


def refuse_rows_without_file(rows: DataFrame, target: str, rewritten: tuple[str, ...]) -> None:
    """Raises where the target has rows without a file name, which may be of rewritten files."""
    from pyspark.sql import functions as F

    if SOURCE_FILE in rows.columns:
        reason, nameless = SOME_WITHOUT_FILE, rows.where(F.col(SOURCE_FILE).isNull())
    else:
        reason, nameless = NO_FILE, rows
    if not nameless.isEmpty():
        raise FileRewritten(target=target, files=rewritten, reason=reason)
