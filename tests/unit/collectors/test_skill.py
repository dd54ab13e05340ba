"""The folder that installs as a skill has what its first page promises."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from goldsmith.cli.push import push
from goldsmith.collectors.collector import WAREHOUSES

ROOT = Path(__file__).parents[3]


def test_the_skill_has_templates_commands_and_references(tmp_path: Path) -> None:
    folder = tmp_path / "skill"
    runpy.run_path(str(ROOT / "tools/skill.py"))["build"](folder)
    text = (folder / "SKILL.md").read_text("utf-8")
    assert text.startswith("---\nname: goldsmith-push\n")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) == 8
    assert [link for link in links if not (folder / link).is_file()] == []
    commands = set(re.findall(r"`goldsmith push ([a-z-]+)`", text))
    assert len(commands) == 11
    assert commands <= set(push.commands)
    for page in (folder / "references").iterdir():
        outside = re.findall(r"\]\((\.\./[^)]*)\)", page.read_text("utf-8"))
        assert outside == [], page
    templates = folder / "scripts/templates"
    assert {each.name for each in templates.iterdir()} == set(WAREHOUSES.shipped())
    for script in templates.rglob("*.py"):
        compile(script.read_text("utf-8"), script.name, "exec")
    assert (templates / "snowflake/collect_and_push_query_logs.py").is_file()
