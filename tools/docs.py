"""Writes the pages of the documentation that are made from definitions, or says which are stale.

python tools/docs.py           writes docs/metadata.md, docs/options.md and docs/reference/*.md
python tools/docs.py --check   exits 1 where a page is not what the definitions say
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from pages import checks, commands, errors, findings, metadata, options, settings

ROOT = Path(__file__).resolve().parents[1]

PAGES: Mapping[str, Callable[[], str]] = {
    "docs/metadata.md": metadata.page,
    "docs/options.md": options.page,
    "docs/reference/cli.md": commands.page,
    "docs/reference/checks.md": checks.page,
    "docs/reference/findings.md": findings.page,
    "docs/reference/errors.md": errors.page,
    "docs/reference/settings.md": settings.page,
}


def stale() -> dict[Path, str]:
    """The pages that are missing or old, with what they ought to hold."""
    made = {ROOT / name: make() for name, make in PAGES.items()}
    return {file: text for file, text in made.items() if _held(file) != text}


def _held(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.exists() else None


def main(arguments: list[str]) -> int:
    old = stale()
    names = ", ".join(str(file.relative_to(ROOT)) for file in old)
    if "--check" in arguments:
        if old:
            print(f"Stale: {names}. `make docs` writes them again.", file=sys.stderr)
        return 1 if old else 0
    for file, text in old.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    print(f"Wrote {names}." if old else "Every page is current.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
