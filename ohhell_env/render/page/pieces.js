// What the replay page and the table in the browser share: elements, cards, the chart of the scores. It knows no rules.
"use strict";

// An element with classes and children; text becomes text, never markup.
export function make(tag, classes, ...children) {
  const node = document.createElement(tag);
  if (classes) node.className = classes;
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export function svg(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export const number = (value) => String(Math.round(value * 100) / 100).replace("-", "−");

// A card: its rank and suit as they stand on it; a joker has a name and no suit.
export function cardFace({ rank, suit, red }, classes = "") {
  const node = make("span", `card ${red ? "red" : ""} ${suit ? "" : "odd"} ${classes}`, make("b", "", rank), make("i", "", suit));
  node.title = rank + suit;
  return node;
}

// --- The chart of the scores -------------------------------------------------------------------------------------

export const CHART = { height: 230, left: 38, right: 124, top: 12, bottom: 24 };
export const chartX = (width, hands, hand) => CHART.left + ((width - CHART.left - CHART.right) * hand) / Math.max(1, hands);
export const chartHand = (width, hands, x) => ((x - CHART.left) / (width - CHART.left - CHART.right)) * hands;

// names: by seat; sizes: cards of every hand of the match; totals: each seat's, after each finished hand.
export function scoreChart({ names, sizes, totals, width }) {
  const rows = [names.map(() => 0), ...totals];
  const low = Math.min(0, ...rows.flat()), high = Math.max(1, ...rows.flat());
  const down = (value) => CHART.top + ((CHART.height - CHART.top - CHART.bottom) * (high - value)) / (high - low);
  const across = (hand) => chartX(width, sizes.length, hand);
  const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${CHART.height}`, role: "img", "aria-label": "scores after each hand" });
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) {
    picture.append(svg("line", { class: "grid", x1: CHART.left, x2: width - CHART.right, y1: down(value), y2: down(value) }));
    picture.append(svg("text", { class: "tick", x: CHART.left - 6, y: down(value) + 4, "text-anchor": "end" }, number(value)));
  }
  const every = Math.ceil((22 * sizes.length) / (width - CHART.left - CHART.right));
  sizes.forEach((size, k) => {
    if (k % every === 0) picture.append(svg("text", { class: "tick", x: across(k + 1), y: CHART.height - 6, "text-anchor": "middle" }, size));
  });
  picture.append(svg("text", { class: "tick", x: width - CHART.right + 12, y: CHART.height - 6 }, "cards in the hand"));
  const last = rows[rows.length - 1];
  const labels = names.map((name, seat) => {
    const points = rows.map((row, k) => `${across(k)},${down(row[seat])}`);
    picture.append(svg("polyline", { class: `line s${seat}`, points: points.join(" ") }));
    return { name, seat, y: down(last[seat]) + 4, total: last[seat] };
  }).sort((a, b) => a.y - b.y);
  labels.forEach((label, k) => { if (k) label.y = Math.max(label.y, labels[k - 1].y + 14); });
  labels.reduceRight((lowest, label) => (label.y = Math.min(label.y, lowest)) - 14, CHART.height - CHART.bottom + 4);
  labels.forEach((label) => {
    const name = label.name.length > 12 ? label.name.slice(0, 11) + "…" : label.name;
    picture.append(svg("text", { class: `label s${label.seat}`, x: across(rows.length - 1) + 8, y: label.y }, `${name} ${number(label.total)}`));
  });
  return picture;
}
