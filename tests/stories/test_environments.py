"""One catalog in every environment: the same plans, counts and rows, by settings alone."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from stories.environment_catalog import Environment, Story, tell

ENVIRONMENTS = (
    # `to_redshift` has the same S3 and the same databases.
    pytest.param("to_postgres", marks=(pytest.mark.postgres, pytest.mark.soak)),
    pytest.param("to_redshift", marks=pytest.mark.postgres),
    pytest.param("in_glue", marks=pytest.mark.postgres),
    pytest.param("by_connect", marks=pytest.mark.postgres),
    pytest.param("on_a_cluster", marks=(pytest.mark.postgres, pytest.mark.soak)),
)


@pytest.fixture(scope="session")
def on_a_laptop(embedded: Environment) -> Story:
    """What every other environment has to equal."""
    return tell(embedded)


def test_the_rows_on_a_laptop_are_the_ones_that_are_meant(on_a_laptop: Story) -> None:
    cities = {
        row["city"]: (row["orders"], row["amount"]) for row in on_a_laptop.tables["gold_cities"]
    }
    versions = {
        (row["customer_id"], row["city"], row["_is_current"])
        for row in on_a_laptop.tables["silver_customers"]
    }
    amounts = {row["order_id"]: row["amount"] for row in on_a_laptop.tables["gold_orders"]}

    assert cities == {"Zürich": (2, "10.51"), "Bern": (2, "32.25")}
    assert versions == {
        ("a", "Chur", False),
        ("a", "Zürich", True),
        ("b", "Basel", False),
        ("b", "Bern", True),
    }
    assert amounts == {1: "10.50", 2: "25.00", 3: "0.01", 4: "7.25"}
    assert [row["_text"] for row in on_a_laptop.malformed] == ["{broken"]
    assert {stage["status"] for stage in on_a_laptop.runs[2].values()} == {"skipped"}
    assert set(on_a_laptop.plans[2].values()) == {"skip"}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_same_catalog_gives_the_same_rows(
    environment: str, on_a_laptop: Story, request: pytest.FixtureRequest
) -> None:
    there: Environment = request.getfixturevalue(environment)

    assert asdict(tell(there)) == asdict(on_a_laptop)
