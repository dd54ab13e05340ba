"""The documented views: they exist on both databases, with the documented columns."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from goldsmith.catalog import database
from goldsmith.catalog.catalog import Catalog
from goldsmith.journal.view import View
from goldsmith.journal.views import VIEWS


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_has_the_documented_columns(catalog: Catalog, view: View) -> None:
    with database.reading(catalog.engine) as connection:
        found = connection.execute(sa.text(f"SELECT * FROM {view.name}"))
        assert list(found.keys()) == list(view.columns)
    assert all(view.columns.values())
