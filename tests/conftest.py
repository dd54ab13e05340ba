"""What tests share: catalogs on both databases, and the servers behind them."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

from goldsmith.catalog.catalog import Catalog
from goldsmith.journal.journal import Journal

# Tests are imported one by one (importmode=importlib); what they share is found by its name.
sys.path.insert(0, str(Path(__file__).parent))

from servers.postgres import Postgres, running

# `make test` tries the same few examples every time; `make soak` looks for new ones.
_PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "steady")
hypothesis.settings.register_profile("steady", derandomize=True, deadline=None, max_examples=40)
hypothesis.settings.register_profile("searching", deadline=None, max_examples=500)
hypothesis.settings.load_profile(_PROFILE)

DATABASES = ("sqlite", pytest.param("postgresql", marks=pytest.mark.postgres))
_TEMPLATE = "goldsmith_template"
#: Under pytest-xdist every worker has a server of its own; names tell them apart all the same.
_NAMES = (f"test_{os.getpid()}_{number}" for number in itertools.count())


#: What takes longest, first: of two processes neither has the last long file to itself.
_FIRST = ("stories", "spark", "warehouses")
#: The longest files of their folders, by a run with `--durations=0`.
_LONG = frozenset(
    (
        "test_environments.py",
        "test_quarantine.py",
        "test_quarantine_model.py",
        "test_quarantine_over_time.py",
        "test_upkeep.py",
        "test_identity.py",
        "test_moving_datasets.py",
        "test_models.py",
    )
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Stories go first, and the many quick tests fill the end."""
    items.sort(key=lambda item: _turn(item.path.relative_to(Path(__file__).parent)))
    if _PROFILE == "searching":
        # The examples that `make test` leaves out belong to `make soak`.
        for item in items:
            if hypothesis.is_hypothesis_test(getattr(item, "obj", None)):
                item.add_marker(pytest.mark.soak)


def _turn(file: Path) -> tuple[int, int]:
    folder = file.parts[0]
    order = _FIRST.index(folder) if folder in _FIRST else len(_FIRST)
    return order, 0 if file.name in _LONG else 1


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """One real PostgreSQL for the whole run."""
    with running() as server:
        yield server


@pytest.fixture(scope="session")
def migrated_postgres(postgres_server: Postgres) -> str:
    """A database with a fresh catalog in it, to be copied."""
    postgres_server.create(_TEMPLATE)
    Catalog.open(postgres_server.url(_TEMPLATE), create=True).close()
    return _TEMPLATE


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a fresh catalog in it, to be copied."""
    file = tmp_path_factory.mktemp("template") / "catalog.db"
    Catalog.open(f"sqlite:///{file}", create=True).close()
    return file


@pytest.fixture
def new_database(request: pytest.FixtureRequest) -> Iterator[Callable[[str | None], str]]:
    """Make a PostgreSQL database, a copy of a template or empty; dropped after the test."""
    server: Postgres = request.getfixturevalue("postgres_server")
    made: list[str] = []

    def make(template: str | None) -> str:
        made.append(next(_NAMES))
        server.create(made[-1], template=template or "template0")
        return server.url(made[-1])

    yield make
    for name in made:
        server.drop(name)


@pytest.fixture(params=DATABASES)
def catalog_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a fresh catalog, on each database in turn."""
    if request.param == "postgresql":
        template = request.getfixturevalue("migrated_postgres")
        made: str = request.getfixturevalue("new_database")(template)
        return made
    file = tmp_path / "catalog.db"
    shutil.copy(request.getfixturevalue("migrated_sqlite"), file)
    return f"sqlite:///{file}"


@pytest.fixture(params=DATABASES)
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database with no tables at all, on each in turn."""
    if request.param == "postgresql":
        made: str = request.getfixturevalue("new_database")(None)
        return made
    return f"sqlite:///{tmp_path / 'empty.db'}"


@pytest.fixture
def catalog(catalog_url: str) -> Iterator[Catalog]:
    """An open, fresh catalog."""
    opened = Catalog.open(catalog_url)
    yield opened
    opened.close()


@pytest.fixture
def journal(catalog: Catalog) -> Journal:
    """The journal of the open catalog."""
    return Journal(catalog.engine)
