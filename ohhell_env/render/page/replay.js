// Draws the positions of a match from the data in the page. It knows no rules: every figure is in the data.
(() => {
  const byId = (id) => document.getElementById(id);
  const notice = byId("notice");
  const page = byId("page");
  let data, at = 0, viewer = null;

  // --- Small tools ---------------------------------------------------------------------------------------------

  function crc32(text) {
    let crc = -1;
    for (let k = 0; k < text.length; k++) {
      crc ^= text.charCodeAt(k);
      for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return String((crc ^ -1) >>> 0);
  }

  const signed = (value) => (value > 0 ? "+" : "") + value.toFixed(2).replace("-", "−");

  const card = (id, classes = "") => cardFace(data.cards[id], classes);
  // "bid 3" as it stands; of a play the card itself.
  const action = (one) => (one.card === null ? make("span", "bid", one.text) : card(one.card, "small"));
  // "player_1 takes", "you take"
  const does = (seat, verb) => `${verb}${seat === data.you ? "" : "s"}`;
  const sentence = (text) => (text.startsWith("you ") ? `Y${text.slice(1)}` : text);
  const seatName = (seat) => make("span", `name s${seat}`, data.names[seat]);

  // --- The table -----------------------------------------------------------------------------------------------

  const sees = (sight, seat) => viewer === null || sight.hands[viewer].includes(seat);
  const sealed = (sight, seat) => viewer !== null && sight.sealed[viewer].includes(seat);

  function drawHeadline(position, hand) {
    byId("hand").replaceChildren(
      make("b", "", `Hand ${hand.number} of ${hand.of}`), ` · ${hand.size} card${hand.size === 1 ? "" : "s"}`,
      hand.special ? ` · ${hand.special}` : "", hand.deals > 1 ? ` · deal ${hand.deals}` : "",
      position.bid_sum === null ? "" : ` · ${position.bid_sum} bid`,
    );
    const made = position.turned === null ? position.shown : position.turned;
    const how = position.turned === null ? " shown " : " turned up ";
    byId("trump").replaceChildren(position.trump.text, ...(made === null ? [] : [how, card(made, "small")]));
    const move = position.move;
    const status = byId("status");
    if (move === null) status.replaceChildren("Dealt. ");
    else {
      const veiled = viewer !== null && viewer !== move.seat;
      const what = move.card !== null ? `${does(move.seat, "play")} ` : veiled ? move.veiled : move.told;
      status.replaceChildren(seatName(move.seat), ` ${what}`, move.card === null ? "" : card(move.card, "small"), ". ");
    }
    status.append(make("span", "next", `${sentence(position.status)}.`));
  }

  function plays(list, winner, size) {
    const nodes = list.map(([seat, id]) => make("figure", seat === winner ? "winner" : "",
      card(id, size), make("figcaption", `name s${seat}`, data.names[seat])));
    return make("div", "plays", ...nodes);
  }

  function drawTrick(position, hand) {
    const last = position.tricks ? hand.tricks[position.tricks - 1] : null;
    const parts = [];
    const box = (title, body, classes) => make("div", classes, make("h3", "", title), body);
    const named = (suit) => (suit === null ? "" : `, ${suit} named`);
    if (position.trick.length || last === null) {
      const empty = make("p", "empty", position.player === null ? "" : "no card yet");
      const worth = position.worth > 1 ? `, counts for ${position.worth}` : "";
      const title = `Trick ${position.tricks + 1} of ${hand.size}${named(position.named)}${worth}`;
      parts.push(box(title, position.trick.length ? plays(position.trick, null, "large") : empty, "now"));
    }
    if (last !== null) {
      const size = position.trick.length ? "" : "large";
      const taker = last.winner === null ? "nobody takes it" : `${data.names[last.winner]} ${does(last.winner, "take")} it`;
      const title = `${position.trick.length ? "Last trick" : `Trick ${position.tricks} of ${hand.size}`}: ${taker}${named(last.named)}`;
      parts.push(box(title, plays(last.plays, last.winner, size), position.trick.length ? "last" : "now"));
    }
    byId("trick").replaceChildren(...parts);
  }

  function drawHand(position, hand, seat) {
    const sight = data.sights[position.sight];
    const shown = sees(sight, seat);
    let suit = null;
    const back = (place) => make("span", "card back", place === null ? "" : make("b", "", String(place)));
    const cards = !shown ? position.backs[seat].map(back) : hand.dealt[seat].map((id, k) => {
      const held = position.held[seat][k] === "1";
      const gap = suit !== null && data.cards[id].suit !== suit ? "gap" : "";
      suit = data.cards[id].suit;
      return card(id, `${gap} ${held ? "" : "gone"}`);
    });
    const box = make("div", hand.size > 14 ? "cards many" : "cards", ...cards);
    box.style.setProperty("--held", Math.max(1, hand.size));
    return box;
  }

  // What a seat said before its bid, or bid in the round before.
  function said(position, sight, seat) {
    const first = position.first_bids[seat], pledge = position.pledges[seat];
    if (pledge === "blind") return `blind ${viewer !== null && sight.blind[viewer].includes(seat) ? "?" : first}`;
    if (pledge !== null) return pledge === "pass" ? "passed" : pledge;
    return first === null ? "" : `before ${first}`;
  }

  function drawSeats(position, hand) {
    const sight = data.sights[position.sight];
    const head = make("div", "row head", make("span", "who", ""), ...["bid", "taken", "needs", "points"].map((word) => make("span", "", word)), make("span", "cards", ""));
    const over = position.player === null && hand.points !== null;
    const rows = data.names.map((_, seat) => {
      const bid = position.bids[seat];
      const need = position.need[seat];
      const hidden = bid !== null && sealed(sight, seat);
      const figure = (name, value, classes = "") => {
        const node = make("span", `figure ${classes}`, value);
        node.dataset.figure = name;
        return node;
      };
      const state = hidden || need === null ? "" : need === 0 ? "made" : need < 0 ? "over" : "";
      const points = figure("points", number(position.scores[seat]));
      if (over) points.append(make("small", "", ` ${hand.points[seat] < 0 ? "" : "+"}${number(hand.points[seat])}`));
      const who = make("span", "who", seatName(seat), make("small", "said", said(position, sight, seat)),
        seat === hand.dealer ? make("abbr", "dealer", "D") : null);
      const row = make("div", `row ${seat === position.player ? "acts" : ""}`, who,
        figure("bid", hidden ? "?" : bid === null ? "–" : String(bid)),
        figure("taken", String(position.taken[seat])),
        figure("need", hidden || need === null ? "–" : need < 0 ? `over ${-need}` : String(need), state),
        points, drawHand(position, hand, seat));
      row.dataset.seat = seat;
      if (seat === hand.dealer) who.lastChild.title = "dealer";
      return row;
    });
    byId("seats").replaceChildren(head, ...rows);
  }

  // --- The decision --------------------------------------------------------------------------------------------

  function drawDecision(position) {
    const options = data.decisions[at];
    const [title] = byId("decision").getElementsByTagName("h2");
    const box = byId("options");
    if (data.policy === null && data.search === null) {
      title.textContent = "The decision";
      const hint = "No opinions in this page. A checkpoint's probabilities and the search's estimates are added by ";
      box.replaceChildren(make("p", "note", hint, make("code", "", "--policy NAME --search 400"), "."));
      return;
    }
    title.textContent = position.player === null ? "No decision" : sentence(`${data.names[position.player]} ${does(position.player, "decide")}`);
    if (position.player !== null && viewer !== null && viewer !== position.player) {
      box.replaceChildren(make("p", "note", `Hidden: it would tell ${data.names[viewer] ?? "spectators"} about this hand.`));
    } else if (!options) {
      box.replaceChildren(make("p", "note", position.player === null ? "The hand is over." : "There is no choice: one action is legal."));
    } else box.replaceChildren(optionTable(options), make("p", "note", ...legend()));
  }

  function optionTable(options) {
    const best = options.reduce((a, b) => (b.points > a.points ? b : a));
    const asked = { probability: data.policy !== null, value: options[0].value !== null, points: data.search !== null };
    const head = make("tr", "", make("th", "", ""), asked.probability ? make("th", "bar", "probability") : null,
      asked.value ? make("th", "", "value") : null, asked.points ? make("th", "", "rollouts") : null,
      asked.points ? make("th", "", "loss") : null);
    const mistake = data.mistakes.some((one) => one.position === at);
    const rows = options.map((one) => {
      const row = make("tr", one.chosen ? (mistake ? "chosen mistake" : "chosen") : "", make("th", "", action(one)));
      if (asked.probability) {
        const bar = make("div", "fill");
        bar.style.width = `${100 * one.probability}%`;
        const percent = make("span", "", `${(100 * one.probability).toFixed(0)} %`);
        row.append(make("td", "bar", make("div", "", make("div", "track", bar), percent)));
      }
      if (asked.value) row.append(make("td", "", signed(one.value)));
      if (asked.points) {
        row.append(make("td", one === best ? "best" : "", number(one.points)));
        const error = make("small", "", ` ±${one.error.toFixed(2)}`);
        row.append(make("td", "", ...(one === best ? ["best"] : [(best.points - one.points).toFixed(2), error])));
      }
      return row;
    });
    return make("table", "", make("thead", "", head), make("tbody", "", ...rows));
  }

  function legend() {
    const parts = ["Marked: what was chosen."];
    if (data.policy) parts.push(` Probability: ${data.policy.name}, at temperature ${data.policy.temperature}.`);
    if (data.policy && Object.values(data.decisions)[0][0].value !== null) parts.push(" Value: its expected points of this hand more than the others' mean.");
    if (data.search) parts.push(` Rollouts: mean points of the hand in ${data.search.rollouts} rollouts by rule-following players over deals that fit what the seat knows. Loss: to the best, ± standard error.`);
    return parts;
  }

  function drawMistakes() {
    const section = byId("mistakes");
    byId("to-mistake").hidden = section.hidden = data.search === null;
    if (data.search === null) return;
    const shown = data.mistakes.filter((one) => viewer === null || viewer === one.seat);
    const [note] = section.getElementsByTagName("p");
    note.textContent = shown.length
      ? "Decisions that lose at least half a point, and three standard errors, by the rollouts; the largest first."
      : "No decision loses half a point and three standard errors by the rollouts.";
    const [list] = section.getElementsByTagName("ol");
    list.replaceChildren(...shown.map((one) => {
      const button = make("button", "", make("b", "loss", `−${one.loss.toFixed(1)}`), make("span", "where", one.where),
        seatName(one.seat), make("span", "what", action(one.chosen), make("span", "than", "not"), action(one.best)));
      button.title = `loses ${one.loss.toFixed(2)} ± ${one.error.toFixed(2)} points`;
      button.onclick = () => { go(one.position); byId("table").scrollIntoView({ block: "nearest" }); };
      const item = make("li", "", button);
      item.dataset.position = one.position;
      return item;
    }));
  }

  function drawMarks() {
    const left = (position) => `${(100 * position) / Math.max(1, data.positions.length - 1)}%`;
    const mark = (position, classes) => {
      const node = make("span", classes);
      node.style.left = left(position);
      return node;
    };
    const shown = data.mistakes.filter((one) => viewer === null || viewer === one.seat);
    byId("marks").replaceChildren(...data.hands.map((hand) => mark(hand.start, "hand")),
      ...shown.map((one) => mark(one.position, "mistake")));
  }

  // --- Scores --------------------------------------------------------------------------------------------------

  let width = 640;
  const done = () => data.hands.filter((hand) => hand.totals !== null);
  const across = (hand) => chartX(width, data.hands.length, hand);

  function drawChart() {
    width = Math.max(300, byId("chart").clientWidth);
    const picture = scoreChart({ names: data.names, sizes: data.hands.map((hand) => hand.size), totals: done().map((hand) => hand.totals), width });
    picture.append(svg("line", { id: "cursor", y1: CHART.top, y2: CHART.height - CHART.bottom }));
    picture.onclick = (event) => {
      const box = picture.getBoundingClientRect();
      const hand = Math.round(chartHand(width, data.hands.length, ((event.clientX - box.left) / box.width) * width)) - 1;
      go(data.hands[Math.min(Math.max(hand, 0), data.hands.length - 1)].end);
    };
    byId("chart").replaceChildren(picture);
  }

  function drawCursor(position, hand) {
    const part = (at - hand.start) / Math.max(1, hand.end - hand.start);
    const x = across(position.hand + part);
    byId("cursor").setAttribute("x1", x);
    byId("cursor").setAttribute("x2", x);
    for (const row of byId("sheet").querySelectorAll("tbody tr")) {
      const behind = position.hand - Number(row.dataset.hand);
      row.classList.toggle("here", behind === 0);
      row.classList.toggle("veiled", viewer !== null && (behind < 0 || (behind === 0 && at < hand.end)));
    }
  }

  function drawSheet() {
    const head = make("tr", "", make("th", "", ""), make("th", "", "cards"), make("th", "", "trump"), ...data.names.map((_, seat) => make("th", "", seatName(seat))));
    const rows = data.hands.map((hand, k) => {
      const cells = data.names.map((_, seat) => {
        const bid = hand.bids[seat];
        const points = hand.points === null ? "" : number(hand.points[seat]);
        const classes = hand.points === null || hand.made[seat] === null ? "" : hand.made[seat] ? "made" : "missed";
        return make("td", classes, make("span", "", `${bid === null ? "–" : bid} / ${hand.taken[seat]}`), make("b", "", points), seat === hand.dealer ? make("abbr", "dealer", "D") : null);
      });
      const row = make("tr", "", make("th", "", `${hand.number}${hand.deals > 1 ? `, deal ${hand.deals}` : ""}`), make("td", "", `${hand.size} ${hand.special}`),
        make("td", "", make("i", hand.trump.red ? "red" : "", hand.trump.suit)), ...cells);
      row.dataset.hand = k;
      row.onclick = () => go(hand.start);
      return row;
    });
    const last = done()[done().length - 1];
    const totals = make("tr", "totals", make("th", "", "total"), make("td", ""), make("td", ""),
      ...data.names.map((_, seat) => make("td", "", make("b", "", number(last ? last.totals[seat] : 0)))));
    const [table] = byId("sheet").getElementsByTagName("table");
    const caption = make("caption", "", "bid / taken and points; D: the dealer. A row leads to its hand.");
    table.replaceChildren(caption, make("thead", "", head), make("tbody", "", ...rows), make("tfoot", "", totals));
  }

  // --- Going about ---------------------------------------------------------------------------------------------

  function go(position) {
    at = Math.min(Math.max(position, 0), data.positions.length - 1);
    const one = data.positions[at], hand = data.hands[one.hand];
    drawHeadline(one, hand);
    drawTrick(one, hand);
    drawSeats(one, hand);
    drawDecision(one);
    drawCursor(one, hand);
    byId("slider").value = at;
    byId("count").textContent = `${at + 1} of ${data.positions.length}`;
    history.replaceState(null, "", `#${at}${viewer === null ? "" : `/${viewer}`}`);
  }

  function moved(how) {
    const hand = data.hands[data.positions[at].hand], next = data.hands[data.positions[at].hand + 1];
    const before = data.hands[data.positions[at].hand - (at === hand.start ? 1 : 0)];
    const shown = data.mistakes.filter((one) => viewer === null || viewer === one.seat).map((one) => one.position);
    return {
      first: 0, last: data.positions.length - 1, back: at - 1, on: at + 1,
      "hand-back": before ? before.start : 0, "hand-on": next ? next.start : data.positions.length - 1,
      mistake: shown.length ? Math.min(...(shown.some((one) => one > at) ? shown.filter((one) => one > at) : shown)) : at,
    }[how];
  }

  const KEYS = {
    ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last", PageUp: "hand-back", PageDown: "hand-on", m: "mistake",
  };

  function lookAs(seat) {
    viewer = seat;
    byId("viewer").value = seat === null ? "" : String(seat);
    drawMistakes();
    drawMarks();
  }

  function fromAddress() {
    const [position, seat] = location.hash.slice(1).split("/");
    lookAs(/^\d+$/.test(seat) && Number(seat) <= data.names.length ? Number(seat) : null);
    go(position === "end" ? data.positions.length - 1 : Number(position) || 0);
  }

  function start() {
    byId("title").textContent = data.title;
    const [rules, ...more] = data.rules.split("\n");
    byId("rules").textContent = rules;
    byId("more-rules").textContent = more.join("\n");
    const everybody = make("option", "", "everybody");
    everybody.value = "";
    byId("viewer").append(everybody, ...[...data.names, "spectators"].map((name, seat) => {
      const option = make("option", "", name);
      option.value = String(seat);
      return option;
    }));
    byId("viewer").onchange = (event) => { lookAs(event.target.value === "" ? null : Number(event.target.value)); go(at); };
    byId("slider").max = data.positions.length - 1;
    byId("slider").oninput = (event) => go(Number(event.target.value));
    for (const button of byId("buttons").querySelectorAll("button")) button.onclick = () => go(moved(button.dataset.go));
    document.onkeydown = (event) => {
      const how = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!how || event.ctrlKey || event.altKey || event.metaKey || event.target.id === "viewer") return;
      event.preventDefault();
      go(moved(how));
    };
    window.onhashchange = fromAddress;
    window.onresize = () => { drawChart(); go(at); };
    page.hidden = false;
    drawChart();
    drawSheet();
    fromAddress();
  }

  try {
    const text = byId("data").textContent;
    if (crc32(text) !== byId("data").dataset.checksum) throw new Error("its data is not what it was made with");
    data = JSON.parse(text);
    start();
    notice.hidden = true;
  } catch (error) {
    page.hidden = true;
    notice.hidden = false;
    notice.replaceChildren(`This page is damaged: ${error.message}. Make it again with `, make("code", "", "ohhell view RECORD"), ".");
  }
})();
