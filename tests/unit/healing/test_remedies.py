"""Every built-in remedy decides what its cases say."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_type_hints

import pytest
import yaml

from goldsmith.catalog.defaults import shipped
from goldsmith.catalog.retries import HealingAction, HealingStep
from goldsmith.healing.failure import Failure
from goldsmith.healing.remedy import REMEDIES, BadRemedySettings
from goldsmith.planning.integrity import remedies

CASES = Path(__file__).parents[2] / "cases" / "healing"
TRIED = [
    pytest.param(file.stem, case, id=f"{file.stem}: {case['says']}")
    for file in sorted(CASES.glob("*.yaml"))
    for case in yaml.safe_load(file.read_text("utf-8"))
]


@pytest.mark.parametrize(("name", "case"), TRIED)
def test_a_remedy_decides(name: str, case: dict[str, Any]) -> None:
    decision = REMEDIES.get(name)(Failure(**case["failure"]), case.get("settings", {}), None)
    if case["do"] is None:
        assert decision is None
        return
    assert decision is not None
    assert decision.do == case["do"]
    assert decision.because
    after = None if decision.after is None else decision.after.total_seconds()
    assert after == case.get("after")
    assert list(decision.files_aside) == case.get("files_aside", [])
    if "adjust" in case:
        assert dict(decision.adjust) == case["adjust"]
    assert dict(decision.adjust).items() >= case.get("adjust_has", {}).items()
    assert dict(decision.adjust.get("spark", {})).items() >= case.get("spark_has", {}).items()


def test_every_shipped_pair_names_a_remedy() -> None:
    pairs = [row for row in shipped() if isinstance(row, HealingAction | HealingStep)]
    assert {row.action_script for row in pairs} <= set(REMEDIES.names())


def test_a_setting_nobody_knows_is_refused() -> None:
    with pytest.raises(BadRemedySettings, match="limitt"):
        REMEDIES.get("retry_later")(Failure(code="SourceUnreachable"), {"limitt": 1}, None)


def test_what_rows_may_say_of_remedies_is_what_remedies_take() -> None:
    """`catalog check` may not import healing, which is above it: it reads the declarations."""
    ours = {
        name: {s: get_type_hints(remedy.function)[s] for s in remedy.settings if s != "action"}
        for name, remedy in REMEDIES.all()
    }
    assert ours == {name: remedies.settings_of(name) for name in REMEDIES.names()}
