"""`healing`, `incidents` and `datasets freshness`, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.retries import HealingAction
from goldsmith.catalog.rows import Row
from goldsmith.cli.main import goldsmith
from goldsmith.healing.codes import code
from goldsmith.journal import healing, incidents, runs
from goldsmith.journal.healing_events import RemedyChosen, StageHealed
from goldsmith.journal.healing_tables import HealingUse, Incident
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import Run
from goldsmith.registry import UnknownName


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one pipeline that failed and was healed once."""
    folder = tmp_path / "shop"
    made = CliRunner().invoke(goldsmith, ["init", str(folder)])
    assert made.exit_code == 0, made.output
    catalog = Catalog.open(f"sqlite:///{folder / '.goldsmith' / 'catalog.db'}")
    rows = [
        Pipeline(pipeline_id="orders", default_retry_id="std_retry", sla_minutes=30),
        Source(source_id="raw", s3_path="s3://raw/orders/", file_format="jsonl"),
        Target(target_id="gold", location="s3://gold/", type="s3"),
        Stage(
            pipeline_id="orders",
            stage_order=1,
            source_id="raw",
            target_id="gold",
            options={"optional": True},
        ),
    ]
    with catalog.change(actor="test") as change:
        change.put(rows)
    journal = Journal(catalog.engine)
    with journal.writing() as connection:
        used = HealingUse(
            use_id="u",
            error_code="CommitConflict",
            remedy="plan_again",
            pipeline_id="orders",
            stage_order=1,
            did="rerun",
            because="somebody else published first",
            outcome="helped",
        )
        healing.use(journal, used, connection=connection)
        incident = Incident(
            incident_id="incident-1",
            severity="P2",
            about="stage:orders-1",
            error_code="DiskFull",
            cause="No room is left",
            runbook="Free some.",
            tried=("spill_less",),
        )
        incidents.report(journal, incident, connection=connection)
    catalog.close()
    return folder


def output_of(project: Path, *arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(goldsmith, ["--project", str(project), *arguments])
    assert done.exit_code == code, done.output
    return done.output


def ask(project: Path, *arguments: str) -> Any:
    return json.loads(output_of(project, *arguments, "--json"))


def test_pairs_are_listed_with_how_often_they_helped(project: Path) -> None:
    pairs = {(pair["error_code"], pair["remedy"]): pair for pair in ask(project, "healing", "list")}
    assert pairs["CommitConflict", "plan_again"]["success_rate"] == 1.0
    assert pairs["DiskFull", "spill_less"]["success_rate"] is None
    assert "plan_again" in output_of(project, "healing", "list")


def test_uses_are_told(project: Path) -> None:
    (use,) = ask(project, "healing", "history", "--pipeline", "orders")
    assert (use["remedy"], use["outcome"]) == ("plan_again", "helped")
    assert "somebody else published first" in output_of(project, "healing", "history")


def test_what_would_be_done_is_told_try_after_try(project: Path) -> None:
    steps = ask(project, "healing", "simulate", "FileTruncated")
    assert [(step["do"], step["remedy"]) for step in steps] == [
        ("rerun", "retry_later"),
        ("rerun", "retry_later"),
        ("rerun", None),
        ("hold", None),
    ]
    skipped = ask(project, "healing", "simulate", "CheckFailed", "--stage", "orders-1")
    assert [step["remedy"] for step in skipped] == ["skip_optional"]
    not_allowed = "quarantine_rows is not allowed: options.remedies of the stage does not name it"
    assert skipped[0]["passed_over"] == [not_allowed]
    printed = output_of(
        project, "healing", "simulate", "CheckFailed", "--stage", "orders-1"
    ).splitlines()
    assert printed[0] == "Try 1 fails."
    assert printed[1].strip() == not_allowed
    assert printed[2].strip().startswith("skip_optional: the run goes on without the stage: ")
    schema = output_of(project, "healing", "simulate", "SchemaMismatch", "--stage", "orders-1")
    assert "DIFFERENCES" not in schema


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("SchemaMissmatch", "SchemaMismatch"), *((n, None) for n in ("SchemaDrift", "S3Error"))],
)
def test_a_name_is_offered_only_where_it_is_like_the_one_that_was_typed(
    typed: str, offered: str | None
) -> None:
    with pytest.raises(UnknownName) as raised:
        code(typed)
    printed = None if offered is None else f"Did you mean '{offered}'?"
    assert (printed or "Known: ") in raised.value.hint
    assert printed is not None or "Did you mean" not in raised.value.hint


def test_what_is_left_to_a_person_is_not_called_pending(project: Path) -> None:
    catalog = Catalog.open(f"sqlite:///{project / '.goldsmith' / 'catalog.db'}")
    journal = Journal(catalog.engine)
    with journal.writing() as connection:
        held = HealingUse(use_id="h", error_code="DiskFull", remedy="open_incident", did="hold")
        healing.use(journal, held, connection=connection)
    catalog.close()
    assert "pending" not in output_of(project, "healing", "history")


def put(project: Path, *rows: Row) -> None:
    catalog = Catalog.open(f"sqlite:///{project / '.goldsmith' / 'catalog.db'}")
    with catalog.change(actor="test") as change:
        change.put(list(rows))


def orders(**options: object) -> Stage:
    return Stage(
        pipeline_id="orders", stage_order=1, source_id="raw", target_id="gold", options=options
    )


def test_a_simulation_says_what_rows_allow_and_who_would_be_asked(project: Path) -> None:
    put(
        project,
        orders(remedies=["quarantine_rows"]),
        HealingAction(error_code="SchemaMismatch", action_script="https://mend.example/now"),
    )
    checked = ask(project, "healing", "simulate", "CheckFailed", "--stage", "orders-1")
    assert checked[0]["remedy"] == "quarantine_rows"
    drifted = ask(project, "healing", "simulate", "SchemaMismatch", "--stage", "orders-1")
    assert (drifted[0]["do"], drifted[0]["remedy"]) == ("hold", "open_incident")
    sentence = "https://mend.example/now would be called first, and its answer would be followed"
    assert drifted[0]["passed_over"] == [sentence]
    assert sentence in output_of(
        project, "healing", "simulate", "SchemaMismatch", "--stage", "orders-1"
    )


def test_a_simulation_knows_of_the_breaker_that_is_open(project: Path) -> None:
    journal = Journal(Catalog.open(f"sqlite:///{project / '.goldsmith' / 'catalog.db'}").engine)
    about = {"error_code": "DiskFull", "remedy": "spill_less", "pipeline_id": "orders"}
    with journal.writing() as connection:
        for number in range(3):
            used = HealingUse(
                use_id=f"d{number}", stage_order=1, outcome="failed", because="full", **about
            )
            healing.use(journal, used, connection=connection)
    (step,) = ask(project, "healing", "simulate", "DiskFull", "--stage", "orders-1")
    assert step["remedy"] == "open_incident"
    assert "breaker" in step["passed_over"][0]


def test_a_plan_prints_what_remedies_may_do_to_each_stage(project: Path) -> None:
    put(project, orders(remedies=["evolve_schema"]))
    lines = output_of(project, "plan", "-v").splitlines()
    allowed = next(line for line in lines if "remedy evolve_schema may act" in line)
    assert "may act on SchemaMismatch" in allowed
    assert "options.remedies of the stage names it" in allowed
    refused = next(line for line in lines if "remedies that may not act" in line)
    assert "quarantine_rows (CheckFailed, RecordMalformed)" in refused
    assert "deduplicate (DuplicateRows)" in refused
    put(project, HealingAction(error_code="CheckFailed", action_script="quarantine_rows"))
    (stage,) = ask(project, "plan")["stages"]
    found = {
        (remedy["error_code"], remedy["remedy"]): remedy["may_act"] for remedy in stage["remedies"]
    }
    assert found["CheckFailed", "quarantine_rows"]
    assert not found["RecordMalformed", "quarantine_rows"]
    put(
        project,
        orders().with_(schema_policy="freeze"),
        HealingAction(error_code="SchemaMismatch", action_script="evolve_schema"),
    )
    frozen = [
        remedy for remedy in ask(project, "plan")["stages"][0]["remedies"] if not remedy["may_act"]
    ]
    assert "the stage's row has a schema_policy of its own" in [
        remedy["because"] for remedy in frozen
    ]


def test_a_heal_says_which_remedy_acted_in_runs_show_and_why(project: Path) -> None:
    journal = Journal(Catalog.open(f"sqlite:///{project / '.goldsmith' / 'catalog.db'}").engine)
    about = {"pipeline_id": "orders", "stage_order": 1, "run_id": "run-1"}
    runs.start_run(journal, Run(run_id="run-1", pipeline_id="orders"))
    chosen = {"remedy": "evolve_schema", "error_code": "SchemaMismatch", "resolution": "so be it"}
    journal.record(RemedyChosen(**about, **chosen))
    journal.record(StageHealed(**about, **chosen))
    runs.finish_run(journal, "run-1")

    shown = output_of(project, "runs", "show", "run-1")
    assert "orders-1 was healed of SchemaMismatch by the remedy evolve_schema" in shown
    assert "the remedy evolve_schema was chosen: so be it" in shown
    assert len(ask(project, "runs", "show", "run-1")["remedies"]) == 2
    for entity in ("run-1", "stage:orders-1", "orders"):
        assert "Stage healed evolve_schema for SchemaMismatch" in output_of(project, "why", entity)


def test_incidents_are_listed_shown_acknowledged_and_closed(project: Path) -> None:
    assert [incident["incident_id"] for incident in ask(project, "incidents", "list")] == [
        "incident-1"
    ]
    assert "tried: spill_less" in output_of(project, "incidents", "show", "incident-1")
    assert ask(project, "incidents", "ack", "incident-1")["status"] == "acknowledged"
    output_of(project, "incidents", "close", "incident-1", "--reason", "a larger disk")
    assert ask(project, "incidents", "list") == []
    assert len(ask(project, "incidents", "list", "--all")) == 1


def test_looking_finds_what_is_stale_and_freshness_lists_it(project: Path) -> None:
    (fresh,) = ask(project, "datasets", "freshness")
    assert (fresh["dataset_id"], fresh["last_update"]) == ("gold", None)
    assert ask(project, "datasets", "freshness", "--stale") == []
    assert ask(project, "incidents", "look") == {"incidents": [], "messages": 0}
    assert "never" in output_of(project, "datasets", "freshness")


def test_errors_are_explained_with_the_remedies_in_force(project: Path) -> None:
    explained = ask(project, "errors", "explain", "DiskFull")
    assert [pair["action_script"] for pair in explained["remedies"]] == [
        "spill_less",
        "open_incident",
    ]
    assert "Remedies: spill_less" in output_of(project, "errors", "explain", "DiskFull")
    assert ask(project, "errors", "list", "--seen") == []
