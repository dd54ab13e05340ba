"""`datasets maintain`: compact, expire, remove what nobody needs."""

from __future__ import annotations

from typing import Any

import click

from goldsmith.cli.output import Door, count, json_option, pass_door, report, show, whoami
from goldsmith.errors import GoldsmithError


@click.command("maintain")
@click.argument("dataset_ids", metavar="[DATASET]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every dataset that a stage writes.")
@click.option("--dry-run", is_flag=True, help="Only show what there is to do; no Spark.")
@json_option
@pass_door
def maintain(
    door: Door, dataset_ids: tuple[str, ...], everything: bool, dry_run: bool, as_json: bool
) -> None:
    """Compact small files, expire old snapshots, remove stray files; vacuum in a warehouse.

    Snapshots are kept for 5 days, or the target's option `retain_days`, and for as long as a
    stage reads on from one. A dataset that is being written is left alone: exits 1.
    """
    from goldsmith.planning import holdings
    from goldsmith.planning.neighbourhood import Dataset

    survey = door.runtime.surveyor.survey()
    if bool(dataset_ids) == everything:
        raise click.UsageError("Name a dataset, or say --all.")
    names = dataset_ids or tuple(sorted(survey.rows.writers_of))
    chosen: list[Dataset] = [holdings.find(survey.rows, name) for name in names]
    for dataset in chosen:
        if not dataset.writers:
            raise click.UsageError(f"No stage writes {dataset.dataset_id}.")
    answers, failed = _look(door, chosen) if dry_run else _do(door, chosen, as_json)

    def text() -> None:
        for answer in answers:
            said = {name: value for name, value in answer.items() if value}
            whose = said.pop("dataset_id")
            told = ", ".join(f"{name}: {_in_words(value)}" for name, value in said.items())
            click.echo(f"{whose}: {told or 'nothing to do'}")
        click.echo(count(len(answers), "dataset") + (" looked at." if dry_run else " maintained."))

    show(as_json, answers, text)
    if failed:
        raise click.exceptions.Exit(1)


def _look(door: Door, chosen: list[Any]) -> tuple[list[dict[str, Any]], bool]:
    from datetime import UTC, datetime

    from goldsmith.engine.maintenance import plan_maintenance
    from goldsmith.planning.words import is_lake

    runtime = door.runtime
    survey = runtime.surveyor.survey()
    answers = []
    for dataset in chosen:
        answer: dict[str, Any] = {"dataset_id": dataset.dataset_id}
        if is_lake(dataset.target):
            planned = plan_maintenance(
                dataset, survey, runtime.journal, runtime.places, datetime.now(UTC)
            )
            answer |= planned.as_plain() if planned is not None else {"empty": True}
        else:
            answer["statements"] = "vacuum and analyze"
        answers.append(answer)
    return answers, False


def _do(door: Door, chosen: list[Any], as_json: bool) -> tuple[list[dict[str, Any]], bool]:
    """Maintain one after the other; one that is being written keeps nobody else from it."""
    from goldsmith.engine import upkeep
    from goldsmith.planning.words import stage_id
    from goldsmith.scheduling.workshop import workshop

    runtime = door.runtime
    survey = runtime.surveyor.survey()
    answers, failed = [], False
    with workshop(runtime) as tools:
        for dataset in chosen:
            near = survey.stages[stage_id(dataset.writers[0])]
            answer: dict[str, Any] = {"dataset_id": dataset.dataset_id}
            try:
                answer |= upkeep.maintain(tools, survey, near, whoami())
            except GoldsmithError as error:
                failed = True
                answer["error"] = {"code": error.code, "sentence": str(error)}
                if not as_json:
                    report(error, as_json=False)
            answers.append(answer)
    return answers, failed


def _in_words(value: Any) -> str:
    match value:
        case list():
            return "; ".join(str(one) for one in value)
        case dict():
            return "; ".join(f"{key} ({why})" for key, why in value.items())
        case int():
            return f"{value:,}"
    return str(value)
