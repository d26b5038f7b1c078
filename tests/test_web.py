"""The server of tables: nothing hidden leaves it, nothing foreign changes it, and it goes on where it was killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from hypothesis import given
from hypothesis import strategies as st
from web_server import Server, server
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from ohhell_env import Rules
from ohhell_env.kernel.state import BID
from ohhell_env.records.match import Match
from ohhell_env.records.notation import load_record, write_record
from ohhell_env.rules.presets import PRESETS, preset
from ohhell_env.table.game import TABLE_VIEWER
from ohhell_env.web.hall import read_request
from ohhell_env.web.messages import MAX_MESSAGE, MessageError, read_message, table_message
from ohhell_env.web.server import same_origin
from ohhell_env.web.table import PERSON, Table

BOTS = ("heuristic", "random")


def table_of(folder: Path, rules: Rules | None = None, people: tuple[int, ...] = (0,), seed: int = 3) -> Table:
    rules = rules or Rules(players=3, ramp=(3, 2))
    players = [PERSON if seat in people else "heuristic" for seat in range(rules.players)]
    return Table.open(folder, rules, players, seed)


def sent(table: Table, viewer: Any) -> str:
    return json.dumps(table_message(table, viewer, (0, 0))[0])


# --- Nothing hidden leaves -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("viewer", [0, TABLE_VIEWER])
def test_what_is_sent_does_not_change_with_what_is_hidden(tmp_path: Path, viewer: Any) -> None:
    texts = []
    for swapped in (False, True):
        table = table_of(tmp_path, Rules(players=4, ramp=(6, 5)), seed=8)
        while table.game.player != 0:
            table.step(table.game.legal_actions[-1])
        if swapped:
            record = table.match.games[0]
            record["hands"][[1, 3]] = record["hands"][[3, 1]]
            record["bids"][1], record["bids"][2] = record["bids"][2] - 1, record["bids"][1] + 1  # the same sum
            record["deck"][24 + 1 :] = record["deck"][24 + 1 :][::-1]
        texts.append(sent(table, viewer))
    assert texts[0] == texts[1]
    assert "hidden" in texts[0]


@pytest.mark.parametrize("name", ["oh_hell", "penguin_whist", "seven_down", "pocha", "oh_sh", "cooperative"])
def test_events_and_cards_sent_are_those_of_the_viewer_alone(name: str, tmp_path: Path) -> None:
    table, rng = table_of(tmp_path, preset(name)), np.random.default_rng(1)
    for _ in range(60):
        for viewer in (0, 1, TABLE_VIEWER):
            message = json.loads(sent(table, viewer))
            game = table.game
            assert [one["event"] for one in message["events"]] == [type(one).__name__ for one in game.events(viewer)]
            for seat, shown in enumerate(message["scene"]["seats"]):
                assert (None not in shown["cards"]) == (game.sees_cards(viewer, seat) or not game.hands[seat])
            mine = viewer == game.player and not table.unseen
            assert [one["action"] for one in message["choices"]] == (list(game.legal_actions) if mine else [])
            assert mine or not message["shut"]
        table.unseen.clear()
        if table.over:
            break
        table.step(int(rng.choice(table.game.legal_actions)))


def test_no_token_and_no_seed_is_ever_sent(tmp_path: Path) -> None:
    table = table_of(tmp_path, people=(0, 1), seed=123456789123)
    for viewer in (0, 1, TABLE_VIEWER):
        text = sent(table, viewer)
        for secret in (table.watch, table.chairs[0].token, table.chairs[1].token, table.id, "123456789123"):
            assert secret not in text


# --- What clients say ----------------------------------------------------------------------------------------------

BAD = [
    ("", "not JSON"),
    ("[" * 900, "not JSON"),
    ("x" * (MAX_MESSAGE + 1), "at most 1024 bytes"),
    ("[]", "an object whose type is one of act"),
    ('{"type": "reset"}', "an object whose type is one of act"),
    ('{"type": ["act"]}', "an object whose type is one of act"),
    ('{"type": "act", "action": 1}', "has action, number fields"),
    ('{"type": "act", "action": true, "number": 0}', "action must be a whole number"),
    ('{"type": "act", "action": "1", "number": 0}', "action must be a whole number"),
    ('{"type": "next", "seat": 1}', "has no other fields"),
    ('{"type": "speed", "speed": "warp"}', "speed must be one of slow, normal, fast"),
    ('{"type": "name", "name": "   "}', "a name has 1 to 24 characters"),
]


@pytest.mark.parametrize(("text", "why"), BAD)
def test_a_message_that_says_nothing_is_refused_with_what_is_wrong(text: str, why: str) -> None:
    with pytest.raises(MessageError, match=why):
        read_message(text)


@given(st.text() | st.binary() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_any_message_is_read_or_refused(text: str | bytes) -> None:
    with pytest.raises(MessageError):
        read_message(text)


@given(st.dictionaries(st.sampled_from(["type", "action", "number", "seat", "name"]), st.integers() | st.text()))
def test_any_object_is_read_as_a_message_or_refused(message: dict[str, Any]) -> None:
    try:
        read = read_message(json.dumps(message))
    except MessageError:
        return
    assert read == message


@pytest.mark.parametrize(
    "request_",
    [
        None,
        [],
        {"preset": "oh_hell"},
        {"preset": "oh_hell", "players": ["person"] * 40},
        {"preset": "/etc/passwd.json", "players": ["person"] * 4},
        {"preset": "oh_hell", "players": ["person", "os:system", "heuristic"]},
        {"preset": "oh_hell", "players": ["person", "checkpoints/../..", "heuristic"]},
        {"preset": "oh_hell", "players": ["person"] * 4, "changes": ["scoring=os:system"]},
        {"preset": "oh_hell", "players": ["person"] * 4, "changes": ["deals=AS"]},
        {"preset": "oh_hell", "players": ["person"] * 4, "changes": ["hook=perhaps"]},
        {"preset": "oh_hell", "players": ["person"] * 4, "changes": [3]},
        {"preset": "oh_hell", "players": ["person"] * 4, "seed": True},
        {"preset": "oh_hell", "players": ["person"] * 4, "folder": "/"},
    ],
)
def test_a_table_that_cannot_be_is_refused(request_: Any) -> None:
    with pytest.raises(ValueError):
        read_request(request_, BOTS)


def test_only_this_servers_pages_may_connect() -> None:
    assert same_origin("http://127.0.0.1:8000", "127.0.0.1:8000") and same_origin(None, "127.0.0.1:8000")
    assert not same_origin("http://evil.example", "127.0.0.1:8000")
    assert not same_origin("null", "127.0.0.1:8000")


# --- A table -------------------------------------------------------------------------------------------------------


def test_a_table_goes_on_from_its_files(tmp_path: Path) -> None:
    table = table_of(tmp_path, people=(0, 2))
    table.chairs[0].name = "Ada"
    for _ in range(14):
        table.step(table.game.legal_actions[0])
        table.save()
        again = Table.load(tmp_path / f"{table.id}.table.json")
        assert write_record(again.game) == write_record(table.game)
        assert (again.chairs, again.watch, again.number, again.unseen) == (
            *(table.chairs, table.watch, table.number, table.unseen),
        )
        assert sent(again, 0) == sent(table, 0)
    assert (tmp_path / f"{table.id}.table.json").stat().st_mode & 0o077 == 0


def test_only_ones_own_last_action_is_taken_back_and_it_is_marked(tmp_path: Path) -> None:
    table = table_of(tmp_path, Rules(players=3, ramp=(3, 2), first_dealer=2))  # seat 0 leads: it has a choice
    while table.game.player != 0 or table.game.phase == BID:
        table.step(table.game.legal_actions[0])
    before = table.match.games.tobytes()
    with pytest.raises(ValueError, match="nothing may be taken back"):
        table.take_back()
    table.step(table.game.legal_actions[0])
    words = table.game.events()[-1]
    table.take_back()
    assert table.match.games.tobytes() == before
    assert [one["hand"] for one in table.taken_back] == [1] and words not in table.game.events()
    table.step(table.game.legal_actions[0])
    table.step(table.game.legal_actions[0])  # a bot
    assert table.can_take_back is None
    several = table_of(tmp_path, people=(0, 1))
    several.step(several.game.legal_actions[0])
    assert several.can_take_back is None


def test_a_copy_of_a_match_is_apart() -> None:
    match = Match(Rules(players=3, ramp=(1, 1)), seed=1)
    other = match.copy()
    while not other.step(other.game.legal_actions[0]):
        pass
    assert match.game.hand_number == 1 and not match.game.past_hands and not any(match.game.bids)


# --- The server ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("tables")) as one:
        yield one


def join(host: Server, address: str) -> ClientConnection:
    token = address.rpartition("/")[2]
    return connect(f"ws://127.0.0.1:{host.port}/ws/{token}", max_size=None)


def until(connection: ClientConnection, wanted: Any) -> Any:
    """The first message of which something is so."""
    while True:
        message = json.loads(connection.recv(timeout=60))
        if wanted(message):
            return message


def say(connection: ClientConnection, **message: Any) -> None:
    connection.send(json.dumps(message))


def test_foreign_and_illegal_messages_change_nothing_and_are_answered(host: Server) -> None:
    made = host.open_table(changes=["ramp=2..1"], seed=3)
    table = host.hall.tables[-1].table
    with join(host, made["seats"]["0"]) as seat, join(host, made["watch"]) as watcher:
        mine = until(seat, lambda one: one.get("choices"))
        before = table.match.games.tobytes()
        for text in ("{", json.dumps({"type": "act", "action": 99, "number": mine["number"]}), "null"):
            seat.send(text)
            assert until(seat, lambda one: one["type"] == "error")["error"]
        say(seat, type="act", action=mine["choices"][0]["action"], number=mine["number"] - 1)
        assert "has changed" in until(seat, lambda one: one["type"] == "error")["error"]
        say(watcher, type="act", action=mine["choices"][0]["action"], number=mine["number"])
        assert "you are a spectator" in until(watcher, lambda one: one["type"] == "error")["error"]
        seat.send(b"\x00\xff")
        assert "not bytes" in until(seat, lambda one: one["type"] == "error")["error"]
        assert table.match.games.tobytes() == before
        say(seat, type="act", action=mine["choices"][0]["action"], number=mine["number"])
        until(watcher, lambda one: one["type"] == "table" and one["number"] > mine["number"])


def test_the_time_that_a_person_takes_is_kept(host: Server) -> None:
    made = host.open_table(changes=["ramp=1"], seed=3)
    with join(host, made["seats"]["0"]) as seat:
        play_to_the_end(seat)
    table = host.hall.tables[-1].table
    assert [(one["hand"], one["seat"], one["action"].split()[0]) for one in table.times] == [
        (1, 0, "bid"),
        (1, 0, "play"),
    ]
    assert all(0 < one["seconds"] < 60 for one in table.times)
    assert Table.load(table.path.with_name(f"{table.id}.table.json")).times == table.times


def test_floods_and_large_frames_end_the_connection_and_nothing_else(host: Server) -> None:
    made = host.open_table(changes=["ramp=2..1"], seed=3)
    for flood in (["{}"] * 300, ["x" * 100_000]):
        with join(host, made["seats"]["0"]) as seat, pytest.raises(ConnectionClosed):
            for text in flood:
                seat.send(text)
            while True:
                seat.recv(timeout=60)
    with join(host, made["seats"]["0"]) as seat:
        assert until(seat, lambda one: one.get("choices"))


def test_unknown_doors_stay_shut(host: Server) -> None:
    with join(host, "/t/nobody") as seat, pytest.raises(ConnectionClosed) as closed:
        seat.recv(timeout=60)
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 4404
    for path in ("/t/nobody", "/replay/nobody", "/static/table.html", "/static/..%2fserver.py"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(host.url + path)
    with pytest.raises(urllib.error.HTTPError, match="403"):
        host.post("/api/tables", b"{}", Origin="http://evil.example")
    with pytest.raises(urllib.error.HTTPError, match="400"):
        urllib.request.urlopen(urllib.request.Request(host.url + "/", headers={"Host": "evil.example"}))
    with pytest.raises(urllib.error.HTTPError, match="413"):
        host.post("/api/tables", b"[" * 10_000)
    made = host.open_table(changes=["ramp=2..1"])
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(host.url + made["seats"]["0"].replace("/t/", "/replay/"))


def play_to_the_end(seat: ClientConnection) -> Any:
    """First choices until the match is over; the last message."""
    while True:
        message = until(seat, lambda one: one["type"] == "table" and (one["choices"] or one["unseen"] or one["over"]))
        if message["over"]:
            return message
        if message["you"] in message["unseen"]:
            say(seat, type="next")
        elif message["choices"]:
            say(seat, type="act", action=message["choices"][0]["action"], number=message["number"])


@pytest.mark.parametrize("name", PRESETS)
def test_a_match_at_every_preset_is_played_over_the_socket(host: Server, name: str) -> None:
    short = {"cooperative": ["attempts=1", "cap=1"], "mormon_bridge": ["ramp=2..1", "cap=0"]}
    count = 3 if name != "oh_sh" else 6
    players = ["person", *["heuristic"] * (count - 1)]
    changes = short.get(name, ["ramp=2..1"])
    made = host.open_table(name, players, changes=changes, seed=1)
    with join(host, made["seats"]["0"]) as seat:
        last = play_to_the_end(seat)
    record = load_record(host.hall.tables[-1].table.path)
    assert [one["score"] for one in last["scene"]["seats"]] == list(record.scores)


def test_a_deserted_seat_goes_to_a_bot_and_its_person_takes_it_back(host: Server) -> None:
    made = host.open_table(players=["person", "person", "heuristic"], changes=["ramp=2..1"], seed=3)
    with join(host, made["seats"]["0"]) as seat:
        say(seat, type="bot", seat=2)
        assert "only another person's seat" in until(seat, lambda one: one["type"] == "error")["error"]
        say(seat, type="bot", seat=1)
        until(seat, lambda one: one["type"] == "table" and one["kinds"][1] == "bot" and one["choices"])
        with join(host, made["seats"]["1"]) as other:
            say(other, type="next")
            assert "a bot plays your seat" in until(other, lambda one: one["type"] == "error")["error"]
            say(other, type="return")
            until(other, lambda one: one["type"] == "table" and one["kinds"][1] == "person")
            say(seat, type="bot", seat=1)
            assert "is here" in until(seat, lambda one: one["type"] == "error")["error"]


def test_a_killed_server_finds_its_tables_again_as_they_were_shown(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ohhell_env", "serve", "--folder", str(tmp_path / "tables"), "--port"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}

    def started() -> tuple[Any, int]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = subprocess.Popen([*command, str(port)], cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return process, port
            except OSError:
                time.sleep(0.05)

    process, port = started()
    request = {
        "preset": "oh_hell",
        "players": ["person", "heuristic", "heuristic"],
        "changes": ["ramp=2..1"],
        "seed": 3,
    }
    opened = urllib.request.Request(f"http://127.0.0.1:{port}/api/tables", json.dumps(request).encode(), method="POST")
    made = json.load(urllib.request.urlopen(opened, timeout=120))
    token = made["seats"]["0"].rpartition("/")[2]
    with connect(f"ws://127.0.0.1:{port}/ws/{token}") as seat:
        mine = until(seat, lambda one: one.get("choices"))
        say(seat, type="act", action=mine["choices"][0]["action"], number=mine["number"])
        shown = until(seat, lambda one: one.get("number", 0) > mine["number"])
        process.kill()
    process.wait()
    process, port = started()
    with connect(f"ws://127.0.0.1:{port}/ws/{token}") as seat:
        again = until(seat, lambda one: one["type"] == "table")
        assert again["number"] >= shown["number"]
        seats = [
            [one["scene"]["seats"][k][key] for k in range(3) for key in ("bid", "score")] for one in (shown, again)
        ]
        assert seats[0] == seats[1]
        assert until(seat, lambda one: one.get("choices"))
    process.terminate()
    assert process.wait(20) == -signal.SIGTERM


def test_a_client_that_does_not_read_is_cut_off() -> None:
    from ohhell_env.web.live import QUEUE, Client

    async def flood() -> list[Any]:
        client = Client(0)
        for _ in range(QUEUE + 1):
            client.push({"type": "table"})
        return [client.queue.get_nowait() for _ in range(client.queue.qsize())]

    assert asyncio.run(flood()) == [None]
