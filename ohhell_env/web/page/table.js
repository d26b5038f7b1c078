// Draws the table that the server sends and says what the person does. It knows no rules: the server says what is open,
// why the rest is shut, and what happened.
import { cardFace, make, number, scoreChart } from "./pieces.js";

const byId = (id) => document.getElementById(id);
const SUITS = { C: "♣", D: "♦", H: "♥", S: "♠" };
const SUIT_OF = "♣♦♥♠";
const ARC = 6; // so many others at most sit in an arc; more stand in rows
const WIDE = matchMedia("(min-width: 761px)");
const RETRY = [500, 1000, 2000, 4000, 8000];

const study = sessionStorage.getItem("ohhell-study"); // the address of a participant's page
const token = location.pathname.split("/").pop();
const mistakes = {}; // one's own: index of the hand -> list, or null where the server had no time
let socket, table = null, attempts = 0, fresh = true, sent = null, chose = false, shownResult = -1;

// --- Small pieces --------------------------------------------------------------------------------------------------

const face = (name) => (name.startsWith("*") ? { rank: `★${name.slice(1)}`, suit: "", red: false }
  : { rank: name.slice(0, -1).replace("T", "10"), suit: SUITS[name.slice(-1)], red: "DH".includes(name.slice(-1)) });
const cardText = (name) => { const { rank, suit } = face(name); return rank + suit; };
const WORDS = { A: "ace", K: "king", Q: "queen", J: "jack", "♣": "clubs", "♦": "diamonds", "♥": "hearts", "♠": "spades" };
const cardWords = (name) => {
  const { rank, suit } = face(name);
  return suit ? `${WORDS[rank] || rank} of ${WORDS[suit]}` : `joker ${rank.slice(1)}`.trim();
};
const back = (position) => make("span", "card back", position === null ? "" : make("b", "", String(position)));
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const seatName = (seat) => make("span", `name s${seat}`, table.scene.seats[seat].name);

function button(text, classes, onclick) {
  const node = make("button", classes, text);
  node.type = "button";
  node.onclick = onclick;
  return node;
}

function say(message) {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

// Send a choice once. The second click of a double click is not a choice of its own, even where one's next turn has
// come meanwhile and another card lies under the pointer.
function act(choice, event) {
  if (sent === table.number || (event.detail > 1 && chose)) return;
  chose = true; // by this series of clicks
  setSent(table.number);
  event.currentTarget.classList.add("chosen");
  byId("why").textContent = "";
  say({ type: "act", action: choice.action, number: table.number });
}

// The number of the table that one's choice answers to, until the server has answered; the seat is busy so long.
function setSent(number_) {
  sent = number_;
  byId("own").ariaBusy = String(sent !== null);
}

function refuse(why) {
  byId("why").textContent = "";
  requestAnimationFrame(() => { byId("why").textContent = `${sentence(why)}.`; }); // read out again each time
}

// --- The table -----------------------------------------------------------------------------------------------------

// The cards on the table: the trick, or, before the next lead, the one just finished.
function onTable() {
  const { trick, last_trick: last, tricks_done: done } = table.scene;
  if (trick.plays.length || last === null || (done === 0 && table.unseen.length === 0 && !table.over)) return { ...trick, finished: false };
  return { ...last, finished: true };
}

function contract(seat) {
  if (seat.bid === null) return seat.bid_text || "no bid yet";
  if (seat.bid === "hidden") return "bid sealed";
  if (table.scene.bidding) return `bid ${seat.bid_text}`;
  return `${seat.taken} of ${seat.bid_text}`;
}

// Filled for a trick taken, hollow for one still needed, crossed for one too many.
function pips(seat) {
  if (typeof seat.bid !== "number" || table.scene.bidding) return make("span", "pips");
  const nodes = [];
  for (let k = 0; k < Math.max(seat.bid, seat.taken); k++) nodes.push(make("i", k >= seat.bid ? "over" : k < seat.taken ? "got" : ""));
  const node = make("span", nodes.length > 9 ? "pips many" : "pips", ...nodes);
  node.ariaHidden = "true";
  return node;
}

function standing(seat) {
  const need = seat.need;
  if (need === null || table.scene.bidding) return "";
  return need < 0 ? `over by ${-need}` : need === 0 ? "has it" : "";
}

function panel(number_) {
  const seat = table.scene.seats[number_];
  const gone = table.kinds[number_] === "person" && !table.here.includes(number_);
  const head = make("div", "head", seatName(number_), seat.dealer ? make("abbr", "dealer", "D") : null,
    make("span", "score", number(seat.score)));
  if (seat.dealer) head.querySelector("abbr").title = "dealer";
  head.querySelector(".score").title = "points";
  const state = standing(seat);
  const body = make("div", "facts", make("span", "contract", contract(seat)), pips(seat),
    make("span", `standing ${state === "has it" ? "made" : state.startsWith("over") ? "over" : ""}`, state));
  return make("div", `panel ${seat.to_act && !table.over ? "acts" : ""} ${seat.winner ? "wins" : ""}`, head, body,
    gone ? make("div", "gone-note", "not here") : null);
}

function played(number_) {
  const { plays, winner, finished } = onTable();
  const one = plays.find(([seat]) => seat === number_);
  if (!one) return make("div", "slot");
  const node = cardFace(face(one[1]), "large");
  node.ariaLabel = cardWords(one[1]);
  node.role = "img";
  return make("div", `slot ${finished ? "finished" : ""} ${winner === number_ ? "winner" : ""}`, node);
}

// Where no seat has a place for its card, the cards on the table lie in the order played, each with its player.
function tableCards() {
  const { plays, winner, finished } = onTable();
  return plays.map(([seat, name]) => {
    const node = cardFace(face(name), "large");
    node.ariaLabel = cardWords(name);
    node.role = "img";
    return make("figure", `slot ${finished ? "finished" : ""} ${winner === seat ? "winner" : ""}`, node, make("figcaption", "", table.scene.seats[seat].name));
  });
}

// The middle of the table: what made trump and how the bids stand, until cards lie there.
function middle(arc) {
  const { scene } = table;
  if (onTable().plays.length) return make("div", "middle", ...(arc ? [] : tableCards()));
  const shown = scene.turned ?? scene.shown;
  const bids = scene.seats.map((seat) => seat.bid).filter((bid) => typeof bid === "number");
  const tricks = `${scene.hand_size} trick${scene.hand_size === 1 ? "" : "s"}`;
  const sealed = scene.seats.some((seat) => seat.bid === "hidden");
  const node = make("div", "middle", shown === null ? null : cardFace(face(shown), "large"),
    make("div", "", make("b", "", scene.trump_text), make("br"), sealed ? `${tricks}, bids sealed` : bids.length ? `${bids.reduce((a, b) => a + b, 0)} bid for ${tricks}` : tricks));
  node.ariaHidden = "true"; // the heading and the status say it, too
  return node;
}

function drawRing() {
  const { seats } = table.scene;
  const first = table.you === null ? 0 : table.you;
  const others = seats.map((_, k) => (first + k + (table.you === null ? 0 : 1)) % seats.length).slice(0, seats.length - (table.you === null ? 0 : 1));
  const arc = others.length <= ARC && WIDE.matches;
  byId("ring").className = arc ? "arc" : "rows";
  byId("ring").style.setProperty("--per-row", Math.ceil(others.length / Math.ceil(others.length / ARC)));
  const centre = arc ? placed(middle(arc), 50, 60) : middle(arc);
  const mine = arc && table.you !== null ? placed(played(table.you), 50, 88) : null;
  byId("ring").replaceChildren(...(mine === null ? [] : [mine]), make("div", "others", ...others.map((number_, k) => {
    const seat = seats[number_];
    const open = seat.cards.some((one) => one !== null);
    const hand = make("div", `theirs ${open ? "open" : ""}`,
      ...seat.cards.map((one, place) => (one === null ? back(seat.positions[place] ?? null) : cardFace(face(one), "small"))));
    hand.ariaLabel = open ? seat.cards.map(cardWords).join(", ") : `${seat.cards.length} cards`;
    hand.role = "img";
    const node = make("div", "seat", panel(number_), hand);
    if (!arc) return [node];
    const slot = played(number_);
    const angle = Math.PI * (1 - (others.length === 1 ? 0.5 : k / (others.length - 1)));
    return [placed(node, 50 + 41 * Math.cos(angle), 52 - 52 * Math.sin(angle)), placed(slot, 50 + (others.length > 4 ? 15 : 11) * Math.cos(angle), 68 - 28 * Math.sin(angle))];
  }).flat()), centre);
}

// A node's place in the ring, in per cent of its size.
function placed(node, x, y) {
  node.style.setProperty("--x", `${x}%`);
  node.style.setProperty("--y", `${y}%`);
  return node;
}

function drawHead() {
  const { scene } = table;
  byId("hand").replaceChildren(make("b", "", `Hand ${scene.hand_number} of ${scene.num_hands}`), ` · ${scene.size_text}`,
    scene.bid_total !== null && !scene.bidding ? ` · ${scene.bid_total} bid` : "");
  const shown = scene.turned ?? scene.shown;
  byId("trump").replaceChildren(scene.trump === null ? scene.trump_text : "trump ",
    scene.trump === null ? "" : make("b", "DH".includes("CDHS"[scene.trump]) ? "suit red" : "suit", SUIT_OF[scene.trump]),
    ...(shown === null ? [] : [cardFace(face(shown), "small")]));
  byId("last").disabled = scene.last_trick === null;
  document.title = scene.actor === table.you && table.you !== null && !table.over ? "Your turn · Oh Hell!" : "Oh Hell!";
}

// --- One's own seat --------------------------------------------------------------------------------------------------

function drawOwn() {
  const { scene, you, choices, shut } = table;
  byId("own").classList.toggle("looks-on", you === null);
  const waiting = table.unseen.filter((seat) => seat !== you).map((seat) => scene.seats[seat].name);
  byId("status").textContent = table.awaited.length ? awaiting() : table.over ? `${sentence(scene.status)}.`
    : waiting.length && !table.unseen.includes(you) ? `Waiting for ${waiting.join(", ")} to go on.`
      : scene.actor === you && you !== null ? ownStatus() : `${sentence(scene.status)}.`;
  byId("mine").replaceChildren(...(you === null ? [] : [panel(you)]));
  drawBids();
  drawCards();
  byId("hint").hidden = !table.hints;
  byId("back").hidden = !table.take_back;
  if (!choices.length || table.advice?.number !== table.number) byId("advice").replaceChildren();
  if (!choices.length && !shut.length) byId("why").textContent = "";
}

// At a study's table of several people: who has not come yet, and what happens then.
function awaiting() {
  const { length } = table.awaited;
  const bots = table.wait ? ` After ${table.wait} seconds bots take the free seats.` : "";
  return `Waiting for ${length} other ${length === 1 ? "participant" : "participants"}.${bots}`;
}

function ownStatus() {
  const { scene, shut } = table;
  if (scene.phase !== "bid") return `${sentence(scene.status)}.`;
  const bids = scene.seats.map((seat) => seat.bid).filter((bid) => typeof bid === "number");
  const known = scene.seats.every((seat) => seat.bid !== "hidden");
  const sum = known ? `${bids.reduce((a, b) => a + b, 0)} bid so far for ${scene.hand_size} trick${scene.hand_size === 1 ? "" : "s"}. ` : "";
  const hook = shut.length === 1 ? `Not ${shut[0].short}: ${shut[0].why}.` : "";
  return `How many tricks will you take? ${sum}${hook}`;
}

// Whether what an element shows is not what it showed before. What is the same stays: a button that is pressed while a
// message comes in is still there when it is let go.
const drawn = {};
function changed(id, ...shown) {
  const text = JSON.stringify(shown);
  const differs = drawn[id] !== text;
  drawn[id] = text;
  return differs;
}

// How many of so many stand in a row of a narrow page, in rows as even as may be.
const perRow = (count, most) => Math.max(5, Math.ceil(count / Math.max(1, Math.ceil(count / most))));

function drawBids() {
  const { scene, choices, shut } = table;
  if (!changed("bids", table.number, scene.phase, choices, shut)) return;
  const words = choices.filter((one) => one.card === null && one.position === null);
  const bids = scene.phase === "bid" && choices.length
    ? Array.from({ length: scene.hand_size + 1 }, (_, bid) => String(bid)) : [];
  const numbers = bids.map((bid) => {
    const choice = words.find((one) => one.short === bid);
    const node = button(bid, "bid", (event) => (choice ? act(choice, event) : refuse(shut.find((one) => one.short === bid).why)));
    node.ariaLabel = `bid ${bid}`;
    node.ariaDisabled = choice ? "false" : "true";
    return node;
  });
  const others = scene.phase === "bid" ? [] : words.map((one) => {
    const node = button(sentence(one.text), "bid word", (event) => act(one, event));
    node.ariaDisabled = "false";
    return node;
  });
  byId("bids").replaceChildren(...numbers, ...others);
  byId("bids").style.setProperty("--per-row", numbers.length ? perRow(numbers.length, 8) : 8);
  byId("bids").hidden = !numbers.length && !others.length;
}

function drawCards() {
  const { scene, you, choices, shut } = table;
  if (!changed("cards", table.number, you === null ? null : scene.seats[you], choices, shut)) return;
  if (you === null) { byId("cards").replaceChildren(); return; }
  const seat = scene.seats[you];
  const turn = choices.some((one) => one.card !== null || one.position !== null);
  let suit = null;
  const copies = {};
  const nodes = seat.cards.map((name, place) => {
    const position = seat.positions[place] ?? null;
    const choice = choices.find((one) => (name === null ? one.position === position && position !== null : one.card === name));
    const why = name === null ? "that card may not be played now" : shut.find((one) => one.card === name)?.why;
    const drawn = name === null ? back(position) : cardFace(face(name), "own");
    drawn.ariaHidden = "true";
    const gap = name !== null && suit !== null && face(name).suit !== suit;
    if (name !== null) suit = face(name).suit;
    const label = name === null ? (position === null ? "a card that you do not see" : `card ${position}, face down`) : cardWords(name);
    const node = button(drawn, `play ${gap ? "gap" : ""} ${turn ? (choice ? "legal" : "not") : ""}`,
      (event) => (choice ? act(choice, event) : turn ? refuse(why ?? "that card may not be played now") : undefined));
    node.ariaLabel = label;
    node.ariaDisabled = turn && choice ? "false" : "true";
    node.dataset.card = name ?? position ?? "";
    copies[name] = (copies[name] || 0) + 1;
    return node;
  });
  byId("cards").replaceChildren(...nodes);
  byId("cards").style.setProperty("--per-row", perRow(nodes.length, 9));
}

function drawAdvice(advice) {
  table.advice = advice;
  if (advice.number !== table.number) return;
  const best = Math.max(...advice.options.map((one) => one.points));
  const chances = advice.options.some((one) => one.probability !== null);
  const rows = advice.options.map((one) => {
    const choice = table.choices.find((other) => other.action === one.action);
    const what = choice?.card ? cardFace(face(choice.card), "small") : choice?.text ?? "";
    return make("tr", one.points === best ? "best" : "", make("th", "", what), make("td", "", one.points.toFixed(1).replace("-", "−")),
      chances ? make("td", "", one.probability === null ? "" : `${Math.round(100 * one.probability)} %`) : null);
  });
  const head = make("tr", "", make("th", "", "choice"), make("th", "", "points by search"), chances ? make("th", "", `${advice.adviser} would`) : null);
  byId("advice").replaceChildren(make("table", "", make("thead", "", head), make("tbody", "", ...rows)));
}

// --- Dialogs ---------------------------------------------------------------------------------------------------------

function open(dialog, title, ...children) {
  const heading = make("h2", "", title);
  heading.id = `${dialog.id}-title`;
  dialog.replaceChildren(heading, ...children.filter((child) => child !== null));
  if (!dialog.open) dialog.showModal();
}

const close = (dialog) => button("Close", "", () => dialog.close());

// Seats as everywhere on this page: from one's left on, oneself last.
function order() {
  const count = table.scene.seats.length;
  return Array.from({ length: count }, (_, k) => ((table.you ?? -1) + 1 + k) % count);
}

function resultTable(hand) {
  const head = make("tr", "", ...["player", "bid", "taken", "points", "total"].map((word) => make("th", "", word)));
  const rows = order().map((seat) => {
    const made = hand.bids[seat] === hand.taken[seat];
    return make("tr", made ? "made" : hand.bids[seat] === null ? "" : "missed", make("th", "", seatName(seat)),
      make("td", "", hand.bids[seat] === null ? "–" : String(hand.bids[seat])), make("td", "", String(hand.taken[seat])),
      make("td", "points", `${hand.points[seat] < 0 ? "" : "+"}${number(hand.points[seat])}`), make("td", "", number(hand.totals[seat])));
  });
  return make("table", "", make("thead", "", head), make("tbody", "", ...rows));
}

function drawResult() {
  const dialog = byId("result"), mine = table.unseen.includes(table.you);
  if (!mine && !table.over) { if (dialog.open) dialog.close(); return; }
  if (shownResult === table.sheet.length) return;
  shownResult = table.sheet.length;
  const hand = table.result;
  const title = `Hand ${hand.number} is over${hand.failed ? ": a bid was missed, so nobody scores" : ""}`;
  if (!table.over) {
    const next = button(hand.failed ? "Deal it again" : "Next hand", "go", () => dialog.close());
    next.autofocus = true;
    dialog.onclose = () => { dialog.onclose = null; say({ type: "next" }); };
    open(dialog, title, resultTable(hand), ownMistakes([table.sheet.length - 1]), next);
    return;
  }
  dialog.onclose = null;
  const link = (text, path) => { const node = make("a", "go", text); node.href = path; return node; };
  const links = study !== null ? [link("Go on", study)] : [link("Replay", `/replay/${token}`), link("Replay with mistakes", `/replay/${token}?mistakes`),
    link("Save the replay", `/replay/${token}?download`), link("New table", "/")];
  open(dialog, sentence(table.scene.status), resultTable(hand), chart(), ownMistakes(table.sheet.map((_, index) => index)), make("p", "links", ...links), close(dialog));
}

// One's own mistakes in some hands, by the search; filled as it finds them.
function ownMistakes(hands) {
  const node = make("section", "mistakes");
  if (table.you === null || !table.review) return node;
  node.dataset.hands = JSON.stringify(hands);
  fillMistakes(node);
  return node;
}

function fillMistakes(node) {
  const hands = JSON.parse(node.dataset.hands);
  const pending = hands.some((index) => !(index in mistakes));
  const found = hands.flatMap((index) => mistakes[index] ?? []);
  const loss = found.reduce((sum, one) => sum + one.loss, 0).toFixed(1);
  const where = hands.length > 1 ? "this match" : "this hand";
  const text = pending ? "The search is looking for your mistakes …"
    : hands.some((index) => mistakes[index] === null) ? "The server had no time to look for all your mistakes. The replay with mistakes does."
      : !found.length ? `The search finds no mistake of yours in ${where}.`
        : `Your ${found.length === 1 ? "mistake" : `${found.length} mistakes`} in ${where}, by the search: about ${loss} points lost.`;
  const several = hands.length > 1;
  node.replaceChildren(make("p", "note", text), make("ul", "", ...found.map((one) => mistakeItem(one, several))));
}

function mistakeItem(one, several) {
  const shown = ({ card, text }) => (card ? cardFace(face(card), "small") : make("b", "", text));
  const place = one.trick ? `trick ${one.trick}` : "before the first trick";
  const parts = [make("span", "where", sentence(several ? `hand ${one.hand}, ${place}` : place)), make("span", "what", shown(one.chosen), ", better ", shown(one.best)),
    make("b", "loss", `−${one.loss.toFixed(1)}`)];
  if (!table.over || study !== null) return make("li", "", ...parts);
  const link = make("a", "", ...parts);
  link.href = `/replay/${token}?mistakes#${one.position}/${table.you}`;
  return make("li", "", link);
}

function chart() {
  const { sheet, scene } = table;
  const sizes = [...sheet.map((hand) => hand.size), ...Array(Math.max(0, scene.num_hands - sheet.length)).fill("")];
  return scoreChart({ names: scene.seats.map((seat) => seat.name), sizes, totals: sheet.map((hand) => hand.totals), width: Math.min(640, innerWidth - 60) });
}

function showSheet() {
  const dialog = byId("sheet");
  if (!table.sheet.length) { open(dialog, "Scores", make("p", "", "No hand is finished yet."), close(dialog)); return; }
  const seats = order();
  const head = make("tr", "", make("th", "", "hand"), make("th", "", "cards"), make("th", "", "trump"), ...seats.map((seat) => make("th", "", seatName(seat))));
  const rows = table.sheet.map((hand) => make("tr", "", make("th", "", String(hand.number)), make("td", "", `${hand.size} ${hand.special}`),
    make("td", "", hand.trump === null ? "–" : make("span", hand.trump === 1 || hand.trump === 2 ? "red" : "", SUIT_OF[hand.trump])),
    ...seats.map((seat) => make("td", hand.bids[seat] === hand.taken[seat] ? "made" : "missed",
      make("small", "", `${hand.bids[seat] ?? "–"}/${hand.taken[seat]} `), make("b", "", number(hand.totals[seat]))))));
  const wide = make("div", "wide", make("table", "", make("thead", "", head), make("tbody", "", ...rows)));
  wide.tabIndex = 0;
  wide.role = "region";
  wide.ariaLabel = "Score sheet";
  open(dialog, "Scores", chart(), make("p", "note", "bid/taken and total after the hand"), wide, close(dialog));
}

function showTrick() {
  const { last_trick: last, seats } = table.scene;
  if (last === null) return;
  const rows = last.plays.map(([seat, name]) => make("li", seat === last.winner ? "winner" : "", cardFace(face(name), ""), make("span", "", seats[seat].name), seat === last.winner ? make("b", "", seats[seat].name === "you" ? "take it" : "takes it") : null));
  open(byId("trick"), "Last trick", make("ol", "trick", ...rows), last.winner === null ? make("p", "", "Nobody takes it.") : null, close(byId("trick")));
}

function showMenu() {
  const dialog = byId("settings"), parts = [];
  if (table.you !== null) {
    const speed = make("select", "", ...["slow", "normal", "fast"].map((one) => { const node = make("option", "", one); node.selected = one === table.speed; return node; }));
    speed.onchange = () => say({ type: "speed", speed: speed.value });
    const name = make("input", "");
    name.maxLength = 24;
    name.value = localStorage.getItem("ohhell-name") || "";
    name.onchange = () => { if (name.value.trim()) { localStorage.setItem("ohhell-name", name.value.trim()); say({ type: "name", name: name.value.trim() }); } };
    parts.push(make("label", "", "Speed of the bots ", speed));
    if (study === null) parts.push(make("label", "", "Your name for the others ", name));
    for (const seat of table.people) {
      if (seat !== table.you && !table.here.includes(seat)) parts.push(button(`Let a bot play for ${table.scene.seats[seat].name}`, "", () => { say({ type: "bot", seat }); dialog.close(); }));
    }
    if (table.kinds[table.you] === "bot") parts.push(button("Take your seat back", "go", () => { say({ type: "return" }); dialog.close(); }));
  }
  if (table.watchers) parts.push(make("p", "note", `${table.watchers} ${table.watchers === 1 ? "spectator watches" : "spectators watch"} this table.`));
  const links = JSON.parse(sessionStorage.getItem(`ohhell-links ${location.pathname}`) || "null");
  if (links !== null) {
    const all = [...Object.entries(links.seats).filter(([seat]) => Number(seat) !== table.you).map(([seat, path]) => [`Seat ${seat}`, path]), ["Spectators", links.watch]];
    parts.push(make("h3", "", "Links"), ...all.map(([text, path]) => { const field = make("input", ""); field.readOnly = true; field.value = new URL(path, location.href).href; field.onfocus = () => field.select(); return make("label", "", `${text} `, field); }));
  }
  parts.push(make("p", "note", "Keys: digits bid, arrows move along the cards, Enter plays, H hint, B take back, L last trick, S scores."));
  open(dialog, "Menu", make("details", "", make("summary", "", "The rules of this table"), make("p", "about", table.rules)), ...parts, close(dialog));
}

// --- Talking to the server ---------------------------------------------------------------------------------------------

function draw() {
  const focus = document.activeElement;
  const group = focus?.parentElement?.id;
  const place = group === "cards" || group === "bids" ? [...focus.parentElement.children].indexOf(focus) : -1;
  drawHead();
  drawRing();
  drawOwn();
  drawResult();
  byId("notice").hidden = !table.failure;
  byId("notice").textContent = table.failure;
  if (place >= 0 || (table.choices.length && document.activeElement === document.body && fresh === false)) focusChoice(group, place);
}

// After the table is drawn anew the keyboard stays where it was, or goes to the first choice.
function focusChoice(group, place) {
  const nodes = group && place >= 0 ? byId(group).children : [];
  const first = document.querySelector("#bids button, #cards button.legal");
  (nodes[Math.min(place, nodes.length - 1)] || first)?.focus({ preventScroll: true });
}

function announce(events) {
  const lines = events.map((one) => one.words).filter(Boolean).map((words) => make("p", "", `${sentence(words)}.`));
  byId("log").append(...lines);
  while (byId("log").children.length > 60) byId("log").firstChild.remove();
}

function receive(message) {
  if (message.type === "error") { setSent(null); document.querySelector(".chosen")?.classList.remove("chosen"); refuse(message.error); return; }
  if (message.type === "mistakes") {
    Object.assign(mistakes, message.hands);
    for (const node of document.querySelectorAll(".mistakes[data-hands]")) fillMistakes(node);
    return;
  }
  if (message.type === "hint") { byId("hint").disabled = false; drawAdvice(message); return; }
  if (table === null || message.number !== table.number) setSent(null);
  table = { ...table, ...message, advice: table?.advice };
  if (!fresh) announce(message.events);
  draw();
  fresh = false;
}

function connect() {
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/${token}`);
  socket.onopen = () => { attempts = 0; fresh = true; setSent(null); byId("notice").hidden = true; };
  socket.onmessage = (event) => receive(JSON.parse(event.data));
  socket.onclose = (event) => {
    byId("notice").hidden = false;
    if (event.code === 4404) { byId("notice").textContent = `Not connected: ${event.reason}.`; return; }
    byId("notice").textContent = "The connection is lost. Trying again …";
    setTimeout(connect, RETRY[Math.min(attempts++, RETRY.length - 1)]);
  };
}

function onKey(event) {
  if (table === null || event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]") || event.target.matches("input, select, textarea")) return;
  const key = event.key.toLowerCase();
  if (key === "arrowleft" || key === "arrowright") {
    const nodes = [...document.querySelectorAll("#bids button, #cards button")];
    const at = nodes.indexOf(document.activeElement), step = key === "arrowright" ? 1 : -1;
    nodes[(at + step + nodes.length) % nodes.length]?.focus();
    event.preventDefault();
  } else if (/^\d$/.test(key) && table.scene.phase === "bid") {
    [...byId("bids").children].find((node) => node.textContent === key)?.click();
  } else ({ h: () => byId("hint").hidden || byId("hint").click(), b: () => byId("back").hidden || byId("back").click(), l: showTrick, s: showSheet })[key]?.();
}

byId("hint").onclick = () => { byId("hint").disabled = true; byId("advice").replaceChildren(make("p", "note", "Thinking …")); say({ type: "hint" }); };
byId("back").onclick = () => say({ type: "back" });
byId("last").onclick = showTrick;
byId("scores").onclick = showSheet;
byId("menu").onclick = showMenu;
document.onkeydown = onKey;
document.addEventListener("click", (event) => { if (event.detail <= 1) chose = false; }, true);
WIDE.onchange = () => table && draw();
connect();
