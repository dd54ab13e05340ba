"""Build the skill: python tools/skill.py FOLDER

The folder gets SKILL.md, the reference pages of docs/push and the templates of every warehouse,
written by the same code as `goldsmith push build-…-collector`.
"""

from __future__ import annotations

import re
import shutil
import sys
from datetime import timedelta
from pathlib import Path

from goldsmith.assets.items import Flow
from goldsmith.collectors.collector import WAREHOUSES
from goldsmith.collectors.errors import FlowNotCollected
from goldsmith.collectors.patterns import TablePatterns
from goldsmith.collectors.scripts import ScriptRequest, write_scripts

ROOT = Path(__file__).resolve().parents[1]
REFERENCES = (
    *("prerequisites", "push-metadata", "push-lineage", "push-query-logs", "custom-lineage"),
    *("validation", "direct-http-api", "anomaly-detection"),
)
#: Links that lead out of the folder.
_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]*\)")


def build(folder: Path) -> None:
    """Write the skill into a new folder."""
    (folder / "references").mkdir(parents=True)
    shutil.copyfile(ROOT / "tools/skill/SKILL.md", folder / "SKILL.md")
    for name in REFERENCES:
        text = (ROOT / "docs/push" / f"{name}.md").read_text("utf-8")
        (folder / "references" / f"{name}.md").write_text(_OUTSIDE.sub(r"\1", text), "utf-8")
    for warehouse in WAREHOUSES.shipped():
        settings = WAREHOUSES.get(warehouse).settings
        for flow in Flow:
            request = ScriptRequest(
                warehouse=warehouse,
                flow=flow,
                settings={
                    setting.name: "CHANGE_ME"
                    for setting in settings
                    if setting.required and not setting.secret
                },
                patterns=TablePatterns(),
                only_volume=False,
                look_back=timedelta(hours=24),
                limit=50_000,
                command=f"build-{flow.value.removesuffix('s').replace('_', '-')}-collector "
                f"{warehouse}",
            )
            try:
                write_scripts(request, folder / "scripts/templates" / warehouse, overwrite=False)
            except FlowNotCollected:
                continue


if __name__ == "__main__":
    build(Path(sys.argv[1]))
