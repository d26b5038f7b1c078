// The first page: choose a game and who plays; the server says what there is to choose.
import { make } from "./pieces.js";

const byId = (id) => document.getElementById(id);
let presets = [], bots = [];

const botName = (bot) => ({
  heuristic: "heuristic: plays by simple rules", random: "random: plays any legal card",
}[bot] || (bot.startsWith("search") ? `${bot}: looks ahead` : `${bot.replace("checkpoints/", "")}: trained by self-play`));
const SHORT = [7, 3]; // hands of a short match, which are of so many cards down to one

function fill(select, options, chosen) {
  select.replaceChildren(...options.map(([value, text]) => {
    const option = make("option", "", text);
    option.value = value;
    option.selected = String(value) === String(chosen);
    return option;
  }));
}

const title = (name) => name.replaceAll("_", " ").replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
const preset = () => presets.find((one) => one.name === byId("preset").value);

function drawPreset() {
  const { counts, players, about } = preset();
  fill(byId("players"), counts.map((count) => [count, count]), players);
  byId("about").textContent = about;
  drawPlayers();
}

function drawPlayers() {
  const short = SHORT.map((size) => Math.min(size, Math.floor(51 / Number(byId("players").value))));
  fill(byId("length"), [...short.map((size) => [`ramp=${size}..1`, `${size} hands, of ${size} cards down to 1`]), ["", "a whole match, as the rules say"]], byId("length").length ? byId("length").value : null);
  drawSeats();
}

function drawSeats() {
  const count = Number(byId("players").value);
  byId("seats").replaceChildren(...Array.from({ length: count - 1 }, (_, k) => {
    const select = make("select", "");
    select.dataset.seat = k + 1;
    fill(select, [...bots.map((bot) => [bot, botName(bot)]), ["person", "another person (by link)"]], byId("all").value);
    return make("label", "", `Seat ${k + 1}`, select);
  }));
}

async function open(event) {
  event.preventDefault();
  const button = byId("form").querySelector("button");
  const players = ["person", ...[...byId("seats").querySelectorAll("select")].map((select) => select.value)];
  const request = { preset: byId("preset").value, players, name: byId("name").value.trim(), mistakes: byId("mistakes").checked,
    changes: byId("changes").value.split("\n").map((line) => line.trim()).filter(Boolean) };
  if (byId("length").value && !request.changes.some((change) => change.startsWith("ramp="))) request.changes.push(byId("length").value);
  byId("error").textContent = "";
  if (byId("seed").value.trim()) {
    request.seed = Number(byId("seed").value);
    if (!Number.isSafeInteger(request.seed)) { byId("error").textContent = "The seed is a whole number."; return; }
  }
  button.disabled = true;
  button.textContent = "One moment …";
  try {
    localStorage.setItem("ohhell-name", request.name);
    const answer = await fetch("/api/tables", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(request) });
    const data = await answer.json();
    if (!answer.ok) throw new Error(data.error);
    const own = data.seats[0];
    sessionStorage.setItem(`ohhell-links ${own}`, JSON.stringify(data));
    if (Object.keys(data.seats).length === 1) location.href = own;
    else showLinks(data, own);
  } catch (error) {
    byId("error").textContent = error.message;
  } finally {
    button.disabled = false;
    button.textContent = "Sit down";
  }
}

function showLinks(data, own) {
  const item = (text, path) => {
    const field = make("input", "");
    field.readOnly = true;
    field.value = new URL(path, location.href).href;
    const copy = make("button", "", "Copy");
    copy.type = "button";
    copy.onclick = async () => {
      field.select();
      try { await navigator.clipboard.writeText(field.value); copy.textContent = "Copied"; } catch { copy.textContent = "Press Ctrl-C"; }
    };
    return make("li", "", make("label", "", text, field), copy);
  };
  byId("invitations").replaceChildren(
    ...Object.entries(data.seats).filter(([, path]) => path !== own).map(([seat, path]) => item(`Seat ${seat}`, path)),
    item("For spectators (no hands)", data.watch),
  );
  byId("sit").href = own;
  byId("form").hidden = true;
  byId("links").hidden = false;
  byId("sit").focus();
}

async function start() {
  ({ presets, bots } = await (await fetch("/api/about")).json());
  byId("name").value = localStorage.getItem("ohhell-name") || "";
  fill(byId("preset"), presets.map((one) => [one.name, title(one.name)]), "oh_hell");
  fill(byId("all"), [...bots.map((bot) => [bot, botName(bot)]), ["person", "other people (by links)"]], bots[0]);
  byId("preset").onchange = drawPreset;
  byId("players").onchange = drawPlayers;
  byId("all").onchange = drawSeats;
  byId("form").onsubmit = open;
  drawPreset();
}

start();
