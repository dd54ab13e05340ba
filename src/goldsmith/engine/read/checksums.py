"""Checksums of the files a stage run reads: they tell a touched file from a rewritten one."""

from __future__ import annotations

from dataclasses import replace

from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.planning.input_selection import Consumed, InputSelection
from goldsmith.storage.file_content import FileChanged, look_again, renamed, with_checksums


def consumed_with_checksums(
    attempt: Attempt, resources: WorkerResources, selection: InputSelection
) -> tuple[Consumed, str | None]:
    """The input for the ledger, each file with its checksum.

    Also returns a warning about renamed files, which an append loads as new files.
    """
    consumed = selection.counted_input or selection.consumed
    files, moved = dict(consumed.files), list[tuple[str, str]]()
    for dataset in attempt.context.inputs:
        seen = consumed.files.get(dataset.dataset_id)
        if not seen:
            continue
        known = resources.increments.known_files(attempt.context, dataset)
        files[dataset.dataset_id] = checked_files = with_checksums(seen, known, resources.storage)
        if dataset is attempt.context.inputs[0]:
            listed_paths = {file.path for file in resources.increments.files(dataset)}
            moved = renamed(checked_files, known, listed_paths)
    warning = None
    if moved and attempt.context.resolved.appends and not selection.starts_over:
        old, new = moved[0]
        more = f" and {len(moved) - 1:,} more" if len(moved) > 1 else ""
        warning = (
            f"{new}{more} has the content of {old}, which was loaded and is gone: "
            "a renamed file is loaded as a new one"
        )
    return replace(consumed, files=files), warning


def refuse_changed_files(resources: WorkerResources, consumed: Consumed) -> None:
    """Raise if a file changed after the ledger listed it."""
    files = [file for seen in consumed.files.values() for file in seen]
    if changed := look_again(files, resources.storage):
        raise FileChanged(files=tuple(changed))
