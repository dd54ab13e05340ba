"""What a stage writes and what is measured on the way: its rows fitted, its checks put to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from goldsmith.checks.context import Context
from goldsmith.checks.evaluate import Evaluation, evaluate
from goldsmith.checks.outcome import Outcome, raised
from goldsmith.checks.planned import PlannedCheck
from goldsmith.engine import audit, samples
from goldsmith.engine.destinations.destination import Destination, Order
from goldsmith.engine.inputs import Chosen
from goldsmith.engine.quarantine import Keeper
from goldsmith.engine.schema import fit
from goldsmith.engine.split import Split
from goldsmith.engine.surroundings import surroundings
from goldsmith.engine.work import Tools, Work
from goldsmith.engine.writers.scd2 import with_validity

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, kw_only=True, slots=True)
class Writing:
    """An order to a destination, and the checks that judge what comes of it."""

    order: Order
    #: The checks of the rows that are written.
    evaluation: Evaluation
    #: The checks of the table as it would be published.
    of_table: tuple[PlannedCheck, ...]
    context: Context
    #: Checks of those that cannot be put to such rows at all.
    raising: int

    def some_check_raises(self) -> bool:
        """Find the checks that cannot be carried out on some row, after a write that failed."""
        rows = self.order.fitted.rows
        if len(self.evaluation.errors) > self.raising:  # met while broken rows were kept
            return True
        try:
            rows.write.format("noop").mode("overwrite").save()
        except Exception:  # it is the rows themselves
            return False
        self.evaluation.measure(rows)
        return len(self.evaluation.errors) > self.raising

    def outcomes_of_table(self, destination: Destination) -> list[Outcome]:
        """What the checks of the whole table say; one that cannot be asked failed."""
        try:
            rows = destination.as_published(self.order)
        except Exception as error:  # a destination that cannot show it
            return [raised(one, error) for one in self.of_table]
        return evaluate(rows, self.of_table, self.context)


def prepare(
    spark: SparkSession,
    work: Work,
    tools: Tools,
    destination: Destination,
    rows: DataFrame,
    chosen: Chosen,
) -> Writing:
    """What is to be written, fitted to the target, with what is to be measured on the way."""
    near, stage, words = work.near, work.near.stage, work.near.words
    target = str(stage.target_id)
    if words.write_mode == "scd2":
        rows = with_validity(rows, stage.watermark_column or "_ingested_at")
    before = destination.schema(rows)
    fitted = fit(rows, before, words.schema_policy, target=target)
    context = surroundings(spark, work, tools, chosen, dataset_id=target, schema_before=before)
    checks = audit.planned(near.rules, context)
    batch = [one for one in checks if one.scope == "batch"]
    evaluation = Evaluation(fitted.rows.drop("_discard").schema, batch, context)
    evaluation.prove(fitted.rows)
    split = Split(evaluation=evaluation, discard=fitted.discard)
    keeper = keeper_of(work, tools)
    hide = samples.personal(near.target.target if near.target is not None else None)
    order = Order(
        stage_run_id=work.stage_run_id,
        fitted=fitted,
        mode=words.write_mode,
        keys=stage.keys,
        watermark=stage.watermark_column,
        partition_by=stage.partition_by,
        options=stage.options,
        split=split,
        measure_beside=evaluation.measure_beside if audit.needs_pass(batch) else None,
        keep_broken=lambda broken, repeats: keeper.keep_broken(broken, split, repeats),
        look=partial(samples.look, evaluation, hide=hide),
        from_scratch=chosen.starts_over,
        replaced_files=chosen.rewritten,
        replaced_rows=chosen.rows_of,
    )
    return Writing(
        order=order,
        evaluation=evaluation,
        of_table=tuple(one for one in checks if one.scope != "batch"),
        context=context,
        raising=len(evaluation.errors),
    )


def keeper_of(work: Work, tools: Tools) -> Keeper:
    """Who keeps this stage run's rows aside."""
    return Keeper(
        places=tools.places,
        target_id=str(work.near.stage.target_id),
        stage_run_id=work.stage_run_id,
        run_id=work.run_id,
    )
