"""The documentation is true: generated pages are current, links lead somewhere, SQL runs."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from goldsmith.catalog import bundle
from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.definitions import metadata
from goldsmith.catalog.yaml_documents import files_of
from goldsmith.cli.main import goldsmith
from goldsmith.journal.views import VIEWS
from goldsmith.planning import apply_files
from goldsmith.planning.catalog_indexer import CatalogIndexer
from goldsmith.planning.integrity.check import FINDINGS
from goldsmith.settings.settings import Settings
from plain_sql import PlainSql

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *ROOT.glob("examples/**/*.md")]
EXAMPLES = sorted(path for path in (ROOT / "examples").iterdir() if path.is_dir())
#: In halves, so that this file does not hold what it looks for.
NOT_OURS = ["/wo" + "rk/", "/ro" + "ot/"] + [
    host + "." + rest
    for host, rest in (
        ("pypi", "org"),
        ("files", "pythonhosted"),
        ("repo1", "maven"),
        ("registry", "npmjs"),
    )
]

_FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def test_generated_pages_are_current() -> None:
    command = [sys.executable, str(ROOT / "tools" / "docs.py"), "--check"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr


def test_every_command_is_named() -> None:
    page = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    missing = [name for name in _commands(goldsmith, "goldsmith") if f"## {name}\n" not in page]
    assert missing == []


def _commands(command: click.Command, name: str) -> Iterator[str]:
    yield name
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for child in command.list_commands(ctx):
            found = command.get_command(ctx, child)
            assert found is not None
            yield from _commands(found, f"{name} {child}")


def test_every_table_and_view_is_named() -> None:
    page = (ROOT / "docs/metadata.md").read_text(encoding="utf-8")
    names = [*metadata.tables, *(view.name for view in VIEWS)]
    assert [name for name in names if f"### {name}\n" not in page] == []


def test_every_finding_is_named() -> None:
    page = (ROOT / "docs/reference/findings.md").read_text(encoding="utf-8")
    assert [rule.code for _, rule in FINDINGS.all() if f"`{rule.code}`" not in page] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    links = [link for link in _LINK.findall(text) if "://" not in link]
    assert [link for link in links if not _leads(page, link)] == []


def _leads(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists() or not target.is_relative_to(ROOT):
        return False
    return not anchor or anchor in _anchors(target)


def _anchors(page: Path) -> set[str]:
    """The headings of a page, as links name them."""
    headings = _HEADING.findall(_FENCE.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_brings_no_errors(catalog: Catalog, example: Path) -> None:
    catalog_indexer = CatalogIndexer(catalog)
    _apply(catalog_indexer, example)
    assert [error.sentence for error in catalog_indexer.catalog_index().errors] == []


def test_sql_in_the_documentation_runs(catalog: Catalog, catalog_url: str) -> None:
    catalog_indexer = CatalogIndexer(catalog)
    _apply(catalog_indexer, ROOT / "examples/seed")
    plain = PlainSql(catalog_url)
    for statement in _statements():
        plain.run(statement)
    plain.close()
    # The README's flag and throttle are for the pipeline its reader has made.
    errors = [
        error for error in catalog_indexer.catalog_index().errors if "visits" not in error.sentence
    ]
    assert errors == []


def _apply(catalog_indexer: CatalogIndexer, folder: Path) -> None:
    rows = bundle.load(files_of([str(folder)], sys.stdin))
    proposal = apply_files.propose(catalog_indexer, rows)
    apply_files.apply(
        catalog_indexer, rows, proposal, actor="test", reason=None, prune=False, as_shown=False
    )
    for file in folder.glob("*.sql"):
        with catalog_indexer.catalog.engine.begin() as connection:
            for statement in file.read_text(encoding="utf-8").split(";\n"):
                if statement.strip():
                    connection.exec_driver_sql(statement)


def _statements() -> Iterator[str]:
    for page in PAGES:
        for block in re.findall(
            r"^```sql\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        ):
            yield from (statement for statement in block.split(";\n") if statement.strip())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_settings_in_the_documentation_exist(page: Path, tmp_path: Path) -> None:
    for block in re.findall(r"^```toml\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.M):
        (tmp_path / "goldsmith.toml").write_text(block, encoding="utf-8")
        named = re.search(r"^\[environments\.(\w+)", block, re.MULTILINE)
        environment = named[1] if named else None
        Settings.load({}, project=tmp_path, environment=environment, cwd=tmp_path)


def test_no_file_names_a_registry_or_a_build_machine() -> None:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if answer.returncode != 0:
        pytest.skip("this is not a git repository")
    wrong = [
        f"{name} holds {pattern}"
        for name in answer.stdout.decode().split("\0")
        if name and (ROOT / name).is_file()
        for pattern in NOT_OURS
        if pattern.encode() in (ROOT / name).read_bytes()
    ]
    assert wrong == []
