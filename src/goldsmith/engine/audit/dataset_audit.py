"""Audit a dataset as it is: evaluate checks without running a stage.

Only the columns that the checks name are read, from one snapshot. The journal stores the verdicts
like those of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.checks.context import Context
from goldsmith.checks.evaluate import Evaluation
from goldsmith.checks.parquet_files import ParquetFiles
from goldsmith.checks.planned_check import PlannedCheck
from goldsmith.checks.profile import ColumnProfile, profile
from goldsmith.checks.summary import Summary
from goldsmith.engine import ledger
from goldsmith.engine.attempt import WorkerResources
from goldsmith.engine.audit import judge, samples
from goldsmith.engine.audit.check_context import context_of, scratch_of
from goldsmith.engine.personal_data import masked_outcomes, personal_of
from goldsmith.engine.read import inputs
from goldsmith.engine.session.spark_session import own_session
from goldsmith.engine.write.destinations.destination import Samples
from goldsmith.errors import GoldsmithError, one_of
from goldsmith.journal.ids import new_id
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.stage_context import Dataset, dataset_of
from goldsmith.storage import staging
from goldsmith.storage.files import list_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(eq=False, kw_only=True)
class NoChecks(GoldsmithError):
    """No stage that writes the dataset names a rule set, and the command names none."""

    dataset: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"No rule set speaks of '{self.dataset}'."

    @property
    def hint(self) -> str:
        return f"Name one with --rules. Known: {one_of(self.known)}."


@dataclass(eq=False, kw_only=True)
class UnknownRuleSet(GoldsmithError):
    """A command names a rule set that the catalog does not have."""

    rule_set_id: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"There is no rule set '{self.rule_set_id}'."

    @property
    def hint(self) -> str:
        return f"Known: {one_of(self.known)}."


@dataclass(frozen=True, kw_only=True, slots=True)
class Audit:
    """The result of the audit of a dataset."""

    audit_id: str
    dataset_id: str
    summary: Summary
    samples: Samples


def evaluate_checks(
    rows: DataFrame,
    checks: Sequence[PlannedCheck],
    context: Context,
    *,
    stored: ParquetFiles | None = None,
    audit_id: str = "",
    dataset_id: str | None = None,
    hide: frozenset[str] = frozenset(),
) -> tuple[Summary, judge.Audited]:
    """Evaluate checks on rows: one pass for most of them, a few jobs for the others."""
    evaluation = Evaluation(rows.schema, checks, context)
    evaluation.resolve_expressions(rows)
    found = evaluation.measure_all(rows, stored)
    outcomes = masked_outcomes(evaluation.outcomes(found.measured, found.beside), hide)
    seen = samples.sample_broken_rows(evaluation, rows, found.measured, found.beside, {}, hide=hide)
    seconds = {
        check.index: found.beside_seconds if check.index in found.beside else found.pass_seconds
        for check in evaluation.checks
    }
    marks = {"stage_run_id": audit_id, "dataset_id": dataset_id}
    judged = judge.judge(outcomes, marks=marks, samples=seen, seconds=seconds, rows_go=False)
    return Summary.of(outcomes, context.now), judged


def audit_dataset(
    resources: WorkerResources, rows: CatalogRows, dataset_id: str, *, rule_sets: Sequence[str] = ()
) -> Audit:
    """Evaluate a dataset's checks on its current rows and store the verdicts."""
    dataset = dataset_of(dataset_id, rows)
    selection = _rules(dataset, rows, rule_sets)
    audit_id = new_id("audit").replace("-", "_")
    scratch = scratch_of(resources, audit_id)
    now = datetime.now(UTC)
    with own_session(resources.spark()) as spark:
        context = context_of(spark, rows, resources, now=now, target_id=dataset_id, scratch=scratch)
        checks: list[PlannedCheck] = []
        for rules in selection:
            checks += judge.planned(rules, context, first=len(checks))
        try:
            found = inputs.all_rows(spark, dataset, resources, scratch)
            summary, judged = evaluate_checks(
                found.rows,
                checks,
                context,
                stored=found.stored,
                audit_id=audit_id,
                dataset_id=dataset_id,
                hide=personal_of(dataset, rows),
            )
        finally:
            staging.remove(resources.storage, scratch)
    with resources.journal.writing() as connection:
        ledger.keep_verdicts(connection, judged.verdicts)
    sample_rows = {verdict.place: verdict.sample for verdict in judged.verdicts if verdict.sample}
    return Audit(audit_id=audit_id, dataset_id=dataset_id, summary=summary, samples=sample_rows)


def profile_dataset(
    resources: WorkerResources, rows: CatalogRows, dataset_id: str
) -> list[ColumnProfile]:
    """Profile the current rows of a dataset; values of personal columns are left out."""
    dataset = dataset_of(dataset_id, rows)
    scratch = scratch_of(resources, new_id("profile"))
    try:
        with own_session(resources.spark()) as spark:
            found = profile(inputs.all_rows(spark, dataset, resources, scratch).rows)
    finally:
        staging.remove(resources.storage, scratch)
    hide = personal_of(dataset, rows)
    heads = {column.partition(".")[0] for column in hide}
    return [
        replace(column_profile, min=None, max=None, top=(), quantiles=None, mean=None)
        if column_profile.name.lower() in heads
        else column_profile
        for column_profile in found
    ]


def sample_dataset(
    resources: WorkerResources, rows: CatalogRows, dataset_id: str, *, most: int
) -> list[dict[str, Any]]:
    """Some rows of raw files or of a warehouse table, as a stage would read them."""
    dataset = dataset_of(dataset_id, rows)
    if not _is_there(dataset, resources):
        return []
    scratch = scratch_of(resources, new_id("sample"))
    try:
        with own_session(resources.spark()) as spark:
            found = inputs.all_rows(spark, dataset, resources, scratch).rows.limit(most).collect()
    finally:
        staging.remove(resources.storage, scratch)
    return [row.asDict(recursive=True) for row in found]


def _is_there(dataset: Dataset, resources: WorkerResources) -> bool:
    """Whether the dataset has a table or a file to read."""
    if dataset_kind(dataset) == "files":
        return bool(list_files(dataset.location or "", resources.storage))
    target = dataset.target
    assert target is not None  # a dataset that is no files is a target
    location = target.location or target.target_id
    return resources.warehouse(str(target.type)).columns(location) is not None


def _rules(dataset: Dataset, rows: CatalogRows, rule_set_ids: Sequence[str]) -> list[RuleSet]:
    known = rows.table(RuleSet)
    names = rule_set_ids or list(
        dict.fromkeys(
            stage.validation_set_id for stage in dataset.writers if stage.validation_set_id
        )
    )
    listed = tuple(sorted(key[0] for key in known))
    if not names:
        raise NoChecks(dataset=dataset.dataset_id, known=listed)
    found = []
    for name in names:
        rules = known.get((name,))
        if rules is None:
            raise UnknownRuleSet(rule_set_id=name, known=listed)
        found.append(rules)
    return found
