/** The runbook: pickers, the plan, and the bench below it. A pick goes to Python; what comes back is another plan, or why there is none. */

import { html, themed } from "../player/elements.js";
import { broken } from "../player/entry.js";
import { STYLE } from "../player/mount.js";
import { PICKERS, choose, download, field, number, page, render } from "../bench/header.js";
import { badge, kindOf, oddsBar } from "./badge.js";
import { back, copier, instead, plain, todo, why } from "./cards.js";

const RUNBOOK = "@runbook.css@";
const ROOMY = 1080; // from here on two columns
const SLIM = 620;

/** The pickers; without `ask` they say what was picked. */
function pickers({ picked, offers }, ask) {
  const off = !ask;
  const pick = (key) => (value) => ask({ [key]: value });
  const swap = plain("swap", "⇄", () => ask({ old: picked.new, new: picked.old }), { "aria-label": "Swap: the way back", title: "the way back", disabled: off });
  const tick = (key, text, checked, onchange) => html("label", { class: "tick" }, html("input", { type: "checkbox", "data-key": key, checked, disabled: off, onchange: (event) => onchange(event.target.checked) }), text);
  const uses = picked.uses ?? null;
  const features = html("div", { class: "features" },
    tick("says", "I say what the application has; what is not ticked, it has not", uses !== null, (on) => ask({ uses: on ? [] : null })),
    ...(uses === null ? [] : offers.uses.map(([name, told]) => tick(`uses:${name}`, told, uses.includes(name), (on) => ask({ uses: on ? [...uses, name] : uses.filter((one) => one !== name) })))));
  const more = html("details", { class: "more", "data-key": "more-of" }, html("summary", {}, "More"),
    html("div", { class: "fields" },
      field("upgrade.from of the first round", choose("upgrade_from", "upgrade.from of the first round", offers.upgrade_from, picked.upgrade_from, pick("upgrade_from"), off)),
      field("An instance that closes", choose("closing", "An instance that closes", offers.closing, picked.closing, pick("closing"), off)),
      tick("static", "Static members (group.instance.id)", picked.static, pick("static"))),
    features);
  const unusual = [picked.upgrade_from, picked.closing, picked.static, uses !== null].filter(Boolean).length;
  if (unusual) more.firstChild.append(html("span", { class: "count" }, `${unusual} set`));
  return html("div", { class: "head" }, html("div", { class: "fields" },
    field("It runs", choose("old", "It runs", offers.releases, picked.old, pick("old"), off)), swap,
    field("It shall run", choose("new", "It shall run", offers.releases, picked.new, pick("new"), off)),
    field("Instances", number("members", "Instances", offers.members, picked.members, pick("members"), off)),
    field("Threads each", number("threads", "Threads each", offers.threads, picked.threads, pick("threads"), off))),
  more, off ? html("p", { class: "hint" }, "This page holds this one plan; pick another upgrade in the notebook.") : null);
}

function answer(data, { watch }) {
  const runs = data.watch.filter(() => watch);
  return html("div", { class: `answer ${kindOf(data.verdict)}`, role: "group", "aria-label": "The verdict" },
    html("p", { class: "pair" }, data.title),
    html("p", { class: "headline" }, badge(data.verdict), html("span", {}, data.sentence)),
    data.conditions.length ? html("ul", { class: "list" }, ...data.conditions.map((one) => html("li", {}, one))) : null,
    data.odds ? oddsBar(data.odds) : null,
    data.cost ? html("p", { class: "expected" }, html("b", {}, "Expected "), data.cost, html("span", { class: "quiet" }, " · in which the group rebalances, or waits for the id of a member that is gone")) : null,
    runs.length ? html("div", { class: "buttons" }, ...runs.map(([name, text]) => plain(`watch:${name}`, `▶ ${text}`, () => watch(name), { class: `plain ${name === "danger" ? "grave" : ""}` }))) : null);
}

function takeaway(data, say) {
  return html("section", { class: "block take" }, html("h2", { class: "caption" }, "Take it along"),
    html("div", { class: "buttons" },
      copier("markdown", "Copy as Markdown", data.markdown, say),
      plain("download", `Download ${data.file}`, () => { download(data.file, data.markdown); say(`${data.file} is in your downloads.`); }),
      plain("print", "Print", () => print())),
    ...[["command", data.command], ["python", data.python]].map(([name, text]) => html("div", { class: "line" },
      html("pre", { tabindex: 0, role: "group", "aria-label": name === "command" ? "On the command line" : "In Python" }, text), copier(`copy:${name}`, "Copy", text, say))));
}

/**
 * The plan in an element; `draw(data)` puts another one in.
 *
 * ask(picks) sends what was picked, watch(name) opens a run below; without them there is nothing to pick, or to open.
 */
export function runbook(host, first, tools) {
  host.dataset.lmSuppressShortcuts = "true";
  const shadow = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const listening = new AbortController();
  const { signal } = listening;
  const told = html("p", { class: "told", role: "status" });
  const said = html("p", { class: "unseen", role: "status" });
  const content = html("div", { class: "sheet-of" });
  const root = html("div", { class: "player runbook", role: "group", "aria-label": "The plan of an upgrade" }, content, said);
  shadow.replaceChildren(html("style", {}, STYLE, PICKERS, RUNBOOK), root);
  const ticks = new Set();
  let data;

  /** What is said aloud, or shown to be copied by hand. */
  function say(text, content) {
    if (content === undefined) { said.textContent = text; return; }
    told.replaceChildren(html("textarea", { class: "copy", readonly: true, "aria-label": "Copy this by hand" }, content));
    told.firstChild.focus();
    told.firstChild.select();
  }
  function ticked() {
    const all = data.rounds.reduce((sum, round) => sum + round.instances, 0);
    said.textContent = ticks.size === all ? "Every bounce is ticked. Look for what says that it is done." : `${ticks.size} of ${all} bounces are ticked.`;
  }

  function draw(next, refused = "") {
    const key = shadow.activeElement?.closest("[data-key]")?.dataset.key;
    const open = [...shadow.querySelectorAll("details[open]")].map((one) => one.dataset.key);
    if (data && JSON.stringify(data.picked) !== JSON.stringify(next.picked)) ticks.clear();
    data = next;
    told.replaceChildren(refused);
    const beside = [...(data.back ? [back(data)] : []), why(data)];
    const shown = data.rounds.length ? [todo(data, { ticks, ticked, say })] : [];
    if (data.instead.length) shown.unshift(instead(data, tools));
    content.replaceChildren(pickers(data, tools.ask), told, answer(data, tools),
      html("div", { class: "columns" }, html("div", {}, ...shown), html("div", {}, ...beside)), takeaway(data, say));
    for (const one of shadow.querySelectorAll("details")) one.open = open.includes(one.dataset.key);
    if (key) shadow.querySelector(`[data-key="${CSS.escape(key)}"]:not(:disabled)`)?.focus({ preventScroll: true });
    host.dataset.ready = "true";
  }

  root.addEventListener("keydown", (event) => event.stopPropagation()); // a notebook would take our letters for its own
  const paint = themed(host, root, signal);
  const fit = () => {
    root.classList.toggle("wide", root.clientWidth >= ROOMY);
    root.classList.toggle("narrow", root.clientWidth < SLIM);
    paint();
  };
  const sizes = new ResizeObserver(fit);
  sizes.observe(root);
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...shadow.querySelectorAll("details:not([open])")];
    for (const one of opened) one.open = true;
    root.dataset.theme = "light"; // paper is white
  }, { signal });
  addEventListener("afterprint", () => { for (const one of opened) one.open = false; paint(); }, { signal });
  fit();
  draw(first);
  return {
    draw,
    say,
    tell(text) { told.replaceChildren(text); },
    destroy() { listening.abort(); sizes.disconnect(); root.remove(); },
  };
}

/** The run that was asked for is on the screen: there the reader's eyes and keys go. */
function goTo(under) {
  under.hidden = false;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  under.scrollIntoView({ behavior: still ? "auto" : "smooth", block: "start" });
  const focus = (left) => {
    const there = under.querySelector(".vp-host")?.shadowRoot?.querySelector(".player");
    if (there) there.focus({ preventScroll: true });
    else if (left) setTimeout(focus, 50, left - 1);
  };
  focus(20);
}

/** In a notebook Python plans what is picked, and runs what is to be watched. */
function attachRunbook({ model, el }) {
  const host = html("div");
  const under = html("div", { hidden: true, style: "margin-top:16px" });
  el.append(host, under);
  let waiting = 0;
  let leave = null;
  const send = (what) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => shown.tell("Python is busy with another cell; this follows as soon as it is free."), 400);
    model.send(what);
  };
  const shown = runbook(host, model.get("sheet"), { ask: (picks) => send({ plan: picks }), watch: (name) => send({ watch: name }) });
  const draw = () => { under.hidden = true; shown.draw(model.get("sheet")); };
  const heard = (message) => {
    if (!("planned" in message || "watched" in message || "refused" in message)) return;
    clearTimeout(waiting);
    shown.tell("");
    if (message.refused) shown.draw(model.get("sheet"), message.refused); // the pickers go back to what is planned
    else if (message.planned) shown.say(message.planned);
    else {
      leave ??= render({ model, el: under });
      goTo(under);
    }
  };
  model.on("change:sheet", draw);
  model.on("msg:custom", heard);
  return () => {
    clearTimeout(waiting);
    model.off("change:sheet", draw);
    model.off("msg:custom", heard);
    leave?.();
    shown.destroy();
  };
}

/** Show every plan that a static page holds; the runs that come with it can be watched. */
function openRunbooks() {
  for (const host of document.querySelectorAll("div.vp-runbook:not([data-opened])")) {
    host.dataset.opened = "true"; // the players of the page leave it alone: to them it is mounted
    const under = html("div", { hidden: true, style: "margin-top:16px" });
    host.after(under);
    const watch = (name) => {
      under.querySelector(".vp-host")?.player?.destroy();
      const inner = html("div", { "data-mounted": "true" });
      under.replaceChildren(inner);
      under.hidden = false;
      try {
        page(inner, data.runs[name], { start: data.runs[name].index });
        goTo(under);
      } catch { broken(inner); }
    };
    let data;
    try {
      data = JSON.parse(host.querySelector("script").textContent);
      runbook(host, data, { watch: data.runs && watch });
    } catch { broken(host); }
  }
}
