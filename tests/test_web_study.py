"""A study: fixed tables and deals for each participant, nothing without consent, and the way on after a restart."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from test_web import join, play_to_the_end, say, until
from web_server import Server, server

from ohhell_env.commands.serve import main
from ohhell_env.records.notation import load_record
from ohhell_env.web.study import Study, load_plan

PLAN = """
title = "A small study"
consent = "Two matches. Your actions are kept under a code."
participants = 3
order = "shuffled"

[[tables]]
preset = "oh_hell"
players = ["person", "heuristic", "random"]
changes = ["ramp=2..1"]
seed = 7

[[tables]]
preset = "oh_pshaw"
players = ["random", "person", "heuristic"]
changes = ["ramp=1"]
seed = 8
"""


def planned(folder: Path, change: Callable[[str], str] = str) -> Path:
    path = folder / "study.toml"
    path.write_text(change(PLAN))
    return path


def asked(host: Server, token: str, body: bytes | None = None) -> Any:
    return json.load(urllib.request.urlopen(f"{host.url}/api/study/{token}", body, timeout=120))


def test_a_participant_plays_the_tables_in_their_order_and_goes_on_after_a_restart(tmp_path: Path) -> None:
    plan, folder = load_plan(planned(tmp_path)), tmp_path / "study"
    study = Study(plan, folder)
    token = study.participants["P02"]["token"]
    first, second = study.order("P02")
    with server(folder, study) as host:
        about = asked(host, token)
        assert (about["title"], about["agreed"], about["done"], about["of"]) == ("A small study", False, 0, 2)
        assert not host.hall.tables, "nothing is played before the participant agrees"
        address = asked(host, token, b"{}")["next"]
        assert asked(host, token, b"{}")["next"] == address, "one table, however often one asks"
        with join(host, address) as seat:
            mine = until(seat, lambda one: one.get("choices"))
            assert not mine["hints"] and not mine["take_back"]
            say(seat, type="hint")
            assert "no hints" in until(seat, lambda one: one["type"] == "error")["error"]
        for refused in ("/", "/api/study/nobody", "/s/nobody"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(host.url + refused)
        with pytest.raises(urllib.error.HTTPError, match="403"):
            host.open_table()
    again = Study(plan, folder)
    assert again.participants == study.participants and again.participants["P02"]["agreed"]
    with server(folder, again) as host:
        assert asked(host, token, b"{}")["next"] == address
        with join(host, address) as seat:
            play_to_the_end(seat)
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(host.url + address.replace("/t/", "/replay/"))
        assert asked(host, token)["done"] == 1
        with join(host, asked(host, token, b"{}")["next"]) as seat:
            play_to_the_end(seat)
        assert asked(host, token, b"{}")["next"] is None and asked(host, token)["done"] == 2
    for number, seed in ((first, 6 + first), (second, 6 + second)):
        assert load_record(folder / f"P02-{number}.jsonl").seed == seed
        times = json.loads((folder / f"P02-{number}.table.json").read_text())["times"]
        assert times and {one["seat"] for one in times} == {number - 1}


def test_orders_are_everybodys_own_and_the_same_at_every_start(tmp_path: Path) -> None:
    def more(text: str) -> str:
        return text.replace("participants = 3", "participants = 40")

    study, again = (Study(load_plan(planned(tmp_path, more)), tmp_path / name) for name in "ab")
    orders = {code: study.order(code) for code in study.participants}
    assert orders == {code: again.order(code) for code in again.participants}
    assert {tuple(order) for order in orders.values()} == {(1, 2), (2, 1)}
    assert len({one["token"] for one in study.participants.values()}) == 40
    assert (tmp_path / "a" / "participants.json").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('title = "A small study"', "", "needs title"),
        ("participants = 3", "participants = 0", "use 1 to 2000"),
        ("participants = 3", "participants = true", "needs participants"),
        ('"shuffled"', '"backwards"', "use one of fixed, shuffled"),
        ("seed = 7", "", "table 1 of the study needs preset, players and seed"),
        ('"random", "person"', '"random", "random"', "table 2 of the study needs 1 to 3 of person"),
        ("participants = 3", 'participants = 3\nprize = "none"', "unknown fields: prize"),
        ("participants = 3", "participants", "is not TOML"),
        ("participants = 3", "participants = 3\nwait = -1", "wait=-1 is not allowed"),
        ("participants = 3", 'participants = 3\nstand_in = "nobody"', "player 'nobody' is not known"),
        ('"oh_pshaw"', '"whist"', "there is no preset 'whist'"),
        ('"heuristic", "random"', '"heuristic", "nobody"', "player 'nobody' is not known"),
    ],
)
def test_a_study_that_cannot_be_is_refused(
    old: str, new: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = planned(tmp_path, lambda text: text.replace(old, new, 1))
    assert main(["--study", str(path), "--folder", str(tmp_path / "study")]) == 2
    assert why in capsys.readouterr().err
    assert not (tmp_path / "study").exists()
