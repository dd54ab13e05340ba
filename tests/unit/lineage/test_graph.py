"""The lineage graph: walks, impact, cycles and ways, compared with networkx where it can answer."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from itertools import islice

import networkx as nx
import pytest

from goldsmith.journal.lineage_tables import EdgeEvidence
from goldsmith.lineage.columns import ColumnGraph, ColumnStep
from goldsmith.lineage.graph import LineageGraph, LineageStep, merge_evidence
from goldsmith.lineage.hotspots import hotspots
from goldsmith.lineage.paths import cheapest_of_all, find_paths
from goldsmith.lineage.walk import NotInLineage, downstream, impact, upstream

NOW = datetime(2026, 11, 18, tzinfo=UTC)
ORDERS = (
    LineageStep(inputs=("raw_orders",), output="bronze_orders", name="orders-1"),
    LineageStep(inputs=("raw_orders_alt",), output="bronze_orders", name="parse_alt", cost=2),
    LineageStep(inputs=("bronze_orders",), output="silver_orders", name="orders-2"),
    LineageStep(inputs=("silver_orders",), output="gold_orders", name="orders-3"),
)


def step(inputs: str, output: str, cost: float = 1.0, **more: object) -> LineageStep:
    return LineageStep(inputs=tuple(inputs.split()), output=output, cost=cost, **more)  # type: ignore[arg-type]


def random_edges(seed: int, *, datasets: int = 30, edges: int = 60) -> list[tuple[str, str, float]]:
    chance = random.Random(seed)
    found = {}
    while len(found) < edges:
        a, b = sorted(chance.sample(range(datasets), 2))
        found[(f"d{a}", f"d{b}")] = float(chance.randint(1, 9))
    return [(a, b, cost) for (a, b), cost in found.items()]


def test_orders_can_be_had_in_two_ways_the_cheaper_first() -> None:
    found = find_paths(LineageGraph.of(ORDERS), "gold_orders")
    assert found.count == 2
    assert [path.sequence for path in found.cheapest] == [
        "raw_orders,bronze_orders,silver_orders,gold_orders",
        "raw_orders_alt,bronze_orders,silver_orders,gold_orders",
    ]
    assert [path.cost for path in found.cheapest] == [3, 4]


def test_a_way_through_a_dataset_that_is_down_is_not_listed() -> None:
    found = find_paths(LineageGraph.of(ORDERS), "gold_orders", forbidden=["raw_orders"])
    assert found.count == 1
    assert found.cheapest[0].starts == ("raw_orders_alt",)


def test_a_join_needs_every_input() -> None:
    graph = LineageGraph.of(
        [
            step("orders customers", "joined"),
            step("crm", "customers"),
            step("crm_copy", "customers"),
        ]
    )
    assert find_paths(graph, "joined").count == 2
    assert find_paths(graph, "joined", forbidden=["orders"]).count == 0
    [way] = find_paths(graph, "joined", forbidden=["crm"]).cheapest
    assert way.starts == ("orders", "crm_copy")
    assert way.cost == 2
    assert impact(graph, "crm").lost == ()
    assert impact(graph, "orders").lost == ("joined",)


def test_two_ways_of_two_inputs_are_four_ways_of_the_join() -> None:
    graph = LineageGraph.of(
        [
            step("a b", "j"),
            step("a1", "a", 1),
            step("a2", "a", 5),
            step("b1", "b", 2),
            step("b2", "b", 3),
        ]
    )
    found = find_paths(graph, "j", most=9)
    assert found.count == 4
    assert [path.cost for path in found.cheapest] == [4, 5, 8, 9]
    assert not found.is_cut
    assert find_paths(graph, "j", most=2).is_cut


def test_a_step_that_nothing_runs_is_counted_but_is_no_route() -> None:
    graph = LineageGraph.of([step("a", "t"), step("b", "t", runs=False)])
    assert find_paths(graph, "t").count == 2
    assert find_paths(graph, "t", only_running=True).count == 1


def test_a_cycle_is_shown_and_no_way_goes_round_it() -> None:
    graph = LineageGraph.of([step("raw", "a"), step("a", "b"), step("b", "a"), step("b", "gold")])
    found = find_paths(graph, "gold")
    assert found.cycles == (("a", "b"),)
    assert [path.sequence for path in found.cheapest] == ["raw,a,b,gold"]
    assert find_paths(LineageGraph.of([step("a", "b"), step("b", "a")]), "a").count == 0


def test_datasets_in_a_cycle_do_not_keep_each_other_alive() -> None:
    graph = LineageGraph.of([step("raw", "a"), step("a", "b"), step("b", "a")])
    assert set(impact(graph, "raw").lost) == {"a", "b"}


def test_a_chain_longer_than_the_recursion_limit_is_walked() -> None:
    chain = [step(f"d{n}", f"d{n + 1}") for n in range(5000)]
    chain += [step("other", "d1", 2)]
    found = find_paths(LineageGraph.of(chain), "d5000")
    assert (found.count, [path.cost for path in found.cheapest]) == (2, [5000, 5001])


@pytest.mark.parametrize("seed", range(25))
def test_ways_and_walks_agree_with_networkx(seed: int) -> None:
    edges = random_edges(seed)
    graph, oracle = LineageGraph.of_edges(edges), nx.DiGraph()
    oracle.add_weighted_edges_from(edges)
    roots = [name for name in oracle if oracle.in_degree(name) == 0]
    for name in oracle:
        assert set(downstream(graph, name)) == nx.descendants(oracle, name)
        assert set(upstream(graph, name)) == nx.ancestors(oracle, name)
        if oracle.in_degree(name) == 0:
            continue
        ways = []
        for root in roots:
            ways += nx.all_simple_paths(oracle, root, name)
        costs = sorted(nx.path_weight(oracle, way, "weight") for way in ways)
        found = find_paths(graph, name, most=10)
        assert found.count == len(ways)
        assert [path.cost for path in found.cheapest] == pytest.approx(costs[:10])
        assert {path.datasets for path in found.cheapest} <= {tuple(way) for way in ways}


@pytest.mark.parametrize("seed", range(5))
def test_a_question_asked_again_has_the_same_answer(seed: int) -> None:
    graph = LineageGraph.of_edges(random_edges(seed))
    first = {
        name: find_paths(LineageGraph.of_edges(random_edges(seed)), name) for name in graph.names
    }
    for _time in range(2):
        assert {name: find_paths(graph, name) for name in graph.names} == first


@pytest.mark.parametrize("seed", range(5))
def test_the_cheapest_ways_of_all_datasets_are_those_of_each(seed: int) -> None:
    graph = LineageGraph.of_edges(random_edges(seed))
    for name, ways in cheapest_of_all(graph, most=3):
        assert ways == find_paths(graph, name, most=3).cheapest


@pytest.mark.parametrize("seed", range(10))
def test_the_cheapest_ways_agree_with_networkx_while_datasets_are_down(seed: int) -> None:
    edges = random_edges(seed)
    graph, oracle = LineageGraph.of_edges(edges), nx.DiGraph()
    oracle.add_weighted_edges_from(edges)
    down = random.Random(seed).sample(sorted(oracle), 6)
    healthy = oracle.copy()
    # A dataset whose inputs are all down has no way; it does not become an origin.
    roots = [name for name in oracle if oracle.in_degree(name) == 0 and name not in down]
    healthy.remove_nodes_from(down)
    for name in healthy:
        if oracle.in_degree(name) == 0:
            continue
        expected: list[float] = []
        for root in roots:
            simple = nx.shortest_simple_paths(healthy, root, name, weight="weight")
            try:
                expected += [nx.path_weight(healthy, way, "weight") for way in islice(simple, 5)]
            except nx.NetworkXNoPath:
                continue
        found = find_paths(graph, name, most=5, forbidden=down)
        assert [path.cost for path in found.cheapest] == pytest.approx(sorted(expected)[:5])


@pytest.mark.parametrize("seed", range(10))
def test_what_is_lost_is_what_has_no_way_left(seed: int) -> None:
    graph = LineageGraph.of_edges(random_edges(seed))
    for name in graph.names:
        found = impact(graph, name)
        for other in downstream(graph, name):
            ways = find_paths(graph, other, forbidden=[name]).count
            assert (other in found.lost) == (ways == 0)


def test_evidence_of_one_origin_never_replaces_another_and_expires() -> None:
    seen = [
        EdgeEvidence(from_dataset_id="a", to_dataset_id="b", origin="observed"),
        EdgeEvidence(from_dataset_id="x", to_dataset_id="b", origin="pushed"),
        EdgeEvidence(
            from_dataset_id="old",
            to_dataset_id="b",
            origin="digested",
            expires_at=NOW - timedelta(days=1),
        ),
    ]
    merged = list(merge_evidence([step("a", "b")], seen, NOW))
    assert [(s.inputs, sorted(s.origins), s.runs) for s in merged] == [
        (("a",), ["declared", "observed"], True),
        (("x",), ["pushed"], False),
    ]


def test_hotspots_are_ranked_by_the_value_of_their_dependants() -> None:
    found = hotspots(LineageGraph.of(ORDERS), values={"gold_orders": 10.0})
    assert [(spot.dataset, spot.dependants, spot.value) for spot in found] == [
        ("raw_orders", 3, 12.0),
        ("raw_orders_alt", 3, 12.0),
        ("bronze_orders", 2, 11.0),
        ("silver_orders", 1, 10.0),
    ]
    assert [spot.is_single_point for spot in found] == [False, False, True, True]


def test_a_column_is_followed_to_its_origins_and_to_what_it_feeds() -> None:
    columns = ColumnGraph(
        [
            ColumnStep(
                from_dataset_id="raw", from_column="ts", to_dataset_id="silver", to_column="day"
            ),
            ColumnStep(
                from_dataset_id="silver", from_column="day", to_dataset_id="gold", to_column="day"
            ),
        ]
    )
    assert [edge.source for edge in columns.upstream("gold", "day")] == [
        ("silver", "day"),
        ("raw", "ts"),
    ]
    assert len(columns.downstream("raw", "ts", depth=1)) == 1
    assert columns.columns_of("silver") == ["day"]


def test_a_dataset_that_is_not_there_is_a_coded_error_with_a_guess() -> None:
    with pytest.raises(NotInLineage, match="raw_ordes") as raised:
        upstream(LineageGraph.of(ORDERS), "raw_ordes")
    assert "raw_orders" in raised.value.hint
