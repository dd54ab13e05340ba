"""Incidents and messages: opened once, rising with age, told once, and never lost."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.incidents import NotificationRoute
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.retries import HealingAction
from goldsmith.journal import healing, incidents, stage_runs
from goldsmith.journal.clock import read_clock
from goldsmith.journal.definitions import outbox as messages
from goldsmith.journal.events import StageFinished
from goldsmith.journal.healing_tables import HealingUse, Incident, RemedyOutcome
from goldsmith.journal.incidents import IncidentClosed, UnknownIncident
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import StageRun
from goldsmith.runtime import Runtime
from goldsmith.worker import incidents as scheduling
from goldsmith.worker import notifications, success_floor


@pytest.fixture
def runtime(catalog: Catalog, catalog_url: str, tmp_path: Path) -> Runtime:
    """A project over the catalog: one pipeline that matters, written by one stage."""
    (tmp_path / "goldsmith.toml").write_text('name = "tests"\n')
    environ = {"GOLDSMITH_CATALOG__URL": catalog_url}
    opened = Runtime.of(environ, project=tmp_path, environment=None, cwd=tmp_path)
    opened.__dict__["catalog"] = catalog
    rows = [
        Pipeline(
            pipeline_id="orders",
            impact="revenue",
            owner="ann",
            schedule="every 15m",
            sla_minutes=30,
        ),
        Source(source_id="raw", s3_path="s3://raw/orders/", file_format="jsonl"),
        Target(target_id="gold", location="s3://gold/", type="s3"),
        Target(target_id="report", location="s3://report/", type="s3"),
        Stage(pipeline_id="orders", stage_order=1, source_id="raw", target_id="gold"),
        Stage(pipeline_id="orders", stage_order=2, source_id="gold", target_id="report"),
    ]
    with catalog.change(actor="test") as change:
        change.put(rows)
    return opened


def published(journal: Journal, target: str, order: int, hours_ago: float) -> None:
    with journal.reading() as connection:
        at = read_clock(connection) - timedelta(hours=hours_ago)
    name = f"try-{target}-{hours_ago}"
    begun = StageRun(
        stage_run_id=name,
        run_id=f"run-{hours_ago}",
        pipeline_id="orders",
        stage_order=order,
        target_id=target,
    )
    stage_runs.start_stage_run(journal, begun, at=at)
    stage_runs.finish_stage_run(journal, name, StageFinished(rows_written=1), at=at)


def test_a_stale_dataset_opens_an_incident_that_rises_as_it_ages(
    runtime: Runtime, journal: Journal
) -> None:
    published(journal, "gold", 1, hours_ago=2)
    published(journal, "report", 2, hours_ago=0.1)
    opened = scheduling.update_incidents(runtime)
    assert [(incident.about, incident.severity, incident.error_code) for incident in opened] == [
        ("dataset:gold", "P3", "DatasetStale")
    ]
    assert (opened[0].owner, opened[0].affected) == ("ann", ("report",))
    assert scheduling.update_incidents(runtime) == []  # the same again is no news
    with runtime.catalog.change(actor="test") as change:
        change.connection.execute(sa.text("UPDATE severities SET older_than_hours = 1.5"))
    risen = scheduling.update_incidents(runtime)
    assert [(incident.incident_id, incident.severity) for incident in risen] == [
        (opened[0].incident_id, "P1")
    ]
    changes = journal.read(kinds=("IncidentOpened", "IncidentChanged"))
    assert [event.kind for event in changes] == ["IncidentOpened", "IncidentChanged"]


def test_freshness_lists_the_stalest_first(runtime: Runtime, journal: Journal) -> None:
    published(journal, "gold", 1, hours_ago=5)
    published(journal, "report", 2, hours_ago=26)
    found = scheduling.freshness(runtime)
    assert [
        (dataset.dataset_id, round(dataset.hours_stale or 0), dataset.severity) for dataset in found
    ] == [
        ("report", 26, "P1"),
        ("gold", 5, "P2"),
    ]


def test_incidents_are_acknowledged_and_closed_once(journal: Journal) -> None:
    with journal.writing() as connection:
        opened, news = incidents.report(
            journal, Incident(incident_id="i", severity="P2", about="a"), connection=connection
        )
        again, news_again = incidents.report(
            journal,
            Incident(incident_id="other", severity="P3", about="a", run_id="run-2"),
            connection=connection,
        )
    assert (news, news_again) == (True, False)
    assert (again.incident_id, again.severity, again.times) == (opened.incident_id, "P2", 2)
    assert incidents.acknowledge(journal, "i", "ann").acknowledged_by == "ann"
    assert incidents.close(journal, "i", "ann", "mended").status == "closed"
    assert incidents.listed(journal) == []
    with pytest.raises(IncidentClosed):
        incidents.close(journal, "i", "ann", "again")
    with pytest.raises(UnknownIncident):
        incidents.get(journal, "nobody")


class Receiver:
    """A webhook that takes messages, or does not."""

    def __init__(self) -> None:
        self.taken: list[dict[str, Any]] = []
        self.answers = 200
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if receiver.answers == 200:
                    receiver.taken.append(body)
                self.send_response(receiver.answers)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_words: object) -> None: ...

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def due_again(journal: Journal) -> None:
    """As if the wait were over."""
    with journal.writing() as connection:
        connection.execute(sa.update(messages).values(not_before=None))


def test_messages_go_by_severity_once_and_none_is_lost_while_the_receiver_is_down(
    runtime: Runtime, journal: Journal, receiver: Receiver
) -> None:
    with runtime.catalog.change(actor="test") as change:
        change.put(
            [
                NotificationRoute(route_id="all", kind="slack", url=receiver.url),
                NotificationRoute(route_id="worst", url=receiver.url, least_severity="P1"),
                NotificationRoute(route_id="others", url=receiver.url, pipelines=("sales",)),
                NotificationRoute(route_id="off", url=receiver.url, enabled=False),
            ]
        )
    published(journal, "gold", 1, hours_ago=5)
    published(journal, "report", 2, hours_ago=0.1)
    receiver.answers = 503
    scheduling.update_incidents(runtime)
    assert notifications.deliver(runtime) == 0
    assert notifications.deliver(runtime) == 0  # not due: it was tried a moment ago
    due_again(journal)
    receiver.answers = 200
    assert notifications.deliver(runtime) == 1
    assert notifications.deliver(runtime) == 0
    (text,) = [message["text"] for message in receiver.taken]
    assert text.startswith("[P2] DatasetStale in orders: gold is 5.0 h old")
    assert "Owner: ann" in text
    scheduling.update_incidents(runtime)
    assert notifications.deliver(runtime) == 0  # the same incident is not told twice
    recorded = journal.read(kinds=("NotificationDelayed", "NotificationDelivered"))
    assert [event.kind for event in recorded] == ["NotificationDelayed", "NotificationDelivered"]


def test_a_pair_that_keeps_failing_is_switched_off_with_an_event(
    runtime: Runtime, journal: Journal
) -> None:
    action = HealingAction(error_code="DiskFull", action_script="spill_less", success_floor=0.5)
    with runtime.catalog.change(actor="test") as change:
        change.put([action])
    uses = []
    with journal.writing() as connection:
        for number in range(5):
            used = HealingUse(
                use_id=f"u{number}",
                error_code="DiskFull",
                remedy="spill_less",
                outcome=RemedyOutcome.HELPED.value if number == 0 else RemedyOutcome.FAILED.value,
            )
            uses.append(healing.use(journal, used, connection=connection))
    (off,) = success_floor.disable_failing_remedies(runtime, uses)
    assert off.action == "spill_less"
    row = runtime.catalog.snapshot().table(HealingAction)[("DiskFull",)]
    assert row.enabled is False
    (event,) = journal.read(kinds=("PairSwitchedOff",))
    assert (event.error_code, event.facts["rate"]) == ("DiskFull", 0.2)
    assert success_floor.disable_failing_remedies(runtime, uses) == []
