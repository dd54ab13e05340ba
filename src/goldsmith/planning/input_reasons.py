"""What is new in one input of a stage: the numbers and the reasons that a plan shows."""

from __future__ import annotations

from dataclasses import replace

from goldsmith.errors import count
from goldsmith.planning.input_selection import InputRead
from goldsmith.planning.lake import TableChange
from goldsmith.planning.observed import SeenFiles, SeenInput, SeenTable
from goldsmith.planning.reasons import ReadReason, ReasonCode, reason


def input_read(item: SeenInput, read: str, takes_back: bool) -> InputRead:
    """What is new in one input, in numbers and as reasons."""
    found = InputRead(
        dataset_id=item.dataset.dataset_id,
        kind="warehouse",
        location=item.dataset.location,
        address=item.address,
        read="all",
        reasons=(reason(ReasonCode.WAREHOUSE_TABLE, dataset=item.dataset.dataset_id),),
    )
    match item:
        case SeenFiles():
            return replace(
                found,
                kind="files",
                read=read,
                files=len(item.new),
                bytes=sum(file.size for file in item.new),
                empty=not item.new,
                reasons=_of_files(item, takes_back),
            )
        case SeenTable():
            return replace(
                found,
                kind="table",
                read=read,
                since=item.read_up_to,
                until=item.history.current,
                empty=item.change in (TableChange.NOTHING, TableChange.LAID_OUT),
                changed=item.change is TableChange.CHANGED,
                reasons=(_of_table(item),),
            )
    return found


def _of_files(item: SeenFiles, takes_back: bool) -> tuple[ReadReason, ...]:
    name, listed = item.dataset.dataset_id, len(item.listed)
    if item.missing:
        return ()  # a note of the selection
    if not item.new:
        empty = ReasonCode.NO_NEW_FILE if listed else ReasonCode.NO_FILE
        return (reason(empty, dataset=name, listed=listed),)
    of_all = f" of {listed:,}" if len(item.new) < listed else ""
    found = [
        reason(
            ReasonCode.NEW_FILES,
            dataset=name,
            files=f"{count(len(item.new), 'new file')}{of_all}",
            megabytes=sum(file.size for file in item.new) / 1e6,
        )
    ]
    if item.rewritten:
        files = count(len(item.rewritten), "file")
        found.append(reason(ReasonCode.REWRITTEN_FILES, dataset=name, files=files))
    if item.deduplicated and takes_back:
        files = count(len(item.deduplicated), "file")
        found.append(reason(ReasonCode.DEDUPLICATED_FILES, dataset=name, files=files))
    return tuple(found)


def _of_table(item: SeenTable) -> ReadReason:
    if item.history.current is None:
        return reason(ReasonCode.NO_ROWS, dataset=item.dataset.dataset_id)
    return reason(
        _TABLE_REASONS[item.change],
        dataset=item.dataset.dataset_id,
        since=item.read_up_to,
        until=item.history.current,
    )


_TABLE_REASONS = {
    TableChange.NEVER_READ: ReasonCode.NEVER_READ,
    TableChange.NOTHING: ReasonCode.NO_NEW_SNAPSHOT,
    TableChange.LAID_OUT: ReasonCode.COMPACTED,
    TableChange.ADDED: ReasonCode.NEW_SNAPSHOTS,
    TableChange.CHANGED: ReasonCode.NEW_SNAPSHOTS,
    TableChange.TAKEN_BACK: ReasonCode.INPUT_RESTORED,
    TableChange.EXPIRED: ReasonCode.SNAPSHOT_EXPIRED,
}
