"use strict";
// The page of `lab mark`. Students' texts are only ever set as textContent.

const $ = (id) => document.getElementById(id);
let state = null; // what the server reply last
let question = null; // the one that is shown
let position = 0; // of the answer that is shown
let waiting = Promise.resolve(); // requests go out one after the other
let unsaved = 0;
let failed = false;
let typing = null; // the timer of a comment that is being written

const current = () => question.answers[position];
const isTyping = () => ["TEXTAREA", "INPUT", "SELECT"].includes(document.activeElement.tagName);

async function load() {
  const response = await fetch("api/state");
  if (!response.ok) throw new Error((await response.json()).error || response.statusText);
  state = await response.json();
  for (const one of state.questions) for (const answer of one.answers) adopt(answer, { ...answer });
  document.title = `Marking ${state.lab}`;
  $("title").textContent = `${state.lab}: ${state.title}` + (state.share ? `, share ${state.share}` : "");
  $("questions").replaceChildren(...state.questions.map((one) => new Option(one.title, one.name)));
  $("choice").hidden = state.questions.length < 2;
  question = state.questions.find((one) => one.answers.length) || state.questions[0];
  $("questions").value = question.name;
  say(state.marker ? `Marking as ${state.marker}` : "Ready");
  choose();
}

function choose() {
  const empty = !question.answers.length;
  $("main").hidden = empty;
  $("nothing").hidden = !empty;
  write($("prompt"), question.prompt);
  write($("model"), question.model);
  $("model-box").hidden = !question.model;
  $("points").max = question.points;
  $("points-of").textContent = question.scheme.length ? `Mark scheme, ${question.points} points` : `Points, of ${question.points}`;
  position = Math.max(0, question.answers.findIndex((one) => one.needs_manual_grade));
  count();
  if (!empty) show();
}

function show() {
  const answer = current();
  $("which").textContent = `Answer ${position + 1} of ${question.answers.length}`;
  $("answer").textContent = answer.text;
  const again = answer.needs_manual_grade && answer.points !== null;
  $("flag").textContent = again ? "The text has changed since it was marked" : answer.needs_manual_grade ? "No mark yet" : "Marked";
  $("flag").className = again ? "tag again" : answer.needs_manual_grade ? "tag" : "tag done";
  if (document.activeElement !== $("points")) $("points").value = answer.points ?? "";
  if (document.activeElement !== $("comment")) $("comment").value = answer.comment;
  $("keep").hidden = !again;
  $("previous").disabled = position === 0;
  $("next").disabled = position === question.answers.length - 1;
  showItems(answer);
  showBank();
}

function showItems(answer) {
  const scheme = question.scheme.length > 0;
  const whole = Math.min(9, Math.floor(question.points));
  const items = scheme ? question.scheme : Array.from({ length: whole + 1 }, (_, number) => ({ points: number, text: "" }));
  $("items").className = scheme ? "" : "row";
  $("items").replaceChildren(...items.map((item, number) => {
    const button = document.createElement("button");
    const key = scheme ? number + 1 : number;
    button.type = "button";
    const parts = scheme ? [["kbd", key], ["span", item.text], ["b", `+${item.points}`]] : [["b", item.points]];
    for (const [tag, text] of parts) {
      const part = document.createElement(tag);
      write(part, String(text));
      button.append(part);
    }
    if (!scheme) button.setAttribute("aria-label", `${item.points} points`);
    button.setAttribute("aria-pressed", scheme ? answer.items.includes(number) : answer.points === item.points);
    button.addEventListener("click", () => press(key));
    return button;
  }));
}

function showBank() {
  $("bank").replaceChildren(...question.bank.map((one) => {
    const button = document.createElement("button");
    button.type = "button";
    const text = Object.assign(document.createElement("span"), { textContent: one.text });
    const times = Object.assign(document.createElement("span"), { textContent: `× ${one.count}`, className: "times" });
    button.append(text, times);
    button.addEventListener("click", () => {
      const before = $("comment").value.trim();
      $("comment").value = before && before !== one.text ? `${before}\n${one.text}` : one.text;
      saveComment();
    });
    return button;
  }));
}

// The staff's own text, with code in backticks; nothing is read as HTML.
function write(element, text) {
  element.replaceChildren(...text.split("`").map((part, number) => number % 2 ? Object.assign(document.createElement("code"), { textContent: part }) : part));
}

function count() {
  const answers = state.questions.flatMap((one) => one.answers);
  const done = answers.filter((one) => !one.needs_manual_grade).length;
  $("progress").max = Math.max(1, answers.length);
  $("progress").value = done;
  $("count").textContent = `${done} of ${answers.length} marked`;
}

function say(text) { $("status").textContent = text; }
function problem(text) { $("problem").textContent = text; $("problem").hidden = !text; }

function press(key) {
  const answer = current();
  if (!question.scheme.length) {
    if (key <= question.points) give({ points: key });
    return;
  }
  if (key > question.scheme.length) return;
  let items = [];
  if (key > 0) items = answer.items.includes(key - 1) ? answer.items.filter((one) => one !== key - 1) : [...answer.items, key - 1];
  const points = items.reduce((sum, one) => sum + question.scheme[one].points, 0);
  give({ items, points: key === 0 || items.length ? points : null });
}

const values = (answer) => ({ points: answer.points, comment: answer.comment, items: [...answer.items].sort(), needs_manual_grade: answer.needs_manual_grade });
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

// The reply of the server counts; `saved` is what it will expect to replace.
function adopt(answer, reply) { Object.assign(answer, reply, { saved: values(reply) }); }

// Change the answer that is shown at once, and save it behind. After a refusal it is as it was, and
// changes that build on the refused one are dropped.
function give(change) {
  const shown = question, answer = current();
  Object.assign(answer, { needs_manual_grade: false }, change);
  answer.needs_manual_grade ||= answer.points === null;
  const sent = values(answer), round = answer.round || 0;
  refresh();
  send(async () => {
    if ((answer.round || 0) !== round) return;
    const body = { question: shown.name, answer: answer.key, ...sent, seen: answer.saved };
    const reply = await post("api/mark", body, () => {
      answer.round = round + 1;
      adopt(answer, { ...answer, ...answer.saved });
    });
    shown.bank = reply.bank;
    if (same(values(answer), sent)) adopt(answer, reply.answer);
    else answer.saved = values(reply.answer);
    warn(reply);
  });
}

function undo() {
  leave();
  send(async () => {
    const reply = await post("api/undo", {}, () => {});
    question = state.questions.find((one) => one.name === reply.question);
    position = question.answers.findIndex((one) => one.key === reply.answer.key);
    $("questions").value = question.name;
    question.bank = reply.bank;
    adopt(current(), reply.answer);
    warn(reply);
  });
}

// Requests go out one after the other, so none can overtake an earlier one.
function send(work) {
  if (!unsaved) failed = false;
  unsaved += 1;
  say("Saving …");
  waiting = waiting.then(work).then(() => { if (!failed) problem(""); }, (error) => { problem(error.message); failed = true; }).then(() => {
    unsaved -= 1;
    if (!unsaved) say(failed ? "Not saved" : "Saved");
    refresh();
  });
}

async function post(address, body, refused) {
  let response, reply;
  try {
    response = await fetch(address, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    reply = await response.json();
  } catch {
    refused();
    throw new Error("The page's server does not answer, so the last mark was not saved. Is `lab mark` still running?");
  }
  if (response.ok) return reply;
  refused();
  if (reply.now) {
    const owner = state.questions.find((one) => one.name === reply.now.question);
    adopt(owner.answers.find((one) => one.key === reply.now.answer.key), reply.now.answer);
  }
  throw new Error(reply.error);
}

// The mark is in the gradebook, but something beside it is not.
function warn(reply) { if (reply.warning) throw new Error(reply.warning); }

function refresh() { count(); show(); }

function saveComment() {
  clearTimeout(typing);
  typing = null;
  const text = $("comment").value.trim();
  if (text !== current().comment) give({ comment: text, needs_manual_grade: current().needs_manual_grade });
}

function savePoints() {
  const text = $("points").value;
  const points = text === "" ? null : Number(text);
  if (points === current().points) return;
  if (!$("points").checkValidity() || Number.isNaN(points)) {
    problem(`Points are a number from 0 to ${question.points}.`);
    return;
  }
  give({ points, items: [] });
}

// The text has changed, and the old points are right for the new one, too.
function keep() { if (current().needs_manual_grade && current().points !== null) give({}); }

function leave() {
  if (document.activeElement === $("comment")) saveComment();
  if (document.activeElement === $("points")) savePoints();
}

function go(step) {
  leave();
  const index = position + step;
  if (index < 0 || index >= question.answers.length) return;
  position = index;
  document.activeElement.blur();
  show();
}

function goUnmarked() {
  leave();
  const order = [...question.answers.keys()].map((number) => (position + 1 + number) % question.answers.length);
  const index = order.find((number) => question.answers[number].needs_manual_grade);
  document.activeElement.blur();
  if (index === undefined) { say("Every answer to this question has a mark"); return; }
  position = index;
  show();
}

document.addEventListener("keydown", (event) => {
  if (!state || $("main").hidden || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping()) {
    if (event.key === "Escape" || (event.key === "Enter" && document.activeElement === $("points"))) {
      leave();
      document.activeElement.blur();
      event.preventDefault();
    }
    return;
  }
  const onButton = ["BUTTON", "SUMMARY"].includes(document.activeElement.tagName);
  const keys = {
    ArrowLeft: () => go(-1), ArrowRight: () => go(1), Enter: goUnmarked, u: undo, k: keep,
    c: () => $("comment").focus(), p: () => $("points").select(), m: () => { $("model-box").open = !$("model-box").open; },
  };
  if (event.key === "Enter" && onButton) return;
  if (/^\d$/.test(event.key)) press(Number(event.key));
  else if (keys[event.key]) keys[event.key]();
  else return;
  event.preventDefault();
});

$("previous").addEventListener("click", () => go(-1));
$("next").addEventListener("click", () => go(1));
$("unmarked").addEventListener("click", goUnmarked);
$("undo").addEventListener("click", undo);
$("keep").addEventListener("click", keep);
$("points").addEventListener("change", savePoints);
$("comment").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(saveComment, 700); });
$("comment").addEventListener("blur", () => { if (typing !== null) saveComment(); });
$("questions").addEventListener("change", () => { leave(); question = state.questions.find((one) => one.name === $("questions").value); choose(); });
window.addEventListener("beforeunload", (event) => { if (unsaved || typing !== null) event.preventDefault(); });
load().catch((error) => { say("Not loaded"); problem(String(error.message || error)); });
