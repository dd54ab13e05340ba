"""What a stage says whose checks do not hold."""

from __future__ import annotations

from goldsmith.engine.audit.judge import CheckFailed


def test_what_failed_is_one_sentence() -> None:
    error = CheckFailed(target="silver", failures=("ok: The check raised.", "ok: id repeats"))
    assert str(error) == "'silver' was not published: ok: The check raised; ok: id repeats."
