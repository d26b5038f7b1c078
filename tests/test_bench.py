"""OhHell-Bench: the protocol, its runner, its scale, and what it says about a player."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ohhell_env import Rules, SeatVectorEnv, Simulator
from ohhell_env.arena.bench import command, pins, protocol, result, runner, score
from ohhell_env.arena.bench.command import bench, main
from ohhell_env.arena.bench.exploitability import exploitability
from ohhell_env.arena.bench.pins import all_pins, differences, reference
from ohhell_env.arena.bench.play import Outcome, play_job, sums_of
from ohhell_env.arena.bench.players import FunctionBot, Greedy, as_player
from ohhell_env.arena.bench.protocol import Cell, by_name, cells, jobs, packs
from ohhell_env.arena.bench.result import markdown, read_result
from ohhell_env.arena.bench.score import KINDS, cells_of, mean_of_strata, ratio_of_strata
from ohhell_env.arena.bench.verify import verify
from ohhell_env.arena.matches import ArenaError, deal_seeds, directions, one_against_rest, play
from ohhell_env.arena.workers import in_processes
from ohhell_env.bots import make_bot
from ohhell_env.rules.presets import PRESETS
from ohhell_env.rules.sample import SPLITS, split_of
from ohhell_env.simulator import observed

RAISE = (
    "a figure of OhHell-Bench may have moved. If that was meant, raise protocol.VERSION and make its data anew (ohhell "
    "bench --reference); if no figure moves, ohhell bench --pin pins it again"
)


def lowest_legal(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    return masks.argmax(axis=1)


def make_lowest(seed: int = 0) -> Any:
    return lowest_legal


def tiny_cells() -> tuple[Cell, ...]:
    """A protocol of a few small tables in the place of the real one: one standard, one wide, cooperative, a match."""
    small, wide = Rules(3, (1,)), Rules(3, (2,), bids="open", trump="none", lowest_wins=True, hands_shown=True)
    together = Rules(3, (1,), bids="open", hook=False, cooperative=True, attempts=1, scoring="binary")
    against = one_against_rest(1, 3)
    seats = tuple(tuple(int(seat) for seat in row) for row in against)
    return (
        Cell("core", "heuristic", "core, a", (small, Rules(3, (2,))), ("heuristic",), seats, 2),
        Cell("core", "search:100", "core, b", (small,), ("random",), seats, 2),
        Cell("match", "", "match, a", (Rules(3, (1, 2)),), ("heuristic", "random"), ((0, 1, 2), (1, 2, 0)), 1),
        Cell("match", "", "match, b", (Rules(3, (2, 1)),), ("random", "heuristic"), ((0, 1, 2), (1, 2, 0)), 1),
        Cell("variants", "", "variants, a", (wide,), ("heuristic",), seats, 2),
        *(
            Cell("generalisation", split, f"generalisation, {split} {k}", (wide,), ("heuristic",), seats, 2, (k // 2,))
            for split in SPLITS
            for k in range(4)
        ),
        Cell("cooperation", "self", "cooperation, itself", (together,), (), ((0, 0, 0),), 4),
        Cell("cooperation", "cross-play", "cooperation, x", (together,), ("heuristic",), ((0, 1, 1),), 4),
    )


def as_json(outcomes: dict[str, Outcome]) -> str:
    return json.dumps({key: one.to_json() for key, one in outcomes.items()})


@cache
def tiny_scale() -> tuple[dict[str, Outcome], ...]:
    """The scale of the tiny protocol, once it is in place."""
    return tuple(runner.run(as_player(spec), jobs()) for spec in ("random", "search:20"))


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The tiny protocol of two waves, whose scale is that of random and search:20."""
    for module in (protocol, score):
        monkeypatch.setattr(module, "cells", tiny_cells)
    for module in (protocol, result):
        monkeypatch.setattr(module, "WAVES", 2)
    protocol.signature.cache_clear()
    ends = tiny_scale()
    for module in (result, command):
        monkeypatch.setattr(module, "scale", lambda wanted: ends)
    monkeypatch.setattr(command, "decisions", lambda player: {"hash of": player.name})
    monkeypatch.setattr("ohhell_env.arena.bench.verify.decisions", lambda player: {"hash of": player.name})
    yield
    protocol.signature.cache_clear()


# The protocol ##########################################################################


def test_nothing_that_the_protocol_stands_on_has_changed() -> None:
    """Rules, observations, random tables, and the decisions of its players."""
    assert differences(reference()["pins"], all_pins()) == [], RAISE


def test_a_change_of_any_pin_is_named() -> None:
    now = json.loads(json.dumps(reference()["pins"]))
    now["rules"], now["players"]["heuristic"]["every table"] = "other", "other"
    assert differences(reference()["pins"], now) == ["rules", "heuristic at every table"]


def test_a_scale_that_is_not_there_is_told_before_anything_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {"pins": {"protocol": protocol.signature()[:16]}, "outcomes": {"random": {}, "search:1000": {}}}
    monkeypatch.setattr(pins, "reference", lambda: kept)
    with pytest.raises(ArenaError, match=r"lacks 2 of 2 jobs of random and search:1000.*first 'a'"):
        pins.scale(["a", "b"])
    kept["pins"]["protocol"] = "other"
    with pytest.raises(ArenaError, match="was made for other tables"):
        pins.scale([])


def test_every_cell_has_a_name_and_seeds_of_its_own() -> None:
    assert len(by_name()) == len({cell.seed for cell in cells()}) == len(cells())
    assert len({job.key for job in jobs()}) == len(jobs())
    first = next(iter(cells()))
    assert np.array_equal(first.seeds(0), deal_seeds(first.seed, first.deals, len(first.tables)))
    assert not set(first.seeds(0).ravel()) & set(first.seeds(1).ravel())


def test_the_tracks_cover_what_they_say() -> None:
    core = [cell for cell in cells() if cell.track == "core"]
    assert {cell.tables[0].players for cell in core} == {3, 4, 5, 6, 7}
    for cell in core:
        sizes = {table.hand_sizes[0] for table in cell.tables}
        largest = Rules(players=cell.tables[0].players).peak
        assert sizes == {size for size in (1, 3, 5, 8, 10, largest) if size <= largest}
        assert [seats.count(0) for seats in cell.seats] == [1] * len(cell.seats), "one seat, each in turn"
        assert {seats.index(0) for seats in cell.seats} == set(range(cell.tables[0].players))
    assert {cell.name.split(", ")[1] for cell in cells() if cell.track == "variants"} == set(PRESETS)
    for cell in cells():
        if cell.track == "generalisation":
            assert {split_of(table) for table in cell.tables} == {cell.part}
    assert {kind.track for kind in KINDS} == {cell.track for cell in cells()}
    assert all(cells_of(kind, 1) for kind in KINDS)


def test_the_quick_protocol_is_the_first_wave() -> None:
    assert jobs(quick=True) == jobs()[: len(jobs(quick=True))]
    assert {job.cell.track for job in jobs(quick=True)} == {cell.track for cell in cells()}


# Playing ###############################################################################


def test_sums_are_what_the_arena_reports() -> None:
    from ohhell_env.arena.report import report_on

    rules = (Rules(3, (2, 1)), Rules(3, (3, 1)))
    bots = [make_bot("heuristic"), make_bot("random")]
    played = play(rules, deal_seeds(3, 4, 2), one_against_rest(1, 3), bots)
    sums = sums_of(played, directions(rules))
    own, other = report_on(played, rules, ("a", "b"), {}).players
    total = {name: sum(values) for name, values in sums.items()}
    assert total["hands"] == own.hands == 4 * 3 * 4 and total["other_hands"] == other.hands
    assert total["points"] / total["hands"] == pytest.approx(own.points.mean)
    assert total["made"] / total["bids"] == pytest.approx(own.made.mean)
    assert total["wins"] / total["matches"] == pytest.approx(own.wins.mean)
    assert total["others"] / total["other_hands"] == pytest.approx(other.points.mean)
    assert all(len(values) == 4 for values in sums.values())


def test_where_the_lowest_total_wins_fewer_points_are_more() -> None:
    rules = (Rules(3, (2,), lowest_wins=True),)
    played = play(rules, deal_seeds(3, 2), one_against_rest(1, 3), [make_bot("random", 1), make_bot("random", 2)])
    assert (
        sum(sums_of(played, directions(rules))["points"]) == -played.points[played.seats[:, :, None, None] == 0].sum()
    )


def test_any_number_of_processes_and_any_break_give_the_same_bytes(tiny: None, tmp_path: Path) -> None:
    player = as_player("test_bench:make_lowest", plays_wide=True)
    whole = bench(player, out=tmp_path / "one")
    spread = bench(player, workers=2, out=tmp_path / "two")
    assert whole.text() == spread.text() == (tmp_path / "one" / "result.json").read_text()
    lines = (tmp_path / "one" / "jobs.jsonl").read_bytes().splitlines(keepends=True)
    assert len(lines) == len(jobs())
    (tmp_path / "one" / "jobs.jsonl").write_bytes(b"".join(lines[:5]) + lines[5][:30])
    done: list[int] = []
    assert bench(player, out=tmp_path / "one", on_progress=done.append).text() == whole.text()
    assert done[0] == 5 and sum(done) == len(jobs()), "what was finished is not played again"


def test_a_folder_of_another_player_is_refused(tiny: None, tmp_path: Path) -> None:
    bench("random", tracks=["match"], out=tmp_path)
    with pytest.raises(ArenaError, match="holds other results: player is"):
        bench("heuristic", tracks=["match"], out=tmp_path)


def test_a_quick_run_is_the_beginning_of_a_full_one(tiny: None, tmp_path: Path) -> None:
    quick = bench("heuristic", quick=True, out=tmp_path)
    assert quick.quick and quick.data["quick"] is True
    done: list[int] = []
    full = bench("heuristic", out=tmp_path, on_progress=done.append)
    assert done[0] == len(jobs(True)) and not full.quick
    assert {key: full.data["jobs"][key] for key in quick.data["jobs"]} == quick.data["jobs"]


# The scale #############################################################################


def test_the_players_of_the_scale_have_0_and_100_without_an_interval(tiny: None) -> None:
    for spec, expected in (("random", 0), ("search:20", 100)):
        found = [one for one in bench(spec).data["figures"] if one["track"] != "exploitability"]
        assert len(found) == len(KINDS)
        told = [one["score"] for one in found if one["score"]["mean"] is not None]
        assert len(told) >= 8
        assert all(abs(one["mean"] - expected) < 1e-4 for one in told)
        assert all(one["high"] - one["low"] < 1e-4 for one in told)


def test_tables_that_a_player_does_not_play_count_as_randoms(tiny: None) -> None:
    found = bench(lowest_legal, tracks=["core", "variants", "generalisation"])
    by_track = {(one["track"], one["part"]): one for one in found.data["figures"]}
    assert by_track["core", ""]["cells_played"] == 2
    variants = by_track["variants", ""]
    assert variants["cells_played"] == 0 and variants["score"]["mean"] is None and variants["value"]["mean"] is None
    outcomes = {key: Outcome.from_json(one) for key, one in found.data["jobs"].items()}
    assert "standard form" in outcomes["variants, a, wave 0"].refused


def test_a_score_is_the_ratio_of_what_was_gained() -> None:
    """Two strata; x is r plus a third of s - r, so 33.3 whatever the luck of the deals."""
    rng = np.random.default_rng(0)
    gaps = [rng.normal(5, 2, 20), rng.normal(3, 1, 10)]
    found = ratio_of_strata([gap / 3 for gap in gaps], gaps, 100.0)
    assert found.mean == pytest.approx(100 / 3) and found.high - found.low < 1e-9 and found.n == 30


def test_intervals_hold_what_they_say() -> None:
    """95 % of intervals of the ratio hold the true one; so do those of the mean."""
    rng = np.random.default_rng(1)
    held = np.zeros(2)
    for _ in range(400):
        below = [rng.normal(5, 2, 12), rng.normal(3, 1, 8)]
        above = [0.5 * one + rng.normal(0, 1, len(one)) for one in below]
        ratio, mean = ratio_of_strata(above, below), mean_of_strata(below)
        held += [ratio.low <= 0.5 <= ratio.high, mean.low <= 4 <= mean.high]
    assert (held / 400 >= 0.92).all() and (held / 400 <= 0.98).all()


def test_a_scale_whose_ends_are_not_apart_gives_no_score() -> None:
    assert np.isnan(ratio_of_strata([np.ones(3)], [np.zeros(3)]).mean)
    assert np.isnan(mean_of_strata([]).mean) and np.isnan(mean_of_strata([np.ones(1)]).low)


# Players ###############################################################################


def test_a_function_sees_what_environments_show() -> None:
    for rules in (Rules(3, (3, 2)), PRESETS["pocha"]):
        simulator = Simulator(rules, 16, seed=1)
        bot = make_bot("random")
        for _ in range(14):
            batch = simulator.current()
            views, tables, _ = bot.views(simulator)
            observations, masks = observed(views, tables)
            assert np.array_equal(observations, batch.observation) and np.array_equal(masks, batch.action_mask)
            simulator.step(bot.act(simulator))


def test_a_function_plays_as_it_does_in_the_seat_environment() -> None:
    seen: list[Any] = []
    envs = SeatVectorEnv(4, Rules(3, (2,)), opponents="random", seat="rotate")
    observation, _ = envs.reset(seed=1)
    assert observation.shape[1:] == (observed(*make_bot("random").views(Simulator(Rules(3, (2,))))[:2])[0].shape[1],)

    def note(observations: Any, masks: Any) -> Any:
        seen.append((observations.shape, observations.dtype, masks.shape, masks.dtype))
        return masks.argmax(axis=1)

    FunctionBot(note).act(Simulator(Rules(3, (2,)), 5))
    assert seen == [((5, observation.shape[1]), np.int8, (5, envs.action_masks().shape[1]), np.bool_)]


def test_a_torch_module_plays_its_best_legal_action() -> None:
    import torch

    simulator = Simulator(Rules(3, (2,)), 8, seed=1)
    batch = simulator.current()
    torch.manual_seed(0)
    module = torch.nn.Linear(batch.observation.shape[1], batch.action_mask.shape[1])
    bot = as_player(module).make(0)
    logits = module(torch.as_tensor(batch.observation, dtype=torch.float32)).detach().numpy()
    expected = np.where(batch.action_mask == 1, logits, -np.inf).argmax(axis=1)
    assert np.array_equal(bot.act(simulator), expected)
    assert exploitability(as_player(module)).player.keys() == packs().keys()


def test_an_action_of_another_shape_and_one_that_is_not_legal_are_named() -> None:
    job = jobs(True, ["core"])[0]
    with pytest.raises(ArenaError, match=r"must return \d+ whole numbers"):
        play_job(as_player(lambda observations, masks: 0.5), job)
    with pytest.raises(ArenaError, match=r"core, 3 players.*'never'.*not legal"):
        play_job(as_player(lambda observations, masks: masks.argmin(axis=1), "never"), job)
    with pytest.raises(ArenaError, match="scores of all actions"):
        play_job(as_player(Greedy(lambda observations, masks: observations[:, :3])), job)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("nobody", "player 'nobody' is not known"),
        ("missing.zip", "there is no file 'missing.zip'"),
        ("checkpoints/none", "there is no checkpoint"),
        ("test_bench:nothing", "has no function 'nothing'"),
        (12, "12 is no player"),
    ],
)
def test_what_is_no_player_is_refused(given: Any, told: str) -> None:
    with pytest.raises(ArenaError, match=told):
        as_player(given).make(0)


def test_a_function_that_cannot_be_sent_to_processes_is_refused() -> None:
    with pytest.raises(ArenaError, match=r"cannot be sent to other processes.*workers=1"):
        runner.run(as_player(lambda observations, masks: 0), jobs(True)[:2], workers=2)
    with pytest.raises(ArenaError, match="workers=0 is not allowed"):
        runner.run(as_player("random"), jobs(True)[:2], workers=0)


def test_work_in_processes_is_numbered_and_what_fails_there_is_told_here() -> None:
    found = dict(in_processes(float, ["1", "2", "3"], 2, print, ()))
    assert found == {0: 1.0, 1: 2.0, 2: 3.0}
    with pytest.raises(ValueError, match="could not convert"):
        list(in_processes(float, ["1", "x"], 2, print, ()))


# Results ###############################################################################


def test_random_is_at_0_and_the_heuristic_is_not_at_100_in_exploitability() -> None:
    found = {
        spec: bench(spec, tracks=["exploitability"]).score("exploitability").mean for spec in ("random", "heuristic")
    }
    assert found["random"] == 0 and found["heuristic"] < 100
    assert bench("search:5", tracks=["exploitability"]).data["figures"] == [], "its chances are not known"


def test_a_result_is_verified_and_what_was_changed_in_it_is_found(tiny: None, tmp_path: Path) -> None:
    bench("heuristic", quick=True, out=tmp_path)
    path = tmp_path / "result.json"
    assert verify(read_result(path), as_player("heuristic"), 0) == (len(jobs(True)), [])
    data = json.loads(path.read_text())

    def wrong(change: Any, player: str = "heuristic") -> list[str]:
        changed = json.loads(json.dumps(data))
        change(changed)
        other = tmp_path / "other.json"
        other.write_text(json.dumps(changed))
        return verify(read_result(other), as_player(player), 0)[1]

    assert "a figure, core " in wrong(lambda one: one["figures"][0]["score"].update(mean=99.0))[0]
    key = next(iter(data["jobs"]))
    assert f"job {key}" in wrong(lambda one: one["jobs"][key]["sums"]["points"].__setitem__(0, 999))
    assert "decides otherwise" in wrong(lambda one: None, "random")[0]
    assert "signature" in wrong(lambda one: one.update(signature="other"))[0]
    assert "list of jobs" in wrong(lambda one: one["jobs"].pop(key))[0]


def test_a_file_that_is_no_result_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    with pytest.raises(ArenaError, match="there is no file"):
        read_result(path)
    path.write_text("{}")
    with pytest.raises(ArenaError, match="not a result of OhHell-Bench"):
        read_result(path)
    path.write_text('{"benchmark": "OhHell-Bench", "version": "v0", "format": 1}')
    with pytest.raises(ArenaError, match="v0"):
        read_result(path)


def test_the_command_prints_the_table_and_writes_result_and_picture(
    tiny: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    assert main(["heuristic", "--quick", "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    for words in ("OhHell-Bench v1 --quick: heuristic", "core", "match wins", "exploitability", "A quick result"):
        assert words in told
    assert (tmp_path / "result.png").read_bytes().startswith(b"\x89PNG")
    assert main(["verify", str(tmp_path / "result.json"), "--jobs", "2"]) == 0
    assert "2 jobs of heuristic played again: the same" in " ".join(capsys.readouterr().out.split())
    assert main(["table", str(tmp_path / "result.json")]) == 0
    assert capsys.readouterr().out.splitlines()[2].startswith("| `heuristic` (quick) | ")


def test_the_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, told in (
        ([], "no player"),
        (["random", "--tracks", "none"], "track 'none' is not known"),
        (["nobody", "--quick"], "player 'nobody' is not known"),
    ):
        assert main([*arguments, "--out", str(tmp_path / "out")]) == 2
        assert told in capsys.readouterr().err


def test_results_are_ordered_by_core_full_before_quick(tiny: None) -> None:
    results = [bench("random"), bench("heuristic", quick=True), bench("heuristic")]
    rows = [row.split(" | ")[0] for row in markdown(results).splitlines()[2:]]
    assert rows[-1] == "| `heuristic` (quick)" and set(rows[:2]) == {"| `heuristic`", "| `random`"}
