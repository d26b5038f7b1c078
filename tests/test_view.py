"""A record played again is the match; its page shows the match's own figures, hides what a seat may not see, and tells
when it is damaged. What a browser makes of the page is looked at in a headless Chromium, where there is one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from aec_play import SHORT, legal, over, play, record_of, started
from browser import PHONE, chromium, needs_browser, new_page, open_file
from tables import EVERY_TABLE

from ohhell_env import Rules
from ohhell_env.bots.policy.bot import load_policy
from ohhell_env.commands import view
from ohhell_env.kernel.state import BID, PLAY
from ohhell_env.records.match import Match, Seating, save_match
from ohhell_env.records.notation import CutOffError, read_record, save_record
from ohhell_env.records.replay import Replay, load_replay
from ohhell_env.records.review import Review, load_review, review, review_path, save_review
from ohhell_env.render.replay_html import replay_data, replay_page
from ohhell_env.render.scene import sorted_cards
from ohhell_env.rules.cards import SUIT_NAMES, card_symbol, parse_cards
from ohhell_env.table.actions import action_text
from ohhell_env.table.events import BidMade, Said
from ohhell_env.table.game import Game
from training.learning.checkpoint import Counters, save_checkpoint
from training.learning.config import Config
from training.learning.network import PolicyNetwork

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SMALL = Rules(ramp=(4, 1, 3))
TABLES = {**SHORT, **EVERY_TABLE}
NASTY = [
    "</script><script>document.title='run'</script>",
    "<img src=x onerror=document.title='run'>",
    "&lt;b&gt;",
    '"\\',
]


def recorded(folder: Path, rules: Rules = SMALL, decisions: int | None = None, seed: int = 7) -> Path:
    env = started(rules, seed)
    play(env, 3, decisions)
    save_record(env.game, folder / "match.jsonl")
    return folder / "match.jsonl"


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'type="application/json"[^>]*>(.*?)</script>', page, flags=re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


# --- The match played again ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHORT)
def test_the_positions_are_those_that_the_match_went_through(name: str, tmp_path: Path) -> None:
    env, rng, seen = started(SHORT[name]), np.random.default_rng(1), []
    while not over(env):
        game = record_of(env.unwrapped.games)
        seen.append((game, *play(env, rng, 1)))
    save_record(env.game, tmp_path / "match.jsonl")
    replay = load_replay(tmp_path / "match.jsonl")
    chosen = [position for position in range(len(replay)) if replay.chosen(position) is not None]
    assert [(record_of(replay.games[[k]]), replay.chosen(k)) for k in chosen] == seen
    assert len(replay) == len(seen) + env.game.num_hands, "each hand has one position more than moves: its end"


def test_a_match_that_was_broken_off_ends_where_it_was_left(tmp_path: Path) -> None:
    replay = load_replay(recorded(tmp_path, decisions=9))
    assert len(replay) == 10 and replay.chosen(9) is None
    assert replay_data(replay, "", None, Review())["hands"][0]["points"] is None


def test_a_record_without_a_hand_is_refused(tmp_path: Path) -> None:
    path = recorded(tmp_path)
    path.write_text(path.read_text().splitlines()[0] + "\n")
    with pytest.raises(ValueError, match="no hand"):
        load_replay(path)


def test_a_record_that_is_cut_short_says_in_which_hand_and_shows_the_finished_ones(tmp_path: Path, capsys: Any) -> None:
    path = recorded(tmp_path)
    whole, page = path.read_text(), tmp_path / "match.html"
    lines = whole.splitlines(keepends=True)
    path.write_text("".join(lines[:3]) + lines[3][:60])
    assert view.main([str(path)]) == 2
    assert capsys.readouterr().err == (
        f"error: {path}: line 4: the record ends in the middle of hand 3; "
        "the 2 finished hands before it are shown with --finished\n"
    )
    assert not page.exists()
    assert view.main([str(path), "--finished"]) == 0
    shown = data_of(page.read_text())
    assert [hand["number"] for hand in shown["hands"]] == [1, 2]
    kept = replay_data(load_replay(path, finished=True), "match.jsonl", None, Review())
    assert shown == json.loads(json.dumps(kept))
    path.write_text("".join(lines[:-1]) + lines[-1][:20])
    assert view.main([str(path)]) == 2 and "in the middle of the result" in capsys.readouterr().err
    assert len(load_replay(path, finished=True).end.past_hands) == 3
    path.write_text(lines[0] + lines[1][:60])
    for arguments, reason in (((), "no hand before it is finished"), (("--finished",), "no finished hand")):
        assert view.main([str(path), *arguments]) == 2 and reason in capsys.readouterr().err
    for end in range(1, len(whole) - 1):
        if whole[end - 1] != "\n" and whole[end] != "\n":
            with pytest.raises(CutOffError):
                read_record(whole[:end])


def test_only_the_finished_hands_of_a_match_that_was_broken_off_are_shown_on_request(tmp_path: Path) -> None:
    path = recorded(tmp_path, decisions=4 + 4 * 4 + 2)
    hands = [hand.hand_number for hand in load_replay(path, finished=True).end.hands_so_far]
    assert hands == [1] and load_replay(path).end.hand_number == 2


# --- The page's data -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_every_figure_in_the_page_is_the_records(name: str, tmp_path: Path) -> None:
    replay = load_replay(recorded(tmp_path, TABLES[name]))
    data = data_of(replay_page(replay, "match"))
    assert len(data["positions"]) == len(replay)
    for k, position in enumerate(data["positions"]):
        game, hand = replay.game(k), data["hands"][position["hand"]]
        assert (hand["number"], hand["size"], hand["dealer"]) == (game.hand_number, game.hand_size, game.dealer)
        assert position["bids"] == list(game.bids) and position["taken"] == list(game.taken)
        assert position["need"] == [None if b is None else b - t for b, t in zip(game.bids, game.taken, strict=True)]
        assert position["scores"] == list(game.scores) and position["player"] == game.player
        for seat in range(game.players):
            flags = zip(hand["dealt"][seat], position["held"][seat], strict=True)
            assert sorted(card for card, flag in flags if flag == "1") == sorted(game.hands[seat])
            assert len(position["backs"][seat]) == len(game.hands[seat])
        assert [tuple(one) for one in position["trick"]] == list(game.trick)
        assert [suit_of(one["named"]) for one in hand["tricks"][: position["tricks"]]] == [t.named for t in game.tricks]
        tricks = [(tuple(map(tuple, one["plays"])), one["winner"]) for one in hand["tricks"][: position["tricks"]]]
        assert tricks == [trick[:2] for trick in game.tricks]
        for field in ("turned", "shown", "worth"):
            assert position[field] == getattr(game, field)
        assert suit_of(position["named"]) == game.named_suit
        assert (hand["special"], hand["deals"]) == (game.special, game.deals)
        assert ("known" in position["trump"]["text"]) == (not game.trump_known)
        assert position["pledges"] == list(game.pledges)
        sight, seats = data["sights"][position["sight"]], range(game.players)
        for viewer in seats:
            assert sight["hands"][viewer] == [seat for seat in seats if game.sees_cards(viewer, seat)]
            for key, bids in (("sealed", game.visible_bids(viewer)), ("blind", game.visible_first_bids(viewer))):
                assert sight[key][viewer] == [seat for seat in seats if bids[seat] == "hidden"]
        if position["move"]:
            check_move(position["move"], replay.game(k - 1), replay.actions[k] or 0, game)
    for hand, past in zip(data["hands"], replay.end.past_hands, strict=True):
        assert hand["points"] == list(past.points) and hand["totals"] == list(past.scores)
    winners = [f"player_{seat}" for seat, share in enumerate(replay.end.win_shares) if share]
    said = data["positions"][-1]["status"]
    assert " and ".join(winners) in said and "match" in said and (winners or "lost by all" in said)


def suit_of(name: str | None) -> int | None:
    return None if name is None else SUIT_NAMES.index(name)


def check_move(move: dict[str, Any], before: Game, action: int, after: Game) -> None:
    """A move is told as it was made, and a bid that stays sealed without its number."""
    assert (move["seat"], move["text"]) == (before.player, before.action_text(action))
    if before.phase == PLAY:
        assert move["card"] == [card for trick in (*after.tricks, (after.trick,)) for _, card in trick[0]][-1]
        return
    other = after.events((before.player + 1) % before.players)
    bids = [event.bid for event in other if isinstance(event, (BidMade, Said)) and event.seat == before.player]
    number = move["text"].rpartition(" ")[2]
    assert move["card"] is None and (move["veiled"] == move["told"] or move["veiled"].endswith("sealed"))
    if number.isdecimal() and after.bids.count(None) not in (0, before.players):
        assert (number in move["veiled"]) == (bids[-1] is not None)


def test_a_seats_view_has_its_own_cards_and_no_sealed_bid(tmp_path: Path) -> None:
    replay = load_replay(recorded(tmp_path))
    data = replay_data(replay, "", None, Review())
    for k, position in enumerate(data["positions"]):
        sight, game = data["sights"][position["sight"]], replay.game(k)
        assert sight["hands"] == [*([seat] for seat in range(4)), []], "spectators see no hands"
        made = [seat for seat in range(4) if game.bids[seat] is not None and game.phase == BID]
        assert sight["sealed"] == [[seat for seat in made if seat != viewer] for viewer in (*range(4), "table")]


def test_text_from_people_stays_text(tmp_path: Path) -> None:
    page = replay_page(load_replay(recorded(tmp_path)), NASTY[0], NASTY)
    assert page.count("<script") == 2 and "<img" not in page
    data = data_of(page)
    assert data["names"] == NASTY and data["title"] == NASTY[0]


def test_names_are_those_of_the_match_and_you_are_addressed_as_you(tmp_path: Path, capsys: Any) -> None:
    match = Match(SMALL, seed=7)
    for _ in range(9):
        match.step(match.game.legal_actions[0])
    path = tmp_path / "match.jsonl"
    save_match(match, Seating(("random", "you", "search:50", "random"), 1, 0), path)
    assert view.main([str(path)]) == 0
    data = data_of((tmp_path / "match.html").read_text())
    assert data["names"] == ["random 1", "you", "search:50", "random 2"] and data["you"] == 1
    told = {(move["seat"] == 1, move["told"].split()[0]) for one in data["positions"] if (move := one["move"])}
    assert told == {(True, "bid"), (True, "play"), (False, "bids"), (False, "plays")}
    assert view.main([str(path), "--names", "A,B,C,D"]) == 0
    assert data_of((tmp_path / "match.html").read_text())["names"] == ["A", "B", "C", "D"]
    (tmp_path / "match.jsonl.players").write_text("{}")
    assert view.main([str(path)]) == 2 and "does not say who plays" in capsys.readouterr().err


# --- Opinions ------------------------------------------------------------------------------------------------------


def a_blunder(folder: Path) -> Path:
    """One card each, hearts trump: player_1, who bids first, holds the ace of trumps and says it takes nothing."""
    env = started(Rules(ramp=(1,)))
    deck = parse_cards("AH 2C 3C 4C 5H")
    env.reset(seed=1, options={"deals": [deck + [card for card in range(52) if card not in deck]]})
    while not over(env):
        env.step(legal(env)[0])
    save_record(env.game, folder / "match.jsonl")
    return folder / "match.jsonl"


def test_the_search_finds_the_blunder_and_what_it_costs(tmp_path: Path) -> None:
    replay = load_replay(a_blunder(tmp_path))
    worst, *_ = review(replay, rollouts=200).mistakes(replay)
    assert (worst.position, worst.seat) == (0, 1)
    assert (action_text(worst.chosen), action_text(worst.best)) == ("bid 0", "bid 1")
    assert 10.9 <= worst.loss <= 11.1, "11 points for one bid and taken, none for zero bid, whatever the others do"


def test_one_seed_gives_one_review(tmp_path: Path) -> None:
    replay = load_replay(recorded(tmp_path))
    assert review(replay, rollouts=40) == review(replay, rollouts=40)
    assert review(replay, rollouts=40) != review(replay, rollouts=40, seed=1)


@pytest.mark.parametrize("learner", ["ppo", "dmc"])
def test_the_policys_likeliest_action_is_what_it_plays(learner: Any, tmp_path: Path) -> None:
    """And its values are shown where they are values: ppo's network gives logits."""
    replay = load_replay(recorded(tmp_path))
    torch.manual_seed(1)
    save_checkpoint(tmp_path / "tiny", PolicyNetwork(64, 1), Config(learner=learner, width=64, depth=1), Counters())
    opinions = review(replay, policy=str(tmp_path / "tiny"))
    assert list(opinions.decisions) == replay.choices
    for position, options in opinions.decisions.items():
        assert [one.action for one in options] == list(replay.game(position).legal_actions)
        assert sum(one.probability or 0 for one in options) == pytest.approx(1, abs=1e-3)
        played = load_policy(tmp_path / "tiny").act(replay, [position])[0]
        if learner == "dmc":
            assert max(options, key=lambda one: one.value or -99).action == played
        else:
            assert {one.value for one in options} == {None}
        assert max(options, key=lambda one: one.probability or 0).probability == pytest.approx(
            next(one.probability for one in options if one.action == played)
        )


def test_opinions_depend_only_on_what_the_seat_knows(tmp_path: Path) -> None:
    """The same first decision with other cards in the other hands."""
    first = []
    for order in (1, -1):
        env = started(SMALL)
        mine, known = parse_cards("AH 5H 6C 2S"), parse_cards("AH 5H 6C 2S 9D")
        rest = [card for card in range(52) if card not in known][::order]
        deck = [card for trick in range(4) for card in (mine[trick], *rest[3 * trick : 3 * trick + 3])]
        env.reset(seed=1, options={"deals": [[*deck, known[-1], *rest[12:]]]})
        save_record(env.game, tmp_path / "match.jsonl")
        first.append(review(load_replay(tmp_path / "match.jsonl"), "mix512", 40).decisions[0])
    assert first[0] == first[1]


def test_a_review_reads_back_and_the_command_shows_it_unasked(tmp_path: Path, capsys: Any) -> None:
    path = recorded(tmp_path)
    assert view.main([str(path), "--search", "40", "--keep"]) == 0
    replay = load_replay(path)
    kept = load_review(review_path(path), replay)
    assert kept == review(replay, rollouts=40)
    assert view.main([str(path), "--out", str(tmp_path / "again.html")]) == 0
    assert (tmp_path / "again.html").read_text() == (tmp_path / "match.html").read_text()
    assert "40 rollouts" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda text: text[:-20], "not a review"),
        (lambda text: "[]", "not a review"),
        (lambda text: text.replace('"version": 1', '"version": 2'), "version 1"),
        (lambda text: text.replace('"record": "', '"record": "0'), "another record"),
        (lambda text: text.replace('"position": 0', '"position": 99999'), "99999"),
        (lambda text: text.replace('"bid 0"', '"bid 9"', 1), "not the legal actions"),
        (lambda text: re.sub(r'"points": [\d.]+', '"points": NaN', text, count=1), "not a number"),
        (lambda text: text.replace('"decisions"', '"decision"'), "decisions"),
    ],
)
def test_a_damaged_review_is_refused(damage: Any, reason: str, tmp_path: Path, capsys: Any) -> None:
    path = recorded(tmp_path)
    replay = load_replay(path)
    save_review(review(replay, rollouts=10), replay, review_path(path))
    review_path(path).write_text(damage(review_path(path).read_text()))
    with pytest.raises(ValueError, match=reason):
        load_review(review_path(path), replay)
    assert view.main([str(path)]) == 2
    assert reason in capsys.readouterr().err and not (tmp_path / "match.html").exists()


# --- The command ---------------------------------------------------------------------------------------------------


def test_a_damaged_record_is_told_with_its_line_and_leaves_no_page(tmp_path: Path, capsys: Any) -> None:
    path = recorded(tmp_path)
    path.write_text(path.read_text().replace('"hand": 2', '"hand": 3'))
    assert view.main([str(path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {path}: line 3: hand is 3, but must be 2")
    assert not (tmp_path / "match.html").exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--names", "A,B"], "2 names for 4 seats"),
        (["--policy", "nobody"], "there is no checkpoint 'nobody'"),
        (["--search", "-1"], "search=-1 is not allowed"),
        (["--out", "match.jsonl"], "is the record itself"),
    ],
)
def test_what_cannot_be_done_is_told(
    arguments: list[str], reason: str, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(recorded(tmp_path).parent)
    before = Path("match.jsonl").read_bytes()
    assert view.main(["match.jsonl", *arguments]) == 2
    assert reason in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["match.jsonl"] and Path("match.jsonl").read_bytes() == before
    for other in ("other.jsonl", "."):
        assert view.main([other]) == 2 and f"{other!r}" in capsys.readouterr().err


def test_the_page_is_opened_where_there_is_a_browser(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    path, opened = recorded(tmp_path), []
    monkeypatch.setattr(view.webbrowser, "open", lambda address: opened.append(address) or len(opened) == 1)
    assert view.main([str(path), "--open"]) == 0
    assert opened == [(tmp_path / "match.html").as_uri()]
    assert view.main([str(path), "--open"]) == 2 and "no browser" in capsys.readouterr().err


# --- In a browser --------------------------------------------------------------------------------------------------

SHOWN = """[...document.querySelectorAll('.row[data-seat]')].map((row) => ({
    bid: row.querySelector('[data-figure=bid]').textContent,
    taken: row.querySelector('[data-figure=taken]').textContent,
    need: row.querySelector('[data-figure=need]').textContent,
    points: row.querySelector('[data-figure=points]').firstChild.textContent.replace('−', '-'),
    held: [...row.querySelectorAll('.card:not(.gone, .back)')].map((card) => card.title),
    backs: row.querySelectorAll('.back').length,
}))"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as one:
        yield one


@pytest.fixture
def window(browser: Browser) -> Iterator[Page]:
    page = new_page(browser)
    yield page
    page.context.close()


def expected(game: Game, viewer: Any = None) -> list[dict[str, Any]]:
    rows, card_set = [], game.rules.deck.card_set
    for seat, bid in enumerate(game.visible_bids(viewer)):
        shown = game.sees_cards(viewer, seat)
        symbols = [card_symbol(card, card_set).replace("T", "10") for card in sorted_cards(game.hands[seat], card_set)]
        left = bid - game.taken[seat] if isinstance(bid, int) else None
        need = "–" if left is None else f"over {-left}" if left < 0 else f"{left}"
        rows.append(
            {
                "bid": "–" if bid is None else "?" if bid == "hidden" else str(bid),
                "taken": str(game.taken[seat]),
                "need": need,
                "points": f"{game.scores[seat]:g}",
                "held": symbols if shown else [],
                "backs": 0 if shown else len(symbols),
            }
        )
    return rows


def page_of(folder: Path, *arguments: str) -> tuple[Path, Replay]:
    path = recorded(folder)
    assert view.main([str(path), *arguments]) == 0
    return path.with_suffix(".html"), load_replay(path)


@needs_browser
def test_stepping_to_the_end_shows_the_records_figures_all_the_way(window: Page, tmp_path: Path) -> None:
    page, replay = page_of(tmp_path)
    open_file(window, page)
    assert window.evaluate("document.getElementById('notice').hidden")
    for position in range(len(replay)):
        assert window.evaluate(SHOWN) == expected(replay.game(position)), position
        window.keyboard.press("ArrowRight")
    assert window.evaluate("document.getElementById('slider').value") == str(len(replay) - 1)
    window.keyboard.press("Home")
    assert window.evaluate(SHOWN) == expected(replay.game(0))
    window.keyboard.press("End")
    assert window.evaluate(SHOWN) == expected(replay.end)
    window.keyboard.press("ArrowLeft")
    window.evaluate("document.getElementById('slider').value = 5; document.getElementById('slider').oninput"
            "({ target: document.getElementById('slider') })")  # fmt: skip
    assert window.evaluate(SHOWN) == expected(replay.game(5))
    totals = window.evaluate("[...document.querySelectorAll('#sheet tfoot td b')].map((one) => one.textContent)")
    assert totals == [f"{score:g}" for score in replay.end.scores]
    labels = window.evaluate("[...document.querySelectorAll('#chart .label')].map((one) => one.textContent)")
    assert sorted(labels) == sorted(f"player_{seat} {score:g}" for seat, score in enumerate(replay.end.scores))


@needs_browser
def test_the_page_seen_by_one_seat_shows_what_that_seat_sees(window: Page, tmp_path: Path) -> None:
    page, replay = page_of(tmp_path, "--policy", "mix512")
    for position in (0, 2, 4, 9):
        open_file(window, page, f"#{position}/2")
        assert window.evaluate(SHOWN) == expected(replay.game(position), viewer=2)
        rows = window.evaluate("document.querySelectorAll('#options tbody tr').length")
        mine = replay.game(position).player == 2 and position in replay.choices
        assert rows == (len(replay.game(position).legal_actions) if mine else 0)
    open_file(window, page, "#4/4")
    assert window.evaluate(SHOWN) == expected(replay.game(4), viewer="table")
    open_file(window, page, "#1/3")
    assert "bids, sealed" in window.evaluate("document.getElementById('status').textContent")


@needs_browser
@pytest.mark.parametrize("name", ["penguin_whist", "oh_sh", "blind bids", "mormon_bridge, ten"])
def test_every_seats_view_of_any_table_is_what_that_seat_sees(window: Page, name: str, tmp_path: Path) -> None:
    path = recorded(tmp_path, EVERY_TABLE[name])
    assert view.main([str(path)]) == 0
    replay = load_replay(path)
    open_file(window, path.with_suffix(".html"))
    for position in range(0, len(replay), 7):
        for viewer in (None, 0, 1):
            window.evaluate(
                f"location.hash = '#{position}{'' if viewer is None else f'/{viewer}'}'; window.onhashchange()"
            )
            game = replay.game(position)
            assert window.evaluate(SHOWN) == expected(game, viewer)
            numbers = window.evaluate(
                "[...document.querySelectorAll('.card.back b')].map((one) => Number(one.textContent))"
            )
            hidden = viewer is not None and name == "penguin_whist"
            assert numbers == ([slot + 1 for slot, _ in game.slots(viewer or 0)] if hidden else [])
            said = window.evaluate("[...document.querySelectorAll('.said')].map((one) => one.textContent)")
            blind = [f"blind {'?' if bid == 'hidden' else bid}" for bid in game.visible_first_bids(viewer)]
            assert said == [
                {"blind": words, "pass": "passed", None: ""}[pledge]
                for words, pledge in zip(blind, game.pledges, strict=True)
            ]


@needs_browser
def test_mistakes_are_listed_and_lead_to_their_positions(window: Page, tmp_path: Path) -> None:
    path = a_blunder(tmp_path)
    assert view.main([str(path), "--policy", "mix512", "--search", "200"]) == 0
    open_file(window, path.with_suffix(".html"), "#3")
    window.evaluate("document.querySelector('#mistakes button').click()")
    assert window.evaluate("location.hash") == "#0"
    assert "bid 0" in window.evaluate("document.querySelector('#options .mistake').textContent")
    assert "bid 1" in window.evaluate("document.querySelector('#options .best').parentNode.textContent")
    shown = window.evaluate("[...document.querySelectorAll('#options td.bar')].map((one) => one.textContent)")
    options = review(load_replay(path), "mix512").decisions[0]
    assert shown == [f"{100 * (one.probability or 0):.0f} %" for one in options]


@needs_browser
def test_names_are_whole_and_legible_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    names = ["mix512 and search", "search:400", "heuristic 1", "heuristic 2"]
    path = a_blunder(tmp_path)
    assert view.main([str(path), "--search", "200", "--names", ",".join(names)]) == 0
    phone = new_page(browser, PHONE)
    open_file(phone, path.with_suffix(".html"), "#end")
    texts = """[...document.querySelectorAll('#trick .name, .row .name, #mistakes .name, #sheet .name')].map((one) =>
        [one.textContent, one.scrollWidth > one.clientWidth, parseFloat(getComputedStyle(one).fontSize)])"""
    seen = phone.evaluate(texts)
    assert {text for text, _, _ in seen} == set(names)
    assert [one for one in seen if one[1] or one[2] < 12] == []
    assert phone.evaluate("document.documentElement.scrollWidth") == PHONE[0]
    phone.context.close()


@needs_browser
def test_black_cards_are_black_among_the_mistakes(window: Page, tmp_path: Path) -> None:
    env = started(SMALL, 3)
    play(env, 3)
    save_record(env.game, tmp_path / "match.jsonl")
    assert view.main([str(tmp_path / "match.jsonl"), "--search", "20"]) == 0
    open_file(window, tmp_path / "match.html")
    colours = """[...document.querySelectorAll('#mistakes .card')].map((one) =>
        [one.textContent.slice(-1), getComputedStyle(one.querySelector('b')).color])"""
    seen = window.evaluate(colours)
    assert {suit in "♦♥" for suit, _ in seen} == {False, True}
    assert {colour for suit, colour in seen if suit in "♣♠"} == {"rgb(35, 40, 43)"}
    assert {colour for suit, colour in seen if suit in "♦♥"} == {"rgb(185, 47, 40)"}


@needs_browser
def test_names_are_never_run(window: Page, tmp_path: Path) -> None:
    replay = load_replay(recorded(tmp_path))
    page = tmp_path / "names.html"
    page.write_text(replay_page(replay, NASTY[1], NASTY))
    open_file(window, page)
    assert window.evaluate("document.title") == f"Oh Hell! {NASTY[1]}"
    assert window.evaluate("document.querySelectorAll('img').length") == 0
    assert (
        window.evaluate("[...document.querySelectorAll('.row[data-seat] .name')].map((one) => one.textContent)")
        == NASTY
    )


@needs_browser
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda page: re.sub(r'"taken":\[0,', '"taken":[1,', page, count=1), id="a figure changed"),
        pytest.param(lambda page: page.replace('{"title"', '{"title', 1), id="no JSON"),
        pytest.param(lambda page: page[: len(page) // 2], id="cut in the data"),
        pytest.param(lambda page: page[:-2000], id="cut in the script"),
        pytest.param(lambda page: page.replace("const byId", "const  byId", 1), id="another script"),
    ],
)
def test_a_damaged_page_says_so(window: Page, damage: Any, tmp_path: Path) -> None:
    page, _ = page_of(tmp_path)
    whole = page.read_text()
    page.write_text(damage(whole))
    assert page.read_text() != whole
    open_file(window, page)
    seen = window.evaluate("document.body.innerText")
    assert "damaged" in seen and "ohhell view" in seen
    assert window.evaluate("document.querySelectorAll('.row[data-seat]').length") == 0
