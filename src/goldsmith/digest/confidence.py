"""How often answers of each evidence class were exact.

Measured over single-class scripts of the public test suites of sqllineage, collate-sqllineage and
OpenLineage SQL (1,045 cases, tables or columns exact by their own conventions). A class without
enough cases has no number.
"""

from __future__ import annotations

from typing import NamedTuple

from goldsmith.digest.values import EvidenceClass


class MeasuredRate(NamedTuple):
    """Exact answers among the cases of a class."""

    exact: int
    cases: int


MEASURED = {
    EvidenceClass.ALL_SHAPES: MeasuredRate(85, 93),
    EvidenceClass.UNAMBIGUOUS: MeasuredRate(884, 909),
    EvidenceClass.AMBIGUOUS: MeasuredRate(21, 23),
    EvidenceClass.OTHER_DIALECT: MeasuredRate(9, 9),
    EvidenceClass.TOKENS: MeasuredRate(8, 10),
}
#: With fewer cases a rate means nothing: one case more is added as not exact.
_FEW = 30
#: Chosen, not measured: elided text (`...`) may hide a join or a filter.
ELIDED = 0.5


def confidence(evidence: EvidenceClass, *, elided: bool = False) -> float | None:
    """The measured share of exact answers; half of it where text is elided; None if unmeasured."""
    rate = MEASURED.get(evidence)
    if rate is None:
        return 0.0 if evidence is EvidenceClass.NONE else None
    cases = rate.cases + (1 if rate.cases < _FEW else 0)
    return round(rate.exact / cases * (ELIDED if elided else 1.0), 2)
