"""A stage's SQL cannot be run: it does not parse, or it is not one SELECT."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import Gravity, Wrong, stage_rule
from goldsmith.planning.integrity.known import is_dialect
from goldsmith.planning.neighbourhood import Neighbourhood


@stage_rule(Gravity.ERROR)
def sql_does_not_parse(near: Neighbourhood) -> Iterator[Wrong]:
    facts = near.facts
    if facts is None or facts.error is None or not is_dialect(near.words.dialect or ""):
        return
    own = near.stage.transform_sql is not None or near.edge is None
    yield Wrong(
        near.stage if own or near.edge is None else near.edge,
        f"The SQL of stage {near.stage_id} cannot be run: line {facts.line or 1}: {facts.error}.",
        f"Correct {'transform_sql' if own else 'transformation_sql of its edge'}; it is read as"
        f" {near.words.dialect or 'spark'} SQL (transform_dialect).",
    )
