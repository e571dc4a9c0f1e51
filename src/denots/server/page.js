// The page on which a model is tried. Everything that comes from a table or a server is set as text, never as markup,
// but for pictures, which the server draws.
"use strict";
const at = (id) => document.getElementById(id);
const KINDS = { json: "application/json", ndjson: "application/x-ndjson", jsonl: "application/x-ndjson", tsv: "text/tab-separated-values" };
const MOST_ROWS = 500;
const MOST_REASONS = 20;
let model = null;
let sent = null; // what was answered: { body, type, query, answers }

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

async function ask(path, options = {}) {
  const token = sessionStorage.getItem("denots-token");
  const headers = { ...options.headers, ...(token ? { Authorization: "Bearer " + token } : {}) };
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch {
    throw new Error("The server does not answer; it may have been stopped.");
  }
  if (response.ok) return response;
  if (response.status === 401) {
    sessionStorage.removeItem("denots-token");
    show("enter");
    if (!token) throw new Error("");
  }
  const told = await response.json().catch(() => ({ title: "The server failed", detail: "status " + response.status }));
  throw new Error(told.title + ": " + told.detail);
}

function show(id, visible = true) {
  at(id).hidden = !visible;
}

async function attempt(work) {
  at("problem").textContent = "";
  at("send").disabled = true;
  try {
    await work();
  } catch (error) {
    at("problem").textContent = error.message;
  } finally {
    at("send").disabled = false;
  }
}

async function begin() {
  model = await (await ask("/model")).json();
  show("enter", false);
  document.querySelector("h1").textContent = "Try the model " + model.name;
  document.title = model.name;
  const loaded = model.loaded.replace("T", " ").replace("+00:00", " UTC");
  at("facts").textContent = `${model.task} by system ${model.system}, loaded ${loaded}, digest ${model.digest.slice(0, 12)}`;
  const parts = model.columns;
  const named = (label, names) => (names.length ? `${label} ${names.join(", ")}` : "");
  const values = parts.variable ? `name of the channel ${parts.variable}, value ${parts.value}` : named("channels", parts.channels);
  const words = [`series ${parts.id}`, `time ${parts.time}${model.time_unit ? " (" + model.time_unit + ", or dates)" : ""}`, parts.start ? "start " + parts.start : "", named("constant", parts.static), values];
  at("columns").textContent = `One row is one observation; empty cells were not observed. Columns: ${words.filter(Boolean).join("; ")}.`;
  show("at-label", model.takes_times);
  at("at").required = model.asks_times;
  show("coverage-label", model.knows_coverage);
  show("ask");
}

function table() {
  const file = at("file").files[0];
  if (file) return { body: file, type: KINDS[file.name.split(".").pop().toLowerCase()] || "text/csv" };
  const text = at("table").value;
  const start = text.trimStart();
  if (start.startsWith("[")) return { body: text, type: KINDS.json };
  if (!start.startsWith("{")) return { body: text, type: start.split("\n")[0].includes("\t") ? KINDS.tsv : "text/csv" };
  return { body: text, type: isJson(start.split("\n")[0]) && start.includes("\n") ? KINDS.ndjson : KINDS.json };
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function query() {
  const asked = new URLSearchParams();
  if (model.takes_times && at("at").value) asked.set("at", at("at").value);
  if (at("coverage").value) asked.set("coverage", at("coverage").value);
  return asked;
}

async function predict() {
  show("answers", false);
  show("picture", false);
  const asked = { ...table(), query: query() };
  const response = await ask("/predict?" + asked.query, { method: "POST", body: asked.body, headers: { "Content-Type": asked.type } });
  sent = { ...asked, answers: (await response.json()).answers };
  list();
  const first = sent.answers.find((answer) => !answer.status.startsWith("not read"));
  if (first) await draw(first[model.columns.id]);
}

function kind(status) {
  return status.startsWith("not ") ? "failed" : status.startsWith("ok") ? "ok" : "unusual";
}

function short(status) {
  return status.split(/: | its first/)[0];
}

function cell(value) {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)).toString() : String(value ?? "");
}

function list() {
  // The status comes early, because tables may be wider than the page.
  const first = model.takes_times ? [model.columns.id, model.columns.time] : [model.columns.id];
  const names = [...new Set([...first, "status", ...Object.keys(sent.answers[0])])];
  const head = element("tr");
  for (const name of names) head.append(element("th", name, { scope: "col" }));
  const body = element("tbody");
  for (const answer of sent.answers.slice(0, MOST_ROWS)) {
    const row = element("tr", undefined, { tabindex: "0", "data-series": answer[model.columns.id], title: "draw this series" });
    for (const name of names) row.append(name === "status" ? element("td", short(answer.status), { class: kind(answer.status), title: answer.status }) : element("td", cell(answer[name])));
    body.append(row);
  }
  const whole = element("table");
  const top = element("thead");
  top.append(head);
  whole.append(top, body);
  document.querySelector("#answers .wide").replaceChildren(whole);
  const series = new Map(sent.answers.map((answer) => [answer[model.columns.id], answer.status]));
  const count = (wanted) => [...series.values()].filter((status) => kind(status) === wanted).length;
  const words = [`${series.size} series`, `${count("ok")} ok`, count("unusual") ? `${count("unusual")} unusual` : "", count("failed") ? `${count("failed")} without an answer` : ""];
  const more = sent.answers.length > MOST_ROWS ? ` The first ${MOST_ROWS} of ${sent.answers.length} rows are shown; the file has all.` : "";
  at("counts").textContent = words.filter(Boolean).join(", ") + ". A row that is clicked is drawn." + more;
  const odd = [...series].filter(([, status]) => kind(status) !== "ok");
  const reasons = odd.slice(0, MOST_REASONS).map(([id, status]) => element("li", `${id}: ${status}`, { class: kind(status) }));
  if (odd.length > MOST_REASONS) reasons.push(element("li", `${odd.length - MOST_REASONS} more; the file has all.`));
  at("reasons").replaceChildren(...reasons);
  show("answers");
}

async function draw(id) {
  const asked = new URLSearchParams(model.takes_times ? sent.query : undefined);
  asked.set("series", id);
  for (const row of document.querySelectorAll("#answers tr[data-series]")) row.classList.toggle("chosen", row.dataset.series === String(id));
  const response = await ask("/picture?" + asked, { method: "POST", body: sent.body, headers: { "Content-Type": sent.type } });
  const drawn = new DOMParser().parseFromString(await response.text(), "text/html");
  document.querySelector("#picture h2").textContent = id;
  document.querySelector("#picture div").replaceChildren(...drawn.body.childNodes);
  show("picture");
}

function save() {
  const names = Object.keys(sent.answers[0]);
  const quoted = (value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const lines = [names, ...sent.answers.map((answer) => names.map((name) => String(answer[name] ?? "")))];
  const link = element("a", undefined, { download: "predictions.csv" });
  link.href = URL.createObjectURL(new Blob([lines.map((line) => line.map(quoted).join(",") + "\n").join("")], { type: "text/csv" }));
  link.click();
  URL.revokeObjectURL(link.href);
}

function chosen(event) {
  const row = event.target.closest("tr[data-series]");
  if (row && (event.type === "click" || event.key === "Enter")) attempt(() => draw(row.dataset.series));
}

at("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("denots-token", at("token").value);
  attempt(begin);
});
at("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(predict);
});
at("example").addEventListener("click", () => {
  at("file").value = "";
  at("table").value = model.example;
  if (model.asks_times && !at("at").value) at("at").value = model.example_at;
});
at("table").addEventListener("input", () => (at("file").value = ""));
at("answers").addEventListener("click", chosen);
at("answers").addEventListener("keydown", chosen);
at("save").addEventListener("click", save);
attempt(begin);
