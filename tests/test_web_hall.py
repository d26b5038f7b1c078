"""Tables that come and go: taking back, one's own mistakes, rest and return, and several participants at a table."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from test_web import join, play_to_the_end, say, table_of, until
from web_server import Server, server
from websockets.exceptions import ConnectionClosed

from ohhell_env import Rules
from ohhell_env.arena.people import tallies
from ohhell_env.kernel.state import BID
from ohhell_env.records.match import load_seating
from ohhell_env.records.replay import load_replay
from ohhell_env.records.review import review
from ohhell_env.rules.presets import PRESETS, preset
from ohhell_env.table.events import BidMade, CardPlayed, HandDealt, TrickTaken
from ohhell_env.web import hall as halls
from ohhell_env.web import live
from ohhell_env.web.mistakes import ROLLOUTS, own_mistakes
from ohhell_env.web.study import Study, load_plan
from ohhell_env.web.table import Table

# --- Taking back ---------------------------------------------------------------------------------------------------

MORE = {
    "sealed": Rules(players=4, ramp=(4, 3, 2, 1)),
    "nil": Rules(players=4, ramp=(4, 3), bids="open", nil_round=True),
    "blind": Rules(players=4, ramp=(4, 3), bids="open", blind_bids=True),
    "trump after the bids": Rules(players=4, ramp=(4, 3), bids="open", trump="named"),
}


@pytest.mark.parametrize("rules", [*(preset(name) for name in PRESETS), *MORE.values()], ids=[*PRESETS, *MORE])
def test_whoever_takes_back_has_seen_nothing_but_the_own_action(rules: Rules, tmp_path: Path) -> None:
    table, rng = table_of(tmp_path, rules), np.random.default_rng(2)
    kept = 0
    for _ in range(150):
        if table.over:
            break
        table.unseen.clear()
        seat, before, choices = table.game.player, len(table.game.events(0)), table.game.legal_actions
        table.step(int(rng.choice(choices)))
        if table.can_take_back is None:
            continue
        kept += 1
        assert seat == table.can_take_back == 0 and len(choices) > 1
        for event in table.game.events(0)[before:]:
            assert not isinstance(event, HandDealt), "cards were turned up or dealt"
            assert isinstance(event, TrickTaken) or getattr(event, "seat", 0) == 0, event
            assert not isinstance(event, BidMade | CardPlayed) or table.game.sees_cards(0, 0) or event.seat == 0
    assert kept or rules.own_cards != "seen"


def test_bids_that_turn_over_and_cards_that_one_does_not_see_are_not_taken_back(tmp_path: Path) -> None:
    table = table_of(tmp_path, Rules(players=3, ramp=(3, 2)))
    while table.game.phase == BID:
        table.step(table.game.legal_actions[0])
    assert table.can_take_back is None, "the dealer's bid has turned the others' over"
    hidden = table_of(tmp_path, Rules(players=3, ramp=(5, 4), bids="open", own_cards="hidden"))
    played = 0
    while not hidden.game.past_hands:
        plays = hidden.game.player == 0 and hidden.game.phase != BID
        hidden.step(hidden.game.legal_actions[0])
        played += plays
        assert not plays or hidden.can_take_back is None, "one has seen which card it was"
    assert played == 5


def test_a_choice_may_be_taken_back_for_some_time_however_fast_the_bots_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server(tmp_path) as host:
        monkeypatch.setattr(live, "TAKE_BACK_SECONDS", 3600.0)
        made = host.open_table(changes=["ramp=3..1", "bids=open", "first_dealer=2"], seed=3)
        with join(host, made["seats"]["0"]) as seat:
            say(seat, type="speed", speed="fast")
            mine = until(seat, lambda one: one.get("choices"))
            say(seat, type="act", action=mine["choices"][1]["action"], number=mine["number"])
            until(seat, lambda one: one["type"] == "table" and one["take_back"])
            say(seat, type="back")
            again = until(seat, lambda one: one.get("choices"))
            assert again["choices"] == mine["choices"] and not again["take_back"]
        table = host.hall.tables[-1].table
        assert [(one["seat"], one["action"]) for one in table.taken_back] == [(0, "bid 1")]


# --- One's own mistakes --------------------------------------------------------------------------------------------


def test_ones_own_mistakes_are_those_of_the_review_of_the_whole_match(tmp_path: Path) -> None:
    table, rng = table_of(tmp_path, Rules(players=3, ramp=(4, 3, 2)), people=(0, 1), seed=5), np.random.default_rng(5)
    while not table.over:
        table.step(int(rng.choice(table.game.legal_actions)))
    table.save()
    replay = load_replay(table.path)
    whole = review(replay, rollouts=ROLLOUTS).mistakes(replay)
    found = [own_mistakes(table.path, hand, (0, 1)) for hand in range(3)]
    for seat in (0, 1):
        ours = {one["position"]: one["loss"] for hand in found for one in hand[seat]}
        assert ours == {one.position: round(one.loss, 1) for one in whole if one.seat == seat} and ours
    for number, hand in enumerate(found, start=1):
        for one in (one for seat in hand.values() for one in seat):
            game = replay.game(one["position"])
            assert (one["hand"], one["trick"]) == (number, 0 if game.phase == BID else len(game.tricks) + 1)
            assert {"bid", "play"} >= {one["chosen"]["text"].split()[0]} or one["chosen"]["card"]


def test_mistakes_are_told_to_their_seat_after_the_hand_and_again_to_whoever_comes_back(tmp_path: Path) -> None:
    with server(tmp_path) as host:
        made = host.open_table(players=["person", "person", "heuristic"], changes=["ramp=3..1"], seed=3, mistakes=True)
        with join(host, made["seats"]["0"]) as first, join(host, made["seats"]["1"]) as second:
            told = played_hand(first, second)
            assert [set(told[seat]["hands"]) for seat in (0, 1)] == [{"0"}, {"0"}]
        table = host.hall.tables[-1].table
        for seat in (0, 1):
            assert told[seat]["hands"]["0"] == table.mistakes[0][seat]
            with join(host, made["seats"][str(seat)]) as again:
                assert until(again, lambda one: one["type"] == "mistakes")["hands"] == told[seat]["hands"]
        assert Table.load(tmp_path / f"{table.id}.table.json").mistakes == table.mistakes


def played_hand(first: Any, second: Any) -> dict[int, Any]:
    """Play a hand by two people's last choices; what each is told of mistakes after it."""
    told: dict[int, Any] = {}
    end = time.monotonic() + 400  # the search may have to compile first
    while len(told) < 2:
        assert time.monotonic() < end, f"mistakes were told to {sorted(told)} alone"
        for number, seat in enumerate((first, second)):
            try:
                message = json.loads(seat.recv(timeout=0.2))
            except TimeoutError:
                continue
            if message["type"] == "mistakes":
                told[number] = message
            elif message["type"] == "table":
                assert message["review"]
                if not message["choices"] or message["sheet"]:
                    continue
                say(seat, type="act", action=message["choices"][-1]["action"], number=message["number"])
    return told


def test_no_mistakes_are_told_where_nobody_asked_or_the_server_is_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server(tmp_path) as host:
        made = host.open_table(changes=["ramp=1"], seed=3)
        with join(host, made["seats"]["0"]) as seat:
            assert not play_to_the_end(seat)["review"]
        assert not host.hall.tables[-1].table.mistakes
        monkeypatch.setattr(live, "MAX_REVIEWS", 0)
        made = host.open_table(changes=["ramp=1"], seed=3, mistakes=True)
        with join(host, made["seats"]["0"]) as seat:
            play_to_the_end(seat)
            assert until(seat, lambda one: one["type"] == "mistakes")["hands"] == {"0": None}


# --- Rest and return -----------------------------------------------------------------------------------------------


def rest(host: Server) -> None:
    """Put every table to rest that nobody is at, and wait until all have hung up."""
    while True:
        asyncio.run_coroutine_threadsafe(host.hall.rest(0.0), host._loop).result(60)
        if not host.hall.tables:
            return


def test_tables_without_anybody_leave_memory_and_their_links_bring_them_back(tmp_path: Path) -> None:
    with server(tmp_path) as host:
        over, going = (host.open_table(changes=["ramp=2..1"], seed=3) for _ in range(2))
        with join(host, over["seats"]["0"]) as seat:
            last = play_to_the_end(seat)
        with join(host, going["seats"]["0"]) as seat:
            mine = until(seat, lambda one: one.get("choices"))
            asyncio.run_coroutine_threadsafe(host.hall.rest(0.0), host._loop).result(60)
            assert len(host.hall.tables) == 1, "somebody is there"
        rest(host)
        page = urllib.request.urlopen(host.url + over["seats"]["0"].replace("/t/", "/replay/")).read()
        assert b"the match just played" in page
        with join(host, over["seats"]["0"]) as seat:
            assert until(seat, lambda one: one["type"] == "table")["sheet"] == last["sheet"]
        with join(host, going["seats"]["0"]) as seat:
            again = until(seat, lambda one: one.get("choices"))
            assert again["scene"] == mine["scene"]
            say(seat, type="act", action=again["choices"][0]["action"], number=again["number"])
            assert play_to_the_end(seat)["over"]


def test_a_full_server_makes_room_and_says_so_where_it_cannot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halls, "MAX_AWAKE", 2)
    with server(tmp_path) as host:
        made = [host.open_table(changes=["ramp=1"], seed=3) for _ in range(5)]
        assert len(host.hall.tables) <= 2
        with join(host, made[0]["seats"]["0"]) as one, join(host, made[1]["seats"]["0"]) as other:
            for seat in (one, other):
                assert until(seat, lambda message: message.get("choices"))
            with pytest.raises(urllib.error.HTTPError) as refused:
                host.open_table(changes=["ramp=1"])
            assert "this server is full" in refused.value.read().decode()
            assert len(list(tmp_path.glob("*.table.json"))) == 5, "nothing is left of the one that was refused"


def test_a_damaged_table_is_left_out_and_the_others_are_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = table_of(tmp_path)
    table.save()
    (tmp_path / "half.table.json").write_text('{"table": "ohhell-table"')
    lost = json.loads((tmp_path / f"{table.id}.table.json").read_text())
    lost["watch"], lost["chairs"][0]["token"] = "watch", "seat"
    (tmp_path / "lost.table.json").write_text(json.dumps(lost))  # without its record
    with server(tmp_path) as host:
        assert "half.table.json is not a table" in capsys.readouterr().err
        with join(host, f"/t/{table.chairs[0].token}") as seat:
            assert until(seat, lambda one: one["type"] == "table")
        with join(host, "/t/seat") as seat, pytest.raises(ConnectionClosed, match="cannot be opened"):
            seat.recv(timeout=60)


# --- Several participants at a table -------------------------------------------------------------------------------

TOGETHER = """
title = "Three at a table"
consent = "Your actions are kept under a code."
participants = 4
wait = {wait}

[[tables]]
preset = "oh_hell"
players = ["person", "heuristic", "person"]
changes = ["ramp=1"]
seed = 7
"""


def together(folder: Path, wait: int) -> Study:
    (folder / "study.toml").write_text(TOGETHER.format(wait=wait))
    return Study(load_plan(folder / "study.toml"), folder / "study")


def way_in(host: Server, study: Study, code: str) -> Any:
    request = urllib.request.Request(f"{host.url}/api/study/{study.participants[code]['token']}", b"{}")
    return json.load(urllib.request.urlopen(request, timeout=120))["next"]


def test_participants_of_a_group_wait_for_each_other_and_the_next_forms_a_new_group(tmp_path: Path) -> None:
    study = together(tmp_path, wait=0)
    with server(tmp_path / "study", study) as host:
        addresses = {code: way_in(host, study, code) for code in ("P03", "P01", "P04")}
        assert {code: study.place(code, 1) for code in addresses} == {
            "P03": ("G01-1", 0),
            "P01": ("G01-1", 2),
            "P04": ("G02-1", 0),
        }
        assert way_in(host, study, "P03") == addresses["P03"]
        with join(host, addresses["P03"]) as first:
            message = until(first, lambda one: one["type"] == "table")
            assert message["awaited"] == [2] and not message["choices"]
            say(first, type="act", action=0, number=message["number"])
            assert "have not come" in until(first, lambda one: one["type"] == "error")["error"]
            say(first, type="name", name="Ada")
            assert "nobody has a name" in until(first, lambda one: one["type"] == "error")["error"]
            with join(host, addresses["P01"]) as second:
                names = [one["name"] for one in until(second, lambda one: not one["awaited"])["scene"]["seats"]]
                assert names == ["participant", "heuristic", "you"]
                finish(first, second)
        assert way_in(host, study, "P03") is None
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{host.url}/api/study/nobody")
    again = Study(load_plan(tmp_path / "study.toml"), tmp_path / "study")
    assert again.place("P01", 1) == ("G01-1", 2)
    with server(tmp_path / "study", again) as host:
        assert way_in(host, again, "P04") == addresses["P04"] and way_in(host, again, "P01") is None
    assert load_seating(tmp_path / "study" / "G01-1.jsonl", 3).players == ("P03", "heuristic", "P01")
    assert set(tallies(tmp_path / "study")) == {"P01", "P03", "heuristic"}


def finish(*seats: Any) -> None:
    """Play on until the match is over for everybody."""
    left = list(seats)
    while left:
        for seat in list(left):
            try:
                message = json.loads(seat.recv(timeout=0.2))
            except TimeoutError:
                continue
            if message.get("over"):
                left.remove(seat)
            elif message.get("choices"):
                say(seat, type="act", action=message["choices"][0]["action"], number=message["number"])


def test_bots_take_the_seats_of_those_who_do_not_come_and_the_record_says_so(tmp_path: Path) -> None:
    study = together(tmp_path, wait=1)
    with server(tmp_path / "study", study) as host:
        with join(host, way_in(host, study, "P02")) as seat:
            assert until(seat, lambda one: one["type"] == "table")["awaited"] == [2]
            play_to_the_end(seat)
        table = host.hall.tables[-1].table
        assert [(one["seat"], one["player"]) for one in table.stand_ins] == [(2, "heuristic")]
        assert way_in(host, study, "P01") is not None and study.place("P01", 1) == ("G02-1", 0)
    assert load_seating(tmp_path / "study" / "G01-1.jsonl", 3).players == ("P02", "heuristic", "heuristic")


def test_a_bot_takes_over_from_whoever_leaves_and_gives_the_seat_back(tmp_path: Path) -> None:
    study = together(tmp_path, wait=1)
    with server(tmp_path / "study", study) as host:
        addresses = [way_in(host, study, code) for code in ("P01", "P02")]
        with join(host, addresses[0]) as stays:
            with join(host, addresses[1]) as leaves:
                until(leaves, lambda one: one["type"] == "table" and not one["awaited"])
            until(stays, lambda one: one["type"] == "table" and one["kinds"][2] == "bot")
            with join(host, addresses[1]) as back:
                say(back, type="return")
                until(back, lambda one: one["type"] == "table" and one["kinds"][2] == "person")
    assert load_seating(tmp_path / "study" / "G01-1.jsonl", 3).players == ("P01", "heuristic", "P02")
