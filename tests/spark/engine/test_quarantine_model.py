"""The invariant of the quarantine over random sequences of commands, some of them killed.

A row that was read is in exactly one of: published, quarantined (live), dropped, discarded; at
every moment and after every command. The model is plain Python that knows nothing of stage runs
but their order. Two stages write the target, each from files of its own. A command that dies is
given up, or its request is carried out again by the next worker; or it fails and is retried.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from goldsmith.engine import faults
from goldsmith.engine.maintenance import maintenance
from goldsmith.engine.quarantine import quarantine_store
from goldsmith.planning.lake import history
from goldsmith.worker import loop
from spark.engine.conftest import _NUMBERS, Bench
from spark.engine.healing import run_until_over
from spark.engine.test_quarantine import POSITIVE, ruled
from spark.engine.test_upkeep import dataset, plan

CORRECTION = "SELECT * EXCEPT (amount), abs(amount) AS amount FROM quarantined"
CHECKS = (
    {**POSITIVE, "on_fail": "quarantine"},
    {"type": "expression", "sql": "amount <> 0", "on_fail": "drop"},
)
DAYS = ("2026-01-01", "2026-01-02")
#: Where a command dies, and whether it was done by then.
POINTS = {
    "run": {
        "started": False,
        "broken-quarantined": False,
        "before-publish": False,
        "published": True,
    },
    "replay": {"replay-marked": False, "before-publish": False, "inputs-counted": True},
    "restore": {"restore-intended": False, "rolled-back": True},
    "discard": {"rows-discarded": True},
}
SECOND = """
retry_policies: [{retry_id: at_once, max_retries: 4, backoff_sec: 0}]
pipelines: [{pipeline_id: "@", default_retry_id: at_once}]
stages:
  - {pipeline_id: "@", stage_order: 2, source_id: "more_@", target_id: "bronze_@",
     layer: bronze, validation_set_id: "rule_@"}
sources:
  - source_id: "more_@"
    s3_path: "s3://raw/@_more/"
    file_format: jsonl
    declared_schema: "id BIGINT, amount BIGINT, at TIMESTAMP"
"""


class Killed(BaseException):
    """What SIGKILL is to a process; nothing of ours catches it."""


#: Where a command dies, by a number, and what follows: given up, resumed or retried.
Die = tuple[int, str] | None


@dataclass
class Dying:
    """A command that may die once."""

    point: str | None = None
    how: str = "given up"
    died: bool = False
    #: What was asked for is done.
    is_done: bool = True


def stage_of(which: int) -> int:
    """The stage that reads a file, by the file's number."""
    return 2 if which == 3 else 1


#: A row of the quarantine: who quarantined it, and its id.
Entry = tuple[int, int]


@dataclass
class State:
    """What the target holds: by file, which version was read and where each of its rows is."""

    version: dict[str, int] = field(default_factory=dict)
    published: dict[str, set[int]] = field(default_factory=dict)
    #: By file: the row's id, and its entry in the quarantine.
    quarantined: dict[str, dict[int, Entry]] = field(default_factory=dict)


@dataclass
class Model:
    """Files as they are, and every state the target could go back to."""

    files: dict[str, tuple[int, list[tuple[int, int]]]] = field(default_factory=dict)
    states: list[tuple[str, State]] = field(default_factory=list)
    discarded: set[Entry] = field(default_factory=set)
    _stage_runs: Iterator[int] = field(default_factory=itertools.count)

    @property
    def now(self) -> State:
        return self.states[-1][1] if self.states else State()

    def live(self) -> dict[int, tuple[str, Entry]]:
        return {
            number: (file, entry)
            for file, entries in self.now.quarantined.items()
            for number, entry in entries.items()
            if entry not in self.discarded
        }

    def published(self) -> list[int]:
        return sorted(number for rows in self.now.published.values() for number in rows)

    def of(self, stage: int) -> list[str]:
        return [file for file in self.files if file.startswith(f"{stage}/")]

    def new(self, stage: int) -> list[str]:
        known = self.now.version
        return [file for file in self.of(stage) if known.get(file) != self.files[file][0]]

    def read(self, files: list[str], *, anew: bool = False) -> State:
        """The state after a stage run that reads these files."""
        state = State() if anew else copy.deepcopy(self.now)
        mine = next(self._stage_runs)
        for file in files:
            version, rows = self.files[file]
            state.version[file] = version
            state.published[file] = {number for number, amount in rows if amount > 0}
            state.quarantined[file] = {n: (mine, n) for n, amount in rows if amount < 0}
        return state

    def replay(self, numbers: list[int], *, mended: bool) -> State:
        """The state after a replay of live rows."""
        state, live = copy.deepcopy(self.now), self.live()
        mine = next(self._stage_runs)
        for number in numbers:
            file, _entry = live[number]
            if mended:
                del state.quarantined[file][number]
                state.published[file].add(number)
            else:
                state.quarantined[file][number] = (mine, number)
        return state


@dataclass
class World:
    """The model beside the real thing."""

    bench: Bench
    folder: Path
    model: Model = field(default_factory=Model)
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def bring(self, which: int, signs: list[int]) -> None:
        """Write a file, or write it anew: amounts above, below or at zero."""
        file = f"{stage_of(which)}/{DAYS[which % len(DAYS)]}/{which}.jsonl"
        rows = [(number, sign * number) for sign in signs for number in [next(self.ids)]]
        version = self.model.files.get(file, (0, []))[0] + 1
        folder = "" if stage_of(which) == 1 else "_more"
        folder = self.bench.runtime.settings.address(f"s3://raw/{self.bench.tag}{folder}/")
        path = Path(folder) / file[2:]
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps({"id": number, "amount": amount}) for number, amount in rows]
        # The size says that it was written anew, whatever the clock's resolution.
        path.write_text("\n".join(lines) + "\n" * version)
        self.model.files[file] = (version, rows)

    def run(self, die: Die, stage: int, **options: Any) -> None:
        model = self.model
        files = model.new(stage)
        if "from" in options:
            files = [file for file in model.of(stage) if file[2:].startswith(options["from"][:10])]
        if files:
            self._stage("run", die, f"stage:@-{stage}", model.read(files), **options)

    def full_refresh(self, die: Die) -> None:
        """Both stages, which is two publishes; killed after the first, the second waits."""
        first = self.model.read(self.model.of(1), anew=True)
        both = self.model.read(list(self.model.files), anew=True)
        self._stage("run", die, "@", both, killed=first, full_refresh=True)

    def replay(
        self, die: Die, stage: int, *, mended: bool, some: int | None, by_file: bool
    ) -> None:
        every = self.model.live()
        live = {n: one for n, one in every.items() if one[0].startswith(f"{stage}/")}
        numbers = sorted(live) if some is None else sorted(live)[some % max(len(live), 1) :][:1]
        if not numbers:
            return
        sql = CORRECTION if mended else "SELECT * FROM quarantined"
        listed = ", ".join(str(number) for number in numbers)
        replay: dict[str, Any] = {"sql": f"{sql} WHERE id IN ({listed})"}
        if by_file:
            replay = {"file": str(self._file_of(numbers, mended=mended))}
        elif some is None and not mended:
            replay = {"sql": None}
        after = self.model.replay(numbers, mended=mended)
        self._stage("replay", die, f"stage:@-{stage}", after, replay=replay)

    def _file_of(self, numbers: list[int], *, mended: bool) -> Path:
        file = self.folder / "mended.jsonl"
        rows = [row for row in self.shown() if row["row"]["id"] in numbers]
        lines = [
            {
                "_id": row["id"],
                "id": row["row"]["id"],
                "amount": abs(row["row"]["amount"]) if mended else row["row"]["amount"],
            }
            for row in rows
        ]
        file.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
        return file

    def _stage(
        self,
        what: str,
        die: Die,
        selection: str,
        after: State,
        *,
        killed: State | None = None,
        **options: Any,
    ) -> None:
        """Ask for a selection and see it through; the state after it, or after its last kill."""
        bench = self.bench
        run_options = loop.submit_request(
            bench.runtime, [selection.replace("@", bench.tag)], options, "test"
        )
        with self._dying(what, die) as dying:
            run_until_over(bench, run_options)
        if dying.died and dying.how == "resumed":
            bench.sql(
                "UPDATE requests SET status = 'waiting', worker = NULL WHERE request_id = ?",
                run_options.request_id,
            )
            run_until_over(bench, run_options)
        elif dying.died and dying.how == "given up":
            # The next command would carry out first what a dead process was asked for.
            left = "status IN ('waiting', 'running')"
            bench.sql(f"UPDATE requests SET status = 'cancelled' WHERE {left}")
            if not dying.is_done:
                return
            after = killed or after
        current = history(dataset(bench, "bronze"), bench.runtime.storage).current
        self.model.states.append((str(current), after))

    def restore(self, die: Die, back: int) -> None:
        states = self.model.states
        if len(states) < 2:
            return
        to = back % (len(states) - 1)
        # A dead stage run that nobody has settled would be: the restore looks again then.
        meant = plan(self.bench, "bronze", states[to][0])
        with self._dying("restore", die) as dying:
            maintenance.restore_table(self.bench.resources(), meant, "ann")
        if dying.is_done:
            del states[to + 1 :]

    def discard(self, die: Die, which: int) -> None:
        live = self.model.live()
        if not live:
            return
        number = sorted(live)[which % len(live)]
        [mine] = [row["id"] for row in self.shown() if row["row"]["id"] == number]
        runtime, resources = self.bench.runtime, self.bench.resources()
        context = runtime.catalog_indexer.catalog_index().stages[f"{self.bench.tag}-1"]
        with self._dying("discard", die) as dying, maintenance.settled(resources, context):
            quarantine_store.discard(
                runtime.storage, runtime.journal, self.dataset, ids=[mine], actor="ann"
            )
        if dying.is_done:
            self.model.discarded.add(live[number][1])

    @contextmanager
    def _dying(self, what: str, die: Die) -> Iterator[Dying]:
        """Die or fail once at a point of a command."""
        dying = Dying()
        if die is not None:
            points = POINTS[what]
            dying.point = sorted(points)[die[0] % len(points)]
            dying.how = die[1] if what in ("run", "replay") else "given up"

        def reach(name: str) -> None:
            if name == dying.point and not dying.died:
                dying.died = True
                dying.is_done = POINTS[what][name]
                raise ConnectionResetError if dying.how == "retried" else Killed(name)

        before, faults.reach = faults.reach, reach
        try:
            yield dying
        except Killed:
            pass
        finally:
            faults.reach = before

    @property
    def dataset(self) -> str:
        return f"bronze_{self.bench.tag}"

    def shown(self) -> list[dict[str, Any]]:
        runtime = self.bench.runtime
        try:
            return quarantine_store.rows_of(
                runtime.storage,
                runtime.journal,
                self.dataset,
                run_id=None,
                most=1000,
                unpublished=False,
                hide=frozenset(),
                histories=self._histories,
            )
        except quarantine_store.NoQuarantine:
            return []

    def _histories(self, _name: str) -> Any:
        return partial(history, dataset(self.bench, "bronze"), self.bench.runtime.storage)

    def check(self, after: tuple[Any, ...]) -> None:
        """Every row the model knows is where the model says, once."""
        runtime = self.bench.runtime
        shown = self.shown()
        assert sorted(row["row"]["id"] for row in shown) == sorted(self.model.live()), after
        held = quarantine_store.quarantined_rows(
            runtime.storage, runtime.journal, [self.dataset], self._histories
        )
        assert sum(quarantined.rows for quarantined in held) == len(shown)
        if self.model.states:
            table = self.bench.spark.table(f"lake.bronze.{self.dataset}")
            found = sorted(row["id"] for row in table.select("id").collect())
            assert found == self.model.published(), after


amounts = st.lists(st.sampled_from([1, -1, -1, 0]), min_size=1, max_size=3)
number = st.integers(0, 7)
hows = st.sampled_from(["given up", "given up", "resumed", "retried"])
die = st.none() | st.none() | st.tuples(number, hows)
stage = st.sampled_from([1, 1, 2])
commands = st.one_of(
    # First what costs least: Hypothesis begins with a sequence of nothing else.
    st.tuples(st.just("discard"), die, number),
    st.tuples(st.just("bring"), st.integers(0, 3), amounts),
    st.tuples(st.just("run"), die, stage),
    st.tuples(st.just("full refresh"), die),
    st.tuples(st.just("backfill"), die, stage, st.sampled_from(DAYS)),
    st.tuples(st.just("replay"), die, stage, st.booleans(), st.none() | number, st.booleans()),
    st.tuples(st.just("replay"), die, stage, st.just(True), st.none() | number, st.just(False)),
    st.tuples(st.just("restore"), die, number),
)


def carry_out(world: World, command: tuple[Any, ...]) -> None:
    match command:
        case ("bring", which, signs):
            world.bring(which, signs)
            world.run(None, stage_of(which))
        case ("run", die, stage):
            world.run(die, stage)
        case ("full refresh", die):
            world.full_refresh(die)
        case ("backfill", die, stage, day):
            following = f"{day[:-1]}{int(day[-1]) + 1}"
            window = {"from": f"{day}T00:00:00+00:00", "to": f"{following}T00:00:00+00:00"}
            world.run(die, stage, **window)
        case ("replay", die, stage, mended, some, by_file):
            world.replay(die, stage, mended=mended, some=some, by_file=by_file)
        case ("restore", die, back):
            world.restore(die, back)
        case ("discard", die, which):
            world.discard(die, which)


def go_through(bench: Bench, folder: Path, sequence: list[tuple[Any, ...]]) -> None:
    """One sequence, on tables of its own."""
    mine = Bench(runtime=bench.runtime, spark=bench.spark, tag=f"m{next(_NUMBERS)}")
    ruled(mine, *CHECKS)
    mine.apply(SECOND)
    world = World(bench=mine, folder=folder)
    world.bring(0, [1, -1, 0, -1])
    world.bring(1, [-1, 1])
    world.bring(3, [-1, 1])
    for command in [("run", None, 1), ("run", None, 2), *sequence]:
        carry_out(world, command)
        world.check(command)


#: Every way to die, and what one stage may do to the rows of another.
HISTORY: list[tuple[Any, ...]] = [
    ("replay", (1, "resumed"), 2, False, None, False),
    ("replay", (0, "retried"), 1, True, 0, False),
    ("backfill", (2, "retried"), 2, DAYS[1]),
    ("full refresh", (2, "given up")),
    ("run", (1, "resumed"), 2),
    ("restore", (1, "given up"), 3),
    ("discard", (0, "given up"), 1),
]


_ANYTHING = settings(
    max_examples=1,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@_ANYTHING
@example(sequence=HISTORY)
@given(sequence=st.lists(commands, min_size=6, max_size=7))
def test_a_row_is_in_one_place_whatever_is_done_and_killed(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory, sequence: list[tuple[Any, ...]]
) -> None:
    go_through(bench, tmp_path_factory.mktemp("mended"), sequence)


@pytest.mark.soak
@settings(_ANYTHING, max_examples=60)
@given(sequence=st.lists(commands, min_size=8, max_size=20))
def test_a_row_is_in_one_place_in_long_sequences_too(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory, sequence: list[tuple[Any, ...]]
) -> None:
    go_through(bench, tmp_path_factory.mktemp("mended"), sequence)
