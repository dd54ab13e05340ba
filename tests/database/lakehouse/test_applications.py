"""Applications are rows with a history; only ACTIVE ones may load."""

from __future__ import annotations

import pytest

from goldsmith.catalog import changes
from goldsmith.catalog.catalog import Catalog
from goldsmith.lakehouse import applications
from goldsmith.lakehouse.applications import BadApplication, UnknownApplication


def test_an_application_is_registered_withdrawn_and_registered_again(catalog: Catalog) -> None:
    applications.register(catalog, "redshift", actor="ann", description="AWS", retention_days=30)
    assert applications.find_active(catalog, "redshift").retention_days == 30
    applications.withdraw(catalog, "redshift", actor="bob", reason="moved")
    with pytest.raises(UnknownApplication, match="withdrawn"):
        applications.find_active(catalog, "redshift")
    back = applications.register(catalog, "redshift", actor="ann")
    assert (back.status, back.description, back.retention_days) == ("ACTIVE", "AWS", 30)
    found = changes.history(catalog, table="applications")
    assert [(change.actor, change.operation) for change in found] == [
        *(("ann", "update"), ("bob", "update"), ("ann", "insert")),
    ]


def test_an_unknown_name_is_refused_with_the_valid_ones_listed(catalog: Catalog) -> None:
    for name in ("redshift", "snowflake", "old"):
        applications.register(catalog, name, actor="ann")
    applications.withdraw(catalog, "old", actor="ann")
    with pytest.raises(UnknownApplication) as refused:
        applications.find_active(catalog, "redshfit")
    assert "redshift, snowflake" in str(refused.value)
    assert "Did you mean 'redshift'" in refused.value.hint
    with pytest.raises(UnknownApplication):
        applications.withdraw(catalog, "nobody", actor="ann")


@pytest.mark.parametrize("name", ["", "Redshift", "a.b", "../up", "a b", "é", "x" * 200, "a\n"])
def test_a_name_that_cannot_be_a_table_is_refused(catalog: Catalog, name: str) -> None:
    revision = catalog.revision()
    with pytest.raises(BadApplication):
        applications.register(catalog, name, actor="ann")
    assert catalog.revision() == revision


def test_a_key_that_is_no_column_is_refused(catalog: Catalog) -> None:
    with pytest.raises(BadApplication, match="raw_record"):
        applications.register(catalog, "a", actor="ann", upsert_by=("raw_record",))
