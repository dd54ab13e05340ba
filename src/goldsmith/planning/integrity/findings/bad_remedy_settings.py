"""A pair gives its remedy a setting it does not have, or a value of the wrong type."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.retries import HealingAction, HealingStep
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.checks.settings import Setting
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.integrity.remedies import kind_of, pairs, settings_of

#: Every pair may say which codes come after its own.
_THEN = "then"


@catalog_rule(Gravity.ERROR, reads=(HealingAction, HealingStep))
def bad_remedy_settings(rows: Snapshot) -> Iterator[Wrong]:
    for row in pairs(rows):
        known = settings_of(kind_of(str(row.action_script)) or "")
        if known is None:
            continue
        whose = f"the remedy '{row.action_script}' of {row.error_code}"
        has = f"It has {', '.join(known)}." if known else "It has none."
        for name, value in row.settings.items():
            if name == _THEN:
                continue
            if name not in known:
                wrong = f"There is no setting '{name}' of {whose}."
                yield Wrong(row, wrong, did_you_mean(name, known) + has)
                continue
            setting = Setting(name=name, type=known[name], default=None, is_required=False)
            if not setting.takes(value):
                wrong = f"'{str(value)[:100]}' is no {name} of {whose}."
                yield Wrong(row, wrong, f"It takes {setting.kind}.")
