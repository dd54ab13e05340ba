"""A healing row has a setting that its remedy does not know, or a value of the wrong type."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.retries import HealingAction, HealingStep
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.checks.settings import CheckSetting
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.integrity.remedies import (
    ONLY_WHERE_ALLOWED,
    kind_of,
    loosening,
    pairs,
    settings_of,
)

#: The setting that every row may have: the error codes whose remedies are tried next.
_THEN = "then"


@catalog_rule(FindingSeverity.ERROR, reads=(HealingAction, HealingStep))
def bad_remedy_settings(rows: CatalogRows) -> Iterator[FoundProblem]:
    for row in pairs(rows):
        if not row.settings:
            continue
        known = settings_of(kind_of(str(row.action_script)) or "")
        if known is None:
            continue
        whose = f"the remedy '{row.action_script}' of {row.error_code}"
        has = f"It has {', '.join(known)}." if known else "It has none."
        for name, value in row.settings.items():
            if name == _THEN or (name == ONLY_WHERE_ALLOWED and row.action_script in loosening()):
                if name == ONLY_WHERE_ALLOWED and not isinstance(value, bool):
                    wrong = f"'{str(value)[:100]}' is no {name} of {whose}."
                    yield FoundProblem(row, wrong, "It takes true or false.")
                continue
            if name not in known:
                wrong = f"There is no setting '{name}' of {whose}."
                yield FoundProblem(row, wrong, did_you_mean(name, known) + has)
                continue
            setting = CheckSetting(name=name, type=known[name], default=None, is_required=False)
            if not setting.takes(value):
                wrong = f"'{str(value)[:100]}' is no {name} of {whose}."
                yield FoundProblem(row, wrong, f"It takes {setting.kind}.")
