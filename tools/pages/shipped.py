"""The rows a fresh catalog has, for docs/metadata.md."""

from __future__ import annotations

import json
from typing import TypeVar

from goldsmith.catalog.defaults import shipped
from goldsmith.catalog.incidents import SeverityLevel
from goldsmith.catalog.profiles import Profile, ProfileSetting
from goldsmith.catalog.retries import HealingAction, HealingLimit, HealingStep, RetryPolicy
from goldsmith.catalog.rows import Row
from goldsmith.catalog.rules import RuleSet
from pages.markdown import code, table

R = TypeVar("R", bound=Row)


def listed() -> str:
    """Every shipped row, table by table."""
    others = {type(row) for row in shipped()} - {
        Profile,
        ProfileSetting,
        HealingAction,
        HealingStep,
        RetryPolicy,
        RuleSet,
        HealingLimit,
        SeverityLevel,
    }
    if others:
        raise LookupError(f"tools/pages/shipped.py does not list {others}")
    return "\n\n".join(
        (_profiles(), _retries(), _rule_sets(), _healing(), _limits(), _severities())
    )


def _of(kind: type[R]) -> list[R]:
    return [row for row in shipped() if isinstance(row, kind)]


def _profiles() -> str:
    profiles = _of(Profile)
    values = {(row.profile_id, row.setting_key): row.setting_value for row in _of(ProfileSetting)}
    names = list(dict.fromkeys(key for _, key in values))
    rows = [
        (code(name), *(_number(values.get((p.profile_id, name))) for p in profiles))
        for name in names
    ]
    descriptions = "\n".join(f"- {code(p.profile_id)}: {p.description}" for p in profiles)
    heads = ["profile_settings", *(p.profile_id for p in profiles)]
    return f"`profiles`, with their `profile_settings`:\n\n{descriptions}\n\n{table(heads, rows)}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _retries() -> str:
    rows = [
        (code(row.retry_id), str(row.max_retries), str(row.backoff_sec)) for row in _of(RetryPolicy)
    ]
    return "`retry_policies`:\n\n" + table(["retry_id", "max_retries", "backoff_sec"], rows)


def _rule_sets() -> str:
    rows = [
        (code(row.rule_set_id), row.description or "", code(json.dumps(list(row.check_def))))
        for row in _of(RuleSet)
    ]
    return "`validation_rules`:\n\n" + table(["rule_set_id", "promises", "check_def"], rows)


def _healing() -> str:
    remedies = {row.error_code: [row.action_script] for row in _of(HealingAction)}
    for step in sorted(_of(HealingStep), key=lambda step: step.step_order):
        remedies[step.error_code].append(step.action_script)
    rows = [
        (code(error), ", then ".join(code(name) for name in names))
        for error, names in remedies.items()
    ]
    heading = "`healing_actions`, and where there are several remedies `healing_steps`:"
    return f"{heading}\n\n{table(['error_code', 'remedies in order'], rows)}"


def _limits() -> str:
    rows = [(code(row.limit_name), _number(row.limit_value)) for row in _of(HealingLimit)]
    return "`healing_limits`:\n\n" + table(["limit_name", "limit_value"], rows)


def _severities() -> str:
    rows = [
        (row.severity, _number(row.older_than_hours), row.least_impact, row.description or "")
        for row in _of(SeverityLevel)
    ]
    heads = ["severity", "older_than_hours", "least_impact", "description"]
    return "`severities`:\n\n" + table(heads, rows)
