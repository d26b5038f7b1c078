"""People at the table in the browser: a match by clicks, two at one table, a lost connection, and no barriers."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browser import DESKTOP, PHONE, chromium, needs_browser, new_page

from ohhell_env.kernel.state import MATCH_OVER
from ohhell_env.records.notation import load_record

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

if find_spec("uvicorn") is None or find_spec("playwright") is None:
    pytest.skip("the extra web, or Playwright, is not installed", allow_module_level=True)

from playwright.sync_api import expect
from web_server import Server, server

from ohhell_env.web.mistakes import in_background
from ohhell_env.web.study import Study, load_plan

pytestmark = needs_browser
LEGAL = "#bids button[aria-disabled=false], #cards button.legal"
SHORT = ["ramp=2..1"]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("tables")) as one:
        yield one


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as one:
        yield one


def seat(browser: Browser, address: str, size: tuple[int, int] = DESKTOP, **options: Any) -> Page:
    page = new_page(browser, size, **options)
    page.set_default_timeout(60_000)
    page.faults = []  # type: ignore[attr-defined]
    page.on("pageerror", lambda error: page.faults.append(str(error)))  # type: ignore[attr-defined]
    page.on("console", lambda one: page.faults.append(one.text) if one.type == "error" else None)  # type: ignore[attr-defined]
    page.goto(address)
    return page


def play_on(page: Page, until: str) -> None:
    """Click the first thing that may be done until something is seen.

    From a click until the server has answered, the seat is busy and the result closed, so nothing is clicked twice.
    """
    todo = f"#own[aria-busy=false] :is({LEGAL}), #result[open] .go"
    while True:
        page.locator(f"{until}, {todo}").first.wait_for()
        if page.locator(until).count():
            return
        page.locator(todo).first.click()


OVER = "#result[open] a[href^='/replay']"


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_a_whole_match_is_played_by_clicks_from_the_first_page_to_the_replay(
    host: Server, browser: Browser, size: tuple[int, int]
) -> None:
    page = seat(browser, host.url, size)
    page.fill("#name", "Ada")
    page.select_option("#players", "3")
    page.get_by_text("Change options").click()
    page.fill("#changes", "\n".join(SHORT))
    page.get_by_role("button", name="Sit down").click()
    page.wait_for_url("**/t/*")
    play_on(page, OVER)
    record = load_record(host.hall.tables[-1].table.path)
    assert record.phase == MATCH_OVER
    totals = page.locator("#result tbody tr td:last-child").all_text_contents()
    assert [float(total.replace("−", "-")) for total in totals] == [record.scores[one] for one in (1, 2, 0)]
    assert page.evaluate("document.documentElement.scrollWidth") == size[0]
    page.get_by_role("link", name="Replay", exact=True).click()
    page.wait_for_url("**/replay/*")
    assert page.locator(".row[data-seat] .name").all_text_contents() == ["you", "heuristic 1", "heuristic 2"]
    assert page.faults == []  # type: ignore[attr-defined]
    page.context.close()


def test_the_hook_is_told_and_a_shut_bid_says_why(host: Server, browser: Browser) -> None:
    # seat 0 deals the first hand and bids last: with open bids, two bids of 0 and 2 cards shut the bid 2
    page = seat(browser, host.url + host.open_table(changes=["ramp=2..1", "bids=open"], seed=3)["seats"]["0"])
    page.locator("#bids button").first.wait_for()
    shut = page.locator("#bids button[aria-disabled=true]")
    number = shut.text_content()
    assert f"Not {number}: the bids may not add up to 2 (the hook)." in (page.locator("#status").text_content() or "")
    shut.click(force=True)  # it is read out as disabled, and still says why
    expect(page.locator("#why")).to_have_text("The bids may not add up to 2 (the hook).")
    assert host.hall.tables[-1].table.game.bids[0] is None
    page.context.close()


def test_a_second_click_plays_no_second_card(host: Server, browser: Browser) -> None:
    page = seat(browser, host.url + host.open_table(changes=["ramp=4..1"], seed=3)["seats"]["0"])
    page.locator(LEGAL).first.click()
    cards, ready = page.locator("#cards button"), page.locator("#own[aria-busy=false] #cards .legal")
    ready.first.dblclick()
    ready.first.wait_for()
    expect(cards).to_have_count(3)
    click = "(node, detail) => node.dispatchEvent(new MouseEvent('click', {detail}))"
    ready.first.evaluate(click, 3)  # one's turn has come again, and another card lies under the hasty pointer
    assert ready.count(), "a click of the same series is no choice"
    ready.first.evaluate(click, 0)  # as by the keyboard
    expect(cards).to_have_count(2)
    assert page.faults == []  # type: ignore[attr-defined]
    page.context.close()


def test_a_button_that_is_pressed_stays_while_others_come(host: Server, browser: Browser) -> None:
    made = host.open_table(players=["person", "heuristic", "person"], changes=["ramp=2..1", "bids=open"], seed=3)
    page = seat(browser, host.url + made["seats"]["2"])
    page.locator(LEGAL).first.hover()
    page.mouse.down()
    expect(page.locator(".gone-note")).to_have_count(1)
    other = seat(browser, host.url + made["seats"]["0"])
    expect(page.locator(".gone-note")).to_have_count(0)
    page.mouse.up()
    other.locator("#bids button").first.wait_for()
    for one in (page, other):
        one.context.close()


def test_two_people_at_one_table_see_each_others_moves_and_not_each_others_cards(
    host: Server, browser: Browser
) -> None:
    made = host.open_table(players=["person", "person", "heuristic"], changes=["ramp=2..1", "bids=open"], seed=3)
    first, second = (seat(browser, host.url + made["seats"][one]) for one in "01")
    watcher = seat(browser, host.url + made["watch"])
    table = host.hall.tables[-1].table
    second.locator("#bids button").first.wait_for()
    assert first.locator("#bids button").count() == 0
    for page, own in ((first, 0), (second, 1)):
        page.locator("#cards button").first.wait_for()
        names = page.locator("#cards button").evaluate_all("(nodes) => nodes.map((one) => one.dataset.card)")
        assert sorted(names) == sorted(hand(table, own))
        assert page.locator("#ring .theirs .card:not(.back)").count() == 0
    assert watcher.locator("#ring .theirs .card:not(.back)").count() == 0
    assert watcher.locator("#cards button").count() == 0
    second.locator(LEGAL).first.click()
    first.locator("#bids button").first.wait_for()
    assert table.game.bids[1] is not None
    for page in (first, second, watcher):
        assert page.faults == []  # type: ignore[attr-defined]
        page.context.close()


def hand(table: Any, seat_: int) -> list[str]:
    return [table.game.rules.deck.card_set.names[card] for card in table.game.hands[seat_]]


def test_whoever_comes_back_finds_the_seat_as_it_was(host: Server, browser: Browser) -> None:
    page = seat(browser, host.url + host.open_table(changes=["ramp=3..1"], seed=3)["seats"]["0"])
    page.locator("#bids button").first.wait_for()
    before = page.locator("#cards").inner_text()
    page.reload()
    page.locator("#bids button").first.wait_for()
    assert page.locator("#cards").inner_text() == before
    host.hang_up()  # the server lets go of every connection; the page tries again by itself
    page.locator("#notice:visible").wait_for()
    page.locator("#notice:not(:visible)").wait_for(state="attached")
    assert page.locator("#cards").inner_text() == before
    page.locator(LEGAL).first.click()
    page.locator("#cards button.legal").first.wait_for()
    page.context.close()


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_there_are_no_barriers_that_axe_finds(host: Server, browser: Browser, size: Any, colours: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()

    def check(page: Page, where: str) -> None:
        text = page.locator("body").inner_text()
        assert not any(word in text for word in ("null", "undefined", "NaN")), where
        found = axe.run(page).response["violations"]
        assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found] == [], where

    page = seat(browser, host.url, size, color_scheme=colours)
    page.locator("#preset option").first.wait_for(state="attached")
    page.get_by_text("Choose who sits where").click()
    check(page, "the first page")
    page.goto(host.url + host.open_table(changes=["ramp=3..1"], seed=3)["seats"]["0"])
    page.locator("#bids button").first.wait_for()
    check(page, "bidding")
    page.locator(LEGAL).first.click()
    page.locator("#cards button.legal").first.wait_for()
    check(page, "play")
    page.click("#menu")
    check(page, "the menu")
    page.keyboard.press("Escape")
    play_on(page, "#result[open]")
    check(page, "the result")
    page.locator("#result .go").first.click()
    page.click("#scores")
    check(page, "the score sheet")
    page.keyboard.press("Escape")
    page.click("#last")
    check(page, "the last trick")
    page.goto(host.url + "/t/nobody")
    check(page, "where there is no table")
    many = host.open_table(players=["person"] * 2 + ["heuristic"] * 8, changes=["ramp=2..1"])
    page.goto(host.url + many["watch"])
    page.locator("#ring .seat").first.wait_for()
    check(page, "ten seats, as spectators see them")
    page.context.close()


def test_what_happens_is_read_out_with_who_takes_the_trick_and_whose_turn_it_is(host: Server, browser: Browser) -> None:
    page = seat(browser, host.url + host.open_table(changes=["ramp=2..1"], seed=3)["seats"]["0"])
    play_on(page, "#result[open]")
    log = page.locator("#log[aria-live=polite]")
    said = log.locator("p").all_text_contents()
    assert sum(" plays " in line or "You play" in line for line in said) == 6, said
    assert sum("take" in line and "trick" in line for line in said) == 2, said
    page.locator("#result .go").first.click()
    expect(page.locator("#status[role=status]")).to_contain_text("How many tricks will you take?")
    page.context.close()


def test_own_mistakes_are_listed_after_the_hand_and_lead_into_the_replay_after_the_match(
    host: Server, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def found(function: Any, *given: Any, **more: Any) -> Any:
        if function is not in_background:
            return None
        _, hand, seats = given
        card, bid = {"text": "7♥", "card": "7H"}, {"text": "bid 0", "card": None}
        one = {"position": 3 + hand, "hand": hand + 1, "trick": 1, "chosen": card, "best": card, "loss": 1.5}
        return {seat: [] if hand else [one, {**one, "trick": 0, "chosen": bid, "best": bid}] for seat in seats}

    monkeypatch.setattr("anyio.to_process.run_sync", found)  # what is found is tested where it is found
    page = seat(browser, host.url + host.open_table(changes=["ramp=2..1"], seed=3, mistakes=True)["seats"]["0"])
    mistakes = page.locator("#result[open] .mistakes")
    play_on(page, "#result[open]")
    expect(mistakes.locator(".note")).to_have_text(
        "Your 2 mistakes in this hand, by the search: about 3.0 points lost."
    )
    expect(mistakes.locator("li")).to_have_text(
        ["Trick 17♥, better 7♥−1.5", "Before the first trickbid 0, better bid 0−1.5"]
    )
    play_on(page, OVER)
    expect(mistakes.locator(".note")).to_contain_text("Your 2 mistakes in this match")
    mistakes.locator("a").first.click()
    page.wait_for_url("**/replay/*?mistakes#3/0")
    assert page.faults == []  # type: ignore[attr-defined]
    page.context.close()


def test_the_keyboard_is_enough(host: Server, browser: Browser) -> None:
    page = seat(browser, host.url + host.open_table(changes=["ramp=2..1"], seed=3)["seats"]["0"])
    page.locator("#bids button").first.wait_for()
    page.keyboard.press(page.locator("#bids button[aria-disabled=false]").first.text_content() or "")
    page.locator("#cards button.legal").first.wait_for()
    assert host.hall.tables[-1].table.game.bids[0] is not None
    expect(page.locator("#cards button:focus")).to_have_count(1)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.locator("#cards button")).to_have_count(1)
    page.context.close()


def test_a_participant_of_a_study_agrees_plays_and_is_led_on(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    study = Study(load_plan(tmp_path / "study.toml"), tmp_path / "study")
    with server(tmp_path / "study", study) as host:
        page = seat(browser, f"{host.url}/s/{study.participants['P01']['token']}")
        expect(page.locator("#about")).to_have_text("Your actions are kept.")
        page.get_by_role("button", name="I agree: begin").click()
        page.wait_for_url("**/t/*")
        play_on(page, "#result[open] a[href^='/s/']")
        assert page.locator("#result a").all_text_contents() == ["Go on"]
        page.get_by_role("link", name="Go on").click()
        expect(page.locator("#state")).to_have_text("You have played all tables. Thank you!")
        assert page.faults == []  # type: ignore[attr-defined]
        page.context.close()


STUDY = """
title = "One hand"
consent = "Your actions are kept."
participants = 1
[[tables]]
preset = "oh_hell"
players = ["person", "heuristic", "heuristic"]
changes = ["ramp=1"]
seed = 7
"""
