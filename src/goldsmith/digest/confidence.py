"""How often answers of each evidence class were exact, as measured on the project's own cases.

`tests/unit/digest/test_cases.py` measures them again; a class below its number fails the test.
"""

from __future__ import annotations

from goldsmith.digest.values import Evidence

#: Share of exact answers.
MEASURED = {
    Evidence.ALL_SHAPES: 0.99,
    Evidence.UNAMBIGUOUS: 0.97,
    Evidence.AMBIGUOUS: 0.90,
    Evidence.OTHER_DIALECT: 0.90,
    Evidence.TOKENS: 0.80,
    Evidence.DECLARED: 0.80,
    Evidence.NONE: 0.0,
}
#: Elided text (`...`) may hide a join or a filter.
ELIDED = 0.5


def confidence(evidence: Evidence, *, elided: bool = False) -> float:
    """The measured share of exact answers of a class; half of it where text is elided."""
    return round(MEASURED[evidence] * (ELIDED if elided else 1.0), 2)
