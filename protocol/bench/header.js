/** The pickers above the player. A pick goes to whoever can run it; what comes back is another run, or why there is none. */

import { attach, start } from "../player/entry.js";
import { html } from "../player/elements.js";
import { mount } from "../player/mount.js";
import { parting, verdict } from "./compare.js";
import { ladder } from "./ladder.js";

const PICKERS = "@bench.css@";
const MANY = 24;
const EXPORTS = [["html", "One HTML file"], ["svg", "Animated SVG"], ["gif", "GIF"], ["webp", "WebP"], ["mmd", "Mermaid text"], ["json", "Trace as JSON"]];

const field = (name, ...kids) => html("div", { class: "field", role: "group", "aria-label": name }, html("span", { class: "label", "aria-hidden": "true" }, name), ...kids);
const act = (key, text, onclick, more = {}) => html("button", { type: "button", class: "plain", "data-key": key, onclick, ...more }, text);

function choose(key, name, options, now, pick, disabled) {
  const select = html("select", { "data-key": key, "aria-label": name, disabled, onchange: () => pick(select.value) });
  const fill = (some) => select.replaceChildren(...some.map(([value, text]) => html("option", { value, selected: value === now }, text)));
  fill(options.length > MANY ? options.filter(([value]) => value === now) : options);
  if (options.length > MANY) { // two lists of all releases would be a fifth of the page: the rest comes once the run is seen
    select.style.width = `${Math.max(...options.map(([, text]) => text.length)) + 3}ch`;
    setTimeout(() => requestAnimationFrame(() => setTimeout(() => fill(options))));
  }
  return select;
}

function either(key, options, now, pick, disabled) {
  return html("div", { class: "either" }, ...options.map(([value, text]) => {
    const radio = html("input", { type: "radio", name: key, value, checked: value === now, disabled, "data-key": `${key}:${value}`, onchange: () => pick(value) });
    return html("label", {}, radio, html("span", { title: text.length > 8 ? text : undefined }, text));
  }));
}

function number(key, name, [least, most], now, pick, disabled) {
  const go = (by) => { // what was clicked twice before the answer came counts twice
    now = Math.max(least, Math.min(most, now + by));
    input.value = now;
    pick(now);
  };
  const button = (by, sign, what) => html("button", { type: "button", "data-key": `${key}${sign}`, "aria-label": what, disabled: disabled || (by < 0 ? now <= least : now >= most), onclick: () => go(by) }, sign);
  const input = html("input", { type: "number", inputmode: "numeric", min: least, max: most, value: now, "aria-label": name, "data-key": key, disabled, onchange: () => pick(Math.trunc(Number(input.value))) });
  return html("div", { class: "number" }, button(-1, "−", `fewer: ${name}`), input, button(1, "+", `more: ${name}`));
}

function download(name, content) {
  const url = URL.createObjectURL(new Blob([content]));
  html("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** The bounce order: chips to drag, or to move with the arrow keys; Delete leaves one out, Enter takes it in again. */
function order(run, names, now, pick, disabled) {
  const list = html("div", { class: "order" });
  const chips = new Map();
  const say = html("span", { class: "unseen", role: "status" });
  const move = (name, to) => {
    const rest = now.filter((one) => one !== name);
    to = Math.max(0, Math.min(rest.length, to));
    if (now[to] !== name) pick([...rest.slice(0, to), name, ...rest.slice(to)]);
  };
  const chip = (name, place) => {
    const element = html("button", {
      type: "button", class: "chip", "data-key": `order:${name}`, disabled,
      "aria-label": place < 0 ? `${name} is not bounced; Enter takes it in` : `${name} is bounced ${place + 1} of ${now.length}; arrow keys move it, Delete leaves it out`,
      title: place < 0 ? "not bounced" : "drag, or arrow keys", onclick: () => place < 0 && pick([...now, name]),
    }, html("i", {}, name));
    element.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
      if (by && place >= 0) { event.preventDefault(); move(name, place + by); }
      if (/^(Delete|Backspace)$/.test(event.key) && place >= 0 && now.length > 1) { event.preventDefault(); pick(now.filter((one) => one !== name)); }
    });
    let from = null;
    element.addEventListener("pointerdown", (event) => {
      if (disabled || place < 0) return;
      from = event;
      element.setPointerCapture(event.pointerId);
    });
    element.addEventListener("pointermove", (event) => {
      if (!from) return;
      element.style.transform = `translate(${event.clientX - from.clientX}px,${event.clientY - from.clientY}px)`;
      element.classList.toggle("held", Math.abs(event.clientX - from.clientX) + Math.abs(event.clientY - from.clientY) > 4);
    });
    const drop = (event) => {
      if (!from) return;
      from = null;
      const middle = (one) => { const { left, width } = one.getBoundingClientRect(); return left + width / 2; };
      const { left, top, width, height } = element.getBoundingClientRect();
      const before = now.filter((one) => {
        const other = chips.get(one).getBoundingClientRect();
        return one !== name && (other.bottom < top + height / 2 || (other.top < top + height / 2 && middle(chips.get(one)) < left + width / 2));
      }).length;
      element.style.transform = "";
      element.classList.remove("held");
      if (event.type === "pointerup") move(name, before);
    };
    element.addEventListener("pointerup", drop);
    element.addEventListener("pointercancel", drop);
    chips.set(name, element);
    return element;
  };
  now.forEach((name, i) => list.append(...(i ? [html("span", { class: "then", "aria-hidden": "true" }, "→")] : []), chip(name, i)));
  for (const name of names) if (!now.includes(name)) list.append(chip(name, -1));
  return {
    element: html("div", {}, list, say),
    show(index) {
      const bounced = run.chapters.findLast((one) => one.frame <= index)?.text.split(" to ")[0];
      for (const [name, element] of chips) {
        const member = run.states[index].members[name] ?? run.states[index].members[`${name}-1`];
        element.className = `chip ${member ? run.paint(member) : ""} ${now.includes(name) ? "" : "out"} ${name === bounced ? "current" : ""}`;
      }
    },
  };
}

/** Everything above the player; `ask` sends what was picked, `save` asks for a file. */
function header(run, data, { ask, save, address, at, told }) {
  const { picked, offers, presets, preset, plain } = data.bench;
  const offline = !save;
  const pick = (key) => (value) => ask({ pick: { [key]: value } });
  const fixed = (key) => offline && !(data.runs && (key === "leader" || key === "order"));
  const few = offers.names.length <= 6;
  const chips = order(run, offers.names, picked.order, pick("order"), fixed("order"));
  const strategies = picked.jars === "strategies";
  const [old, fresh] = strategies ? ["old_strategy", "new_strategy"] : ["old", "new"];
  const captions = strategies ? ["v10 jar follows", "v11 jar follows"] : ["From", "To"];
  const names = offers.names.map((name) => [name, name]);

  const status = html("p", { class: "told", role: "status" }, told ?? "");
  const copied = (button, text) => async () => {
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = before; }, 1500);
    } catch { // no right to the clipboard: the text is shown, to be copied by hand
      status.replaceChildren(html("input", { class: "copy", readonly: true, value: text(), "aria-label": before }));
      status.firstChild.focus();
      status.firstChild.select();
    }
  };
  const link = act("link", "Copy link");
  link.addEventListener("click", copied(link, () => address(at())));
  const python = act("python", "Copy as Python");
  python.addEventListener("click", copied(python, () => `from protocol import Scenario, simulate, teaching\n\n${data.meta.python}`));
  const menu = html("details", { class: "menu" }, html("summary", { class: "plain", "data-key": "export" }, "Export"),
    html("div", {}, python, ...EXPORTS.map(([kind, text]) => act(`export:${kind}`, text, () => { menu.open = false; if (save) save(kind); else download("trace.json", JSON.stringify(data, (name, value) => (/^(layouts|slots|bench|runs)$/.test(name) ? undefined : value), 1)); }, { disabled: offline && kind !== "json", title: offline && kind !== "json" ? "in the notebook" : undefined }))));
  menu.addEventListener("keydown", (event) => { if (event.key === "Escape") { menu.open = false; menu.firstChild.focus(); } });
  menu.addEventListener("focusout", (event) => { if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false; });

  const more = html("details", { class: "more" }, html("summary", { "data-key": "more" }, "More"),
    html("div", { class: "fields" }, ...offers.more.map(([key, name, options]) => {
      const off = fixed(key);
      if (options == null) return html("label", { class: "tick" }, html("input", { type: "checkbox", "data-key": key, checked: picked[key], disabled: off, onchange: (event) => pick(key)(event.target.checked) }), name);
      return field(name, typeof options[0] === "number" ? number(key, name, options, picked[key], pick(key), off) : choose(key, name, options, picked[key], pick(key), off));
    })));
  const usual = { succession: "broker", closing: "", restart: "before", upgrade_from: "", timing: "lockstep", threads: 1, rollback: 0, supervisor: 0, seed: 0, static: false };
  const unusual = Object.keys(usual).filter((key) => picked[key] !== usual[key]).length;
  if (unusual) more.firstChild.append(html("span", { class: "count" }, `${unusual} set`));

  const element = html("div", { class: "head" },
    html("div", { class: "acts" },
      html("div", { class: "presets", role: "group", "aria-label": "Questions" },
        ...presets.filter(([name]) => !offline || name === preset).map(([name, title]) => act(`preset:${name}`, title, () => ask({ preset: name }), { "aria-pressed": String(name === preset) }))),
      html("div", { class: "buttons" },
        act("pin", data.pinned ? "Unpin" : "Compare", () => ask({ pin: !data.pinned }), { "aria-pressed": String(Boolean(data.pinned)), disabled: offline && !data.runs, title: "keep this run below, and change one pick" }),
        link, menu)),
    html("div", { class: "fields" },
      field("Members", number("members", "Members", offers.members, picked.members, pick("members"), fixed("members"))),
      field("Leader", few ? either("leader", names, picked.leader, pick("leader"), fixed("leader")) : choose("leader", "Leader", names, picked.leader, pick("leader"), fixed("leader"))),
      field("Bounce order", chips.element),
      field("Jars", either("jars", [["releases", "Releases"], ["strategies", "Strategies"]], picked.jars, pick("jars"), fixed("jars"))),
      field(captions[0], choose(old, captions[0], offers[old], picked[old], pick(old), fixed(old))),
      field(captions[1], choose(fresh, captions[1], offers[fresh], picked[fresh], pick(fresh), fixed(fresh))), more),
    ...(plain ? [] : [html("p", { class: "hint" }, "This run was made in Python and has more to it than the pickers show; a pick starts from what they show.")]),
    ...(offline ? [html("p", { class: "hint" }, data.runs ? "Here the leader and the order can be picked; everything else can be in the notebook." : "This page holds this one run; pick others in the notebook.")] : []),
    status);
  const climb = ladder(run);
  const rungs = act("ladder", "Ladder", () => rungs.setAttribute("aria-pressed", String(climb.toggle())), { "aria-pressed": "false", title: "which version each jar can speak, and who speaks it" });
  element.querySelector(".buttons").prepend(rungs);
  return { head: element, aside: climb.box, show: (index) => { chips.show(index); climb.show(index); }, status };
}

/** The player with its pickers; whatever had the focus has it again after a pick. */
export function show(host, data, opts) {
  if (!data.bench) return mount(host, data, opts);
  const key = host.shadowRoot?.activeElement?.dataset.key;
  const open = host.shadowRoot?.querySelector(".more")?.open;
  const laddered = host.shadowRoot?.querySelector('[data-key="ladder"]')?.getAttribute("aria-pressed") === "true";
  let head;
  let parted = 0;
  const player = mount(host, data, {
    ...opts, style: PICKERS,
    more(run, pinned, choose) {
      head = header(run, data, { ask() {}, ...opts, at: () => player.index, address });
      if (!pinned) return head;
      parted = parting(run, pinned);
      return { ...head, at: parted, below: verdict(run, pinned, parted, choose, opts.ask && (() => opts.ask({ swap: true }))) };
    },
  });
  if (!opts.start) player.go(parted, { animate: false });
  function address(index) {
    const compared = data.bench.with ? `&with=${data.bench.with}` : "";
    return `${location.href.split("#")[0]}#run=${data.bench.link}${compared}&step=${index}`;
  }
  if (laddered) head.head.querySelector('[data-key="ladder"]').click();
  if (open) head.head.querySelector(".more").open = true;
  if (key) host.shadowRoot.querySelector(`[data-key="${CSS.escape(key)}"]:not(:disabled)`)?.focus({ preventScroll: true });
  player.tell = (text) => head.status.replaceChildren(text);
  return player;
}

/** What an address asks for: the part after `#`, if that is a link to a run; else nothing. */
const asked = (address = location.href) => address.slice(0, 9000).match(/#(.*&)?run=.*/)?.[0] ?? "";

/** In a notebook Python runs what is picked; while it is busy with a cell, that is said. */
function render({ model, el }) {
  let view;
  let waiting = 0;
  const send = (what) => {
    clearTimeout(waiting);
    const told = what.export ? "The file is being made; a film takes some seconds." : "Python is busy with another cell; this follows as soon as it is free.";
    waiting = setTimeout(() => view.host.player.tell(told), 400);
    model.send(what);
  };
  const leave = attach({ model, el }, (host, data, opts) => {
    view = { host, opts: { ...opts, ask: send, save: (kind) => send({ export: kind }) } };
    return show(host, data, view.opts);
  });
  const heard = (message, buffers) => {
    clearTimeout(waiting);
    const { host, opts } = view;
    if (message.file) {
      download(message.file, buffers[0]);
      host.player.tell(`${message.file} is in your downloads.`);
    } else if (message.told) { // the pickers go back to what is on the screen
      const old = host.player;
      host.player = show(host, model.get("data"), { ...opts, start: old.index, told: message.told });
      old.destroy();
    } else host.player.tell("");
  };
  const open = (link) => link && send({ link });
  const opened = () => open(asked());
  model.on("msg:custom", heard);
  addEventListener("hashchange", opened);
  if (!document.documentElement.dataset.vpRun) {
    document.documentElement.dataset.vpRun = "opened";
    open(asked() || asked(performance.getEntriesByType("navigation")[0]?.name)); // JupyterLab may have tidied its address
  }
  return () => {
    clearTimeout(waiting);
    model.off("msg:custom", heard);
    removeEventListener("hashchange", opened);
    leave();
  };
}

/** On a page without Python, what was run beforehand can be picked; a link to anything else is told so. */
function page(host, data, opts) {
  const runs = { ...data.runs, [data.bench?.link]: data };
  const put = (next, more) => {
    const old = host.player;
    data = next;
    host.player = show(host, { ...data, runs: data.runs && runs }, { ...opts, ask, ...more });
    old?.destroy();
    return host.player;
  };
  const whole = (run) => ({ ...data, pinned: undefined, ...run, bench: { ...data.bench, with: "", ...run.bench } });
  const beside = (run, other) => ({ ...run, pinned: other, bench: { ...run.bench, with: other?.bench.link ?? "" } });
  function ask({ pick, pin, swap }) {
    const { index } = host.player;
    if (pin !== undefined) return put(beside(data, pin ? data : undefined), { start: index });
    if (swap) return put(beside(whole(data.pinned), data), { start: index });
    const wanted = JSON.stringify({ ...data.bench.picked, ...pick });
    const run = Object.values(runs).find((one) => JSON.stringify(one.bench.picked) === wanted);
    if (run) put(beside(whole(run), data.pinned), { start: data.pinned ? index : 0 });
    else put(data, { start: index, told: "This page does not hold that run; the notebook can make it." });
  }
  function open() {
    const { run, step, with: other = "" } = Object.fromEntries(asked().slice(1).split("&").map((part) => part.split("=")));
    const start = Number.parseInt(step, 10) || 0;
    const held = (link) => Object.hasOwn(runs, link);
    if (run === data.bench.link && other === data.bench.with) return put(data, { start });
    if (held(run) && (!other || held(other))) return put(beside(whole(runs[run]), other ? runs[other] : undefined), { start });
    let told = "This link opens another run, which this page does not hold; the notebook opens it.";
    try { JSON.parse(atob(run.replaceAll("-", "+").replaceAll("_", "/"))); } catch { told = "This link is cut short or was changed on the way."; }
    return put(data, { told });
  }
  if (!data.bench) return mount(host, data, opts);
  const first = !document.documentElement.dataset.vpRun;
  document.documentElement.dataset.vpRun = "opened";
  if (first) addEventListener("hashchange", () => asked() && open());
  return first && asked() ? open() : put(data, {});
}

/** Show every bench that a static page holds. */
const begin = () => start(document, page, "[data-kind=bench]");
