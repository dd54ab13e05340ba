"""Select what a stage reads and why: the one decision that `plan` prints and `run` carries out.

`select_inputs` is a function of its arguments alone. What it depends on (files, snapshots, ledger
rows) is observed before and handed in: for a plan by `planning/history.py`, for a run, under the
lease of the target, by `engine/read/observe_inputs.py`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from enum import StrEnum

from goldsmith.errors import GoldsmithError
from goldsmith.planning import past_state, window_read
from goldsmith.planning.definition import reruns
from goldsmith.planning.explain import read_of
from goldsmith.planning.history import refuse_alone
from goldsmith.planning.input_reasons import input_read
from goldsmith.planning.input_selection import Consumed, InputRead, InputSelection
from goldsmith.planning.lake import TableChange
from goldsmith.planning.ledgers import replaces_all
from goldsmith.planning.observed import Observed, SeenFiles, SeenTable, UnnamedRows
from goldsmith.planning.provenance import compares_files
from goldsmith.planning.reasons import ReadReason, ReasonCode, reason
from goldsmith.planning.resolved_stage import keeps_rows
from goldsmith.planning.rewritten_files import FileRewritten, refuse_unless_found
from goldsmith.planning.run_options import RunOptions
from goldsmith.planning.stage_context import Dataset, StageContext
from goldsmith.storage.file_content import is_etag_of, touched_etag
from goldsmith.storage.files import ListedFile


def select_inputs(
    context: StageContext,
    seen: Observed,
    run_options: RunOptions,
    *,
    files_at_once: int | None = None,
) -> InputSelection:
    """Select the files, snapshots and rows that a stage reads, with every reason.

    A stage that must not run gets a selection with `refused`. `files_at_once` limits the new files
    of the first input, the oldest first.
    """
    try:
        selection = _select(context, seen, run_options)
    except GoldsmithError as error:
        return InputSelection(refused=error)
    selection = replace(selection, notes=_notes(context, seen, run_options, selection))
    return limit_files(selection, context, run_options, files_at_once)


def _select(context: StageContext, seen: Observed, run_options: RunOptions) -> InputSelection:
    """The selection by the first of these that holds; raises if nothing could be read."""
    if run_options.as_of is not None:
        return _past_state(context, seen)
    if run_options.full_refresh:
        selection = _everything(context, seen, reason(ReasonCode.FULL_REFRESH), starts_over=True)
        return replace(selection, starts_over=not seen.emptied)
    if seen.problem is not None and not replaces_all(context):
        raise seen.problem
    if run_options.window is not None:
        selection = window_read.select_window(
            context,
            seen,
            run_options.window,
            _everything(context, seen, reason(ReasonCode.BACKFILL, window=run_options.window)),
        )
    elif run_options.replay is not None:
        selection = InputSelection(reasons=(reason(ReasonCode.REPLAY),))
    elif seen.problem is not None:
        lost = reason(ReasonCode.TARGET_LOST, problem=seen.problem)
        selection = _everything(context, seen, lost)
    elif seen.definition_changed and reruns(context):
        selection = _everything(context, seen, reason(ReasonCode.DEFINITION_CHANGED))
    else:
        selection = _new(context, seen)
    return replace(selection, refused=_refusal(context, seen, selection))


def _past_state(context: StageContext, seen: Observed) -> InputSelection:
    """Everything the stage had read when an earlier stage run was published."""
    assert seen.past is not None  # observed for every restore
    consumed = past_state.consumed_then(context, seen.past)
    return InputSelection(
        consumed=consumed,
        since=dict.fromkeys(consumed.snapshots),
        reasons=(reason(ReasonCode.PAST_STATE, stage_run_id=seen.past.stage_run_id),),
        starts_over=True,
    )


def _everything(
    context: StageContext, seen: Observed, why: ReadReason, *, starts_over: bool = False
) -> InputSelection:
    """All of every input, whatever is new."""
    return _read(context, seen, everything=why, starts_over=starts_over)


def _new(context: StageContext, seen: Observed) -> InputSelection:
    """What is new of the first input and all of the others, if anything is new."""
    return _read(context, seen, everything=None, starts_over=False)


def _read(
    context: StageContext, seen: Observed, *, everything: ReadReason | None, starts_over: bool
) -> InputSelection:
    files: dict[str, list[ListedFile]] = {}
    snapshots: dict[str, str] = {}
    since: dict[str, str | None] = {}
    rewritten: tuple[str, ...] = ()
    former: tuple[str, ...] = ()
    read_again: tuple[str, ...] = ()
    touched: list[tuple[str, str, str, str]] = []
    for index, item in enumerate(seen.inputs):
        name = item.dataset.dataset_id
        all_rows = everything is not None or read_of(context, index) == "all"
        match item:
            case SeenFiles():
                new = list(item.new)
                if index == 0 and not all_rows:
                    changed = item.rewritten
                    former = tuple(item.former[path] for path in changed if path in item.former)
                    read_again = (*changed, *former)
                    # An append has to delete the rows of changed files. Other write modes find
                    # them by key, or replace all rows.
                    if context.resolved.appends:
                        beside = _deduplicated(context, item, read_again)
                        new += beside
                        rewritten = (*read_again, *(file.path for file in beside))
                touched += _touched(item, {file.path for file in new})
                files[name] = list(item.listed) if all_rows else new
            case SeenTable():
                again = Reread.YES if all_rows else _again(context, item.dataset, item.change)
                starts_over = starts_over or again is Reread.FROM_SCRATCH
                since[name] = item.read_up_to if again is Reread.NO else None
                if item.history.current is not None:
                    snapshots[name] = item.history.current
    inputs = tuple(
        input_read(item, read_of(context, index), bool(index == 0 and rewritten))
        for index, item in enumerate(seen.inputs)
    )
    return InputSelection(
        consumed=Consumed(files=files, snapshots=snapshots),
        reasons=tuple(_reasons(context, seen, inputs, everything)),
        inputs=inputs,
        rewritten=() if starts_over else rewritten,
        since=since,
        starts_over=starts_over,
        touched=tuple(touched),
        former=former,
        read_again=() if starts_over else read_again,
        missing=tuple(
            item.missing for item in seen.inputs if isinstance(item, SeenFiles) and item.missing
        ),
    )


def _reasons(
    context: StageContext,
    seen: Observed,
    inputs: Collection[InputRead],
    everything: ReadReason | None,
) -> list[ReadReason]:
    """Every reason to run; none if nothing is new."""
    found = [] if everything is None else [everything]
    found += [why for item in inputs if item.empty is not True for why in item.reasons]
    volatile = context.facts.volatile if context.facts is not None else ()
    if volatile:
        found.append(reason(ReasonCode.VOLATILE_SQL, functions=", ".join(volatile)))
    if seen.upstream and not any(item.empty is False for item in inputs):
        found.append(reason(ReasonCode.UPSTREAM, stages=", ".join(seen.upstream)))
    return found


def _deduplicated(
    context: StageContext, item: SeenFiles, changed: Collection[str]
) -> list[ListedFile]:
    """Unchanged files to read again: their rows were compared with rows of changed files.

    Raises if such a file is gone, because its rows cannot be read again.
    """
    paths = item.deduplicated
    found = [file for file in item.listed if file.path in paths]
    if gone := sorted(paths - {file.path for file in found}):
        why = (
            f"its rows and those of {gone[0]} were compared with each other, and {gone[0]} is gone"
        )
        target = str(context.stage.target_id)
        raise FileRewritten(target=target, files=tuple(changed), reason=why)
    return found


def _touched(item: SeenFiles, changed: Collection[str]) -> list[tuple[str, str, str, str]]:
    """Files with unchanged content and a new etag."""
    return [
        (item.dataset.dataset_id, file.path, noted, touched_etag(file, noted))
        for file in item.listed
        if file.path in item.known and file.path not in changed
        for _size, noted in [item.known[file.path]]
        if not is_etag_of(noted, file)
    ]


class Reread(StrEnum):
    """Whether an input that is read incrementally has to be read again from the start."""

    NO = "no"
    #: Read again and write over the existing rows, which are found by key.
    YES = "yes"
    #: Read again and replace all existing rows.
    FROM_SCRATCH = "from scratch"


def _again(context: StageContext, dataset: Dataset, change: TableChange) -> Reread:
    """Whether a change of an input table makes the stage read it again from the start."""
    appends = context.resolved.appends
    match change:
        case TableChange.TAKEN_BACK:
            # An input that is never overwritten still holds all rows the stage has read. An
            # overwritten one does not, so rows that the stage wrote from it earlier stay.
            keeps = all(keeps_rows(writer) for writer in dataset.writers)
            return Reread.FROM_SCRATCH if appends or keeps else Reread.YES
        case TableChange.EXPIRED:
            return Reread.FROM_SCRATCH if appends else Reread.YES
        case TableChange.CHANGED if appends:
            # Rows of the input were replaced: appending the new ones would duplicate them.
            return Reread.FROM_SCRATCH
        case _:
            return Reread.NO


def _refusal(
    context: StageContext, seen: Observed, selection: InputSelection
) -> GoldsmithError | None:
    """Why a stage must not read this selection; None if it may."""
    try:
        refuse_unless_found(context, selection.rewritten)
        if seen.check_error is not None and selection.runs:
            raise seen.check_error  # the target could not be checked, so nothing is written to it
        if selection.starts_over:
            refuse_alone(context, ())
        _refuse_unnamed(context, seen.unnamed, selection.read_again)
    except GoldsmithError as error:
        return error
    return None


def _refuse_unnamed(
    context: StageContext, unnamed: Collection[UnnamedRows], files: Collection[str]
) -> None:
    """Raise if live quarantined rows without a file name may come from files read again.

    Reading the files again would quarantine or publish such rows a second time. If every file of
    the load that quarantined the rows is read again, all of them are replaced.
    """
    again = set(files)
    doubtful = sum(
        item.rows
        for item in unnamed
        if again and (not item.files or (item.files & again and not item.files <= again))
    )
    if doubtful:
        why = (
            f"{doubtful:,} live rows of its quarantine do not say which file they came from; "
            "replay or discard them first"
        )
        target = str(context.stage.target_id)
        raise FileRewritten(target=target, files=tuple(sorted(again)), reason=why)


def _notes(
    context: StageContext, seen: Observed, run_options: RunOptions, selection: InputSelection
) -> tuple[str, ...]:
    """Notes for the user besides the reasons."""
    notes = list(selection.notes)
    if seen.definition_changed and not reruns(context) and run_options == RunOptions():
        notes.append(reason(ReasonCode.OLD_ROWS).sentence)
    if seen.renumbered_from is not None:
        notes.append(reason(ReasonCode.RENUMBERED, stage=seen.renumbered_from).sentence)
    return tuple(notes)


def limit_files(
    selection: InputSelection, context: StageContext, run_options: RunOptions, most: int | None
) -> InputSelection:
    """Limit the selection to a number of files of the first input, the oldest first."""
    if most is None or selection.starts_over or context.resolved.read != "new":
        return selection
    if run_options.full_refresh or run_options.window is not None or run_options.as_of is not None:
        return selection  # the next attempt would read the same files again
    # Limit only the first input; lookup inputs are read in full.
    first = context.inputs[0].dataset_id if context.inputs else ""
    found = selection.consumed.files.get(first)
    if found is None:
        return selection
    if selection.rewritten and compares_files(context):
        return selection  # rows of all these files are compared
    part = sorted(found, key=lambda file: (file.modified_at, file.path))[:most]
    left_out = {file.path for file in found} - {file.path for file in part}
    counted_input = selection.counted_input
    if counted_input is not None and first in counted_input.files:
        counted_input = replace(counted_input, files={**counted_input.files, first: part})
    return replace(
        selection,
        consumed=replace(selection.consumed, files={**selection.consumed.files, first: part}),
        counted_input=counted_input,
        rewritten=tuple(path for path in selection.rewritten if path not in left_out),
        files_left=len(left_out),
    )
