"""The audit of rows at rest: the checks of a stage without its write.

Only the columns the checks name are read, of one snapshot; verdicts go to the journal like those
of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.checks.context import Context
from goldsmith.checks.evaluate import Evaluation
from goldsmith.checks.native.stored import Stored
from goldsmith.checks.planned import PlannedCheck
from goldsmith.checks.profile import ColumnProfile, profile
from goldsmith.checks.summary import Summary
from goldsmith.engine import audit, inputs, ledger, samples, staging
from goldsmith.engine.destinations.destination import Samples
from goldsmith.engine.session import new_session
from goldsmith.engine.surroundings import context_of, scratch_of
from goldsmith.engine.work import Tools
from goldsmith.errors import GoldsmithError, one_of
from goldsmith.journal.ids import new_id
from goldsmith.planning.neighbourhood import Dataset, dataset_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(eq=False, kw_only=True)
class NoChecks(GoldsmithError):
    """No stage that writes the dataset names a rule set, and none was asked for."""

    dataset: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"No rule set speaks of '{self.dataset}'."

    @property
    def hint(self) -> str:
        return f"Name one with --rules. Known: {one_of(self.known)}."


@dataclass(eq=False, kw_only=True)
class UnknownRuleSet(GoldsmithError):
    """A rule set is asked for that the catalog does not have."""

    rule_set_id: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"There is no rule set '{self.rule_set_id}'."

    @property
    def hint(self) -> str:
        return f"Known: {one_of(self.known)}."


@dataclass(frozen=True, kw_only=True, slots=True)
class Audit:
    """What an audit at rest found."""

    audit_id: str
    dataset_id: str
    summary: Summary
    samples: Samples


def put_checks(
    rows: DataFrame,
    checks: Sequence[PlannedCheck],
    context: Context,
    *,
    stored: Stored | None = None,
    audit_id: str = "",
    dataset_id: str | None = None,
    hide: frozenset[str] = frozenset(),
) -> tuple[Summary, audit.Audited]:
    """Put checks to rows at rest: one pass for those that ride, few jobs for the others."""
    evaluation = Evaluation(rows.schema, checks, context)
    evaluation.prove(rows)
    found = evaluation.at_rest(rows, stored)
    outcomes = evaluation.outcomes(found.measured, found.beside)
    seen = samples.look(evaluation, rows, found.measured, found.beside, {}, hide=hide)
    seconds = {
        one.place: found.beside_seconds if one.place in found.beside else found.pass_seconds
        for one in evaluation.checks
    }
    marks = {"stage_run_id": audit_id, "dataset_id": dataset_id}
    judged = audit.judge(outcomes, marks=marks, samples=seen, seconds=seconds, rows_go=False)
    return Summary.of(outcomes, context.now), judged


def audit_dataset(
    tools: Tools, rows: Snapshot, dataset_id: str, *, rule_sets: Sequence[str] = ()
) -> Audit:
    """Put a dataset's checks to the rows it has now and write the verdicts down."""
    dataset = dataset_of(dataset_id, rows)
    chosen = _rules(dataset, rows, rule_sets)
    spark = new_session(tools.spark())
    audit_id = new_id("audit").replace("-", "_")
    scratch = scratch_of(tools, audit_id)
    now = datetime.now(UTC)
    context = context_of(spark, rows, tools, now=now, target_id=dataset_id, scratch=scratch)
    checks: list[PlannedCheck] = []
    for rules in chosen:
        checks += audit.planned(rules, context, first=len(checks))
    try:
        found = inputs.everything(spark, dataset, tools, scratch)
        hide = samples.personal(dataset.target)
        summary, judged = put_checks(
            found.rows,
            checks,
            context,
            stored=found.stored,
            audit_id=audit_id,
            dataset_id=dataset_id,
            hide=hide,
        )
    finally:
        staging.remove(tools.places, scratch)
    with tools.journal.writing() as connection:
        ledger.keep_verdicts(connection, judged.verdicts)
    looked = {one.place: one.sample for one in judged.verdicts if one.sample}
    return Audit(audit_id=audit_id, dataset_id=dataset_id, summary=summary, samples=looked)


def profile_dataset(tools: Tools, rows: Snapshot, dataset_id: str) -> list[ColumnProfile]:
    """Profile the rows a dataset has now; values of personal columns are left out."""
    dataset = dataset_of(dataset_id, rows)
    spark = new_session(tools.spark())
    scratch = scratch_of(tools, new_id("profile"))
    try:
        found = profile(inputs.everything(spark, dataset, tools, scratch).rows)
    finally:
        staging.remove(tools.places, scratch)
    hide = samples.personal(dataset.target)
    return [
        replace(one, min=None, max=None, top=(), quantiles=None, mean=None)
        if one.name.lower() in hide
        else one
        for one in found
    ]


def _rules(dataset: Dataset, rows: Snapshot, asked: Sequence[str]) -> list[RuleSet]:
    known = rows.table(RuleSet)
    names = asked or list(
        dict.fromkeys(one.validation_set_id for one in dataset.writers if one.validation_set_id)
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
