"""`datasets maintain`: compact files, expire snapshots, remove unused files."""

from __future__ import annotations

from typing import Any

import click

from goldsmith.cli.output import (
    CliContext,
    count,
    echo,
    json_option,
    pass_cli,
    report,
    show,
    whoami,
)
from goldsmith.errors import GoldsmithError


@click.command("maintain")
@click.argument("dataset_ids", metavar="[DATASET]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every dataset that a stage writes.")
@click.option("--dry-run", is_flag=True, help="Only show what there is to do, without Spark.")
@json_option
@pass_cli
def maintain(
    cli: CliContext, dataset_ids: tuple[str, ...], everything: bool, dry_run: bool, as_json: bool
) -> None:
    """Compact small files, expire old snapshots, remove orphan files; vacuum in a warehouse.

    Quarantined rows that can never count again are purged. They and snapshots are kept for 5
    days, or the days in the target's option `retain_days`; snapshots also for as long as a stage
    reads incrementally from one. A dataset that is being written is skipped, and the command
    exits 1.
    """
    from goldsmith.planning import dataset_info
    from goldsmith.planning.stage_context import Dataset

    catalog_index = cli.runtime.catalog_indexer.catalog_index()
    if bool(dataset_ids) == everything:
        raise click.UsageError("Name a dataset, or say --all.")
    names = dataset_ids or tuple(sorted(catalog_index.rows.writers_of))
    chosen: list[Dataset] = [dataset_info.find(catalog_index.rows, name) for name in names]
    for dataset in chosen:
        if not dataset.writers:
            raise click.UsageError(f"No stage writes {dataset.dataset_id}.")
    answers, failed = _look(cli, chosen) if dry_run else _do(cli, chosen, as_json)

    def text() -> None:
        for answer in answers:
            done = {name: value for name, value in answer.items() if value}
            whose = done.pop("dataset_id")
            summary = ", ".join(f"{name}: {_as_text(value)}" for name, value in done.items())
            echo(f"{whose}: {summary or 'nothing to do'}")
        echo(count(len(answers), "dataset") + (" looked at." if dry_run else " maintained."))

    show(as_json, answers, text)
    if failed:
        raise click.exceptions.Exit(1)


def _look(cli: CliContext, chosen: list[Any]) -> tuple[list[dict[str, Any]], bool]:
    from datetime import UTC, datetime
    from functools import partial

    from goldsmith.engine.maintenance.compaction import plan_maintenance, retention
    from goldsmith.engine.maintenance.purge_quarantine import dead_ids
    from goldsmith.planning.lake import history
    from goldsmith.planning.resolved_stage import is_lake

    runtime = cli.runtime
    catalog_index = runtime.catalog_indexer.catalog_index()
    answers = []
    for dataset in chosen:
        answer: dict[str, Any] = {"dataset_id": dataset.dataset_id}
        if is_lake(dataset.target):
            planned = plan_maintenance(
                dataset, catalog_index, runtime.journal, runtime.storage, datetime.now(UTC)
            )
            answer |= planned.as_plain() if planned is not None else {"empty": True}
        else:
            answer["statements"] = "vacuum and analyze"
        look = partial(history, dataset, runtime.storage) if is_lake(dataset.target) else None
        before = datetime.now(UTC) - retention(dataset.target)
        name = dataset.dataset_id
        answer["purge_rows"] = len(dead_ids(runtime.storage, runtime.journal, name, look, before))
        answers.append(answer)
    return answers, False


def _do(cli: CliContext, chosen: list[Any], as_json: bool) -> tuple[list[dict[str, Any]], bool]:
    """Maintain one dataset after the other; an error of one does not stop the others."""
    from goldsmith.engine.maintenance import maintenance
    from goldsmith.planning.resolved_stage import stage_id
    from goldsmith.worker.resources import worker_resources

    runtime = cli.runtime
    catalog_index = runtime.catalog_indexer.catalog_index()
    answers, failed = [], False
    with worker_resources(runtime) as resources:
        for dataset in chosen:
            context = catalog_index.stages[stage_id(dataset.writers[0])]
            answer: dict[str, Any] = {"dataset_id": dataset.dataset_id}
            try:
                answer |= maintenance.maintain(resources, catalog_index, context, whoami())
            except GoldsmithError as error:
                failed = True
                answer["error"] = {"code": error.code, "sentence": str(error)}
                if not as_json:
                    report(error, as_json=False)
            answers.append(answer)
    return answers, failed


def _as_text(value: Any) -> str:
    match value:
        case list():
            return "; ".join(str(item) for item in value)
        case dict():
            return "; ".join(f"{key} ({why})" for key, why in value.items())
        case int():
            return f"{value:,}"
    return str(value)
