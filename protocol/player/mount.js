/**
 * The player: one run of a group, to step through.
 *
 *   mount(host, data, opts)   puts it into an element; the same module serves a notebook, a static page and a mailed file
 *
 * `data` is what `protocol.player.playable` makes of a trace; nothing here knows Kafka.
 */

import { diagram, put, token, travel } from "./diagram.js";
import { caption, html, icon, sheet, svg, themed, words } from "./elements.js";
import { contents, counts, facts, help, legend, sentence } from "./panel.js";
import { unfold } from "./run.js";
import { spacetime } from "./spacetime.js";

/** The style sheet, player.css; put here when the module is handed out, so that it travels as one piece. */
export const STYLE = "@player.css@";

const MOVE_MS = 620;
const HOLD_MS = 1250;
const WIDE = 1080; // from here on the panel stands beside the diagrams
const NARROW = 620; // below this the members' diagram runs downwards

/**
 * Show a run in an element.
 *
 * opts: start (a step), onstep(index), called at each step that the reader takes, and more(run, pinned, choose), which makes what stands
 * around: { head, aside, below } as elements, show(index), and the step `at` which the pinned run parts from this one.
 * `style` is added to the style sheet; `data.pinned` is another run's data, drawn below this one's.
 */
export function mount(host, data, opts = {}) {
  const run = unfold(data);
  const pinned = data.pinned && unfold(data.pinned);
  const end = run.length - 1;
  const listening = new AbortController();
  const { signal } = listening;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let index = -1;
  let playing = false;
  let timer = 0;
  let speed = 1;
  let moving = [];

  // A shadow root: no theme leaks in, no rule and no id leaks out.
  host.classList.add("vp-host");
  host.dataset.lmSuppressShortcuts = "true"; // JupyterLab: its one-letter shortcuts stay away from our keys
  const shadow = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const root = html("div", { class: "player", role: "group", tabindex: -1, "aria-label": "One run of the group, step by step" });

  const members = { wide: diagram(data.layouts.members, data.slots), tall: diagram(data.layouts.members_tall, data.slots) };
  const coordinator = diagram(data.layouts.group);
  let board = members.wide;
  const tokens = Object.fromEntries(run.names.map((name) => [name, token(name)]));
  const generation = svg("text", { y: 4 });
  const pill = svg("g", { class: "pill" }, svg("rect", { x: -29, y: -10, width: 58, height: 20, rx: 10 }), generation);
  coordinator.layer.append(pill);

  const said = sentence(run);
  const numbers = counts(run);
  const details = facts(run);
  const choose = (i) => { play(false); go(i); };
  const list = contents(run, { choose });
  const more = opts.more?.(run, pinned, choose) ?? {};
  const time = spacetime(run, { scrub: (i, animate) => { play(false); go(i, { animate }); } }, pinned, more.at);
  const parts = [said, numbers, details, list, ...(more.show ? [more] : [])];

  const boardBox = html("div", { class: "diagram board" });
  const coordinatorBox = html("div", { class: "diagram" }, coordinator.picture);
  const known = html("span", { class: "aside" });
  const stage = html("div", { role: "group", class: "stage", "aria-label": "State diagrams" },
    caption("Members", html("span", { class: "aside" }, "the ring is the jar it runs, the fill is the version it speaks")), boardBox,
    html("div", { class: "row" },
      html("div", { class: "groupbox" }, caption("◆ Group coordinator", known), coordinatorBox), more.aside));

  const button = (name, text, key, action) =>
    html("button", { type: "button", class: "button", "aria-label": text, "aria-keyshortcuts": key, title: `${text} (${key})`, onclick: action }, icon(name));
  const playButton = button("play", "Play", "Space", () => play(!playing));
  playButton.classList.add("primary");
  const pace = html("select", { class: "speed", "aria-label": "Speed" },
    ...[0.5, 1, 2, 4].map((value) => html("option", { value, selected: value === 1 }, `${value}×`)));
  pace.addEventListener("change", () => { speed = Number(pace.value); if (playing) wait(); });
  const where = html("output", { class: "where", "aria-hidden": "true" });
  const keys = help();
  const controls = html("div", { class: "controls" },
    button("first", "First step", "Home", () => choose(0)),
    button("back", "Step back", "ArrowLeft", () => step(-1)),
    playButton,
    button("next", "Step on", "ArrowRight", () => step(1)),
    button("last", "Last step", "End", () => choose(end)),
    pace, where,
    html("button", { type: "button", class: "button", "aria-label": "Keys", "aria-keyshortcuts": "?", title: "Keys (?)", onclick: () => keys.showModal() }, "?"),
    legend(run));
  const film = html("div", { class: "film", "aria-hidden": "true" });
  root.append(...[more.head].filter(Boolean),
    html("div", { class: "top" }, html("p", { class: "name" }, data.meta.title), numbers.element),
    html("div", { class: "side" }, said.element, details.element, list.element),
    stage,
    html("div", { role: "group", class: "time", "aria-label": "Time" }, time.element, more.below, controls),
    film, keys);

  function use(kind) {
    board = members[kind];
    boardBox.replaceChildren(board.picture);
    board.layer.append(...Object.values(tokens));
  }
  use("wide");
  root.classList.toggle("few", run.names.length < 4); // room for larger tokens

  // ------------------------------------------------------------------------------------------ one step

  /** The edge that the group took: of several between two states, the one that this step's action names. */
  function groupEdge(at) {
    const [before, after] = [run.states[at - 1].group, run.states[at].group];
    if (before.state === after.state) return null;
    const found = coordinator.find(before.state, after.state);
    const frame = run.frames[at];
    const goes = frame.action === "leave" || frame.action === "expire" || frame.messages.some((message) => message.kind === "LeaveGroup");
    return found.find((key) => key.includes(goes ? "-leave-" : "-join-")) ?? found[0] ?? `${before.state}-${frame.action}-${after.state}`;
  }

  function go(to, { animate = true, quiet = false } = {}) {
    to = Math.max(0, Math.min(end, Math.trunc(to) || 0));
    if (to === index) return;
    const from = index;
    const state = run.states[to];
    const frame = run.frames[to];
    for (const animation of moving) animation.cancel();
    moving = [];

    const places = run.names.map((name) => state.members[name].state);
    board.light((frame?.moves ?? []).map(([, key]) => key), places);
    board.picture.setAttribute("aria-label", `Members: ${run.names.map((name, i) => `${name} ${words(places[i])}`).join(", ")}`);
    run.names.forEach((name, slot) => {
      const member = state.members[name];
      put(tokens[name], board.place(member.state, slot));
      const leads = state.group.leader_id !== "" && state.group.leader_id === member.id;
      tokens[name].setAttribute("class", `token ${run.paint(member)} in-${member.state}${leads ? " leader" : ""}`);
    });
    const edge = to > 0 ? groupEdge(to) : null;
    coordinator.light(edge ? [edge] : [], [state.group.state]);
    coordinator.picture.setAttribute("aria-label", `Group: ${words(state.group.state)}`);
    put(pill, coordinator.place(state.group.state));
    generation.textContent = `gen ${state.group.generation}`;
    const { leader_id: leader, ghosts } = state.group;
    known.replaceChildren(leader ? `${leader} leads${ghosts.includes(leader) ? ", a ghost" : ""}` : "nobody leads",
      ghosts.length ? html("span", { class: "ghosts" }, ` · waits for ${ghosts.join(" ")}, whose process is gone`) : "");

    if (animate && !still.matches && from >= 0 && Math.abs(to - from) === 1) move(Math.max(from, to), to < from);

    for (const part of parts) part.show(to);
    time.show(to, animate && !still.matches);
    where.textContent = `${to} / ${end}`;
    index = to;
    if (!quiet) opts.onstep?.(to);
  }

  /** Animate the step that leads to view `at`; backwards, when the reader steps back. */
  function move(at, back) {
    const [before, after] = [run.states[at - 1], run.states[at]];
    const turn = (points) => (back ? points.reverse() : points);
    const duration = MOVE_MS / speed;
    run.frames[at].moves.forEach(([name, key], i) => {
      const slot = run.names.indexOf(name);
      const [source, , target] = key.split("-");
      const points = board.way(key, board.place(source, slot), board.place(target, slot));
      moving.push(travel(tokens[name], turn(points), duration, Math.min(i * 70, 350) / speed));
    });
    const edge = groupEdge(at);
    if (edge) {
      const points = coordinator.way(edge, coordinator.place(before.group.state), coordinator.place(after.group.state));
      moving.push(travel(pill, turn(points), duration, 0));
    }
  }

  const step = (by) => { play(false); go(index + by); };
  function chapter(by) {
    const stops = [0, ...run.chapters.map((one) => one.frame), end];
    play(false);
    go(by > 0 ? stops.find((stop) => stop > index) ?? end : stops.findLast((stop) => stop < index) ?? 0);
  }
  function wait() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      go(index + 1);
      if (index < end) wait();
      else play(false);
    }, HOLD_MS / speed);
  }
  function play(on) {
    if (on === playing) return;
    playing = on;
    clearTimeout(timer);
    said.quiet(on); // a screen reader is not talked over while it plays
    playButton.replaceChildren(icon(on ? "pause" : "play"));
    playButton.setAttribute("aria-label", on ? "Pause" : "Play");
    if (!on) return;
    if (index === end) go(0);
    wait();
  }

  // ------------------------------------------------------------------------------------------ on paper

  let left = 0;
  /** The film strip that is printed: all lanes, the start, each bounce, whatever has a tag, and the end. */
  function strip() {
    left = index;
    root.dataset.theme = "light"; // paper is white
    const stops = [...run.states.keys()].filter((i) => !i || i === end || run.frames[i].tag || run.chapters.some((one) => one.frame === i));
    film.replaceChildren(...time.strips(), ...stops.map((stop) => {
      go(stop, { animate: false, quiet: true });
      const frame = run.frames[stop];
      return html("figure", { class: "diagram" }, board.picture.cloneNode(true), html("figcaption", {}, html("b", {}, `${stop}. ${frame?.title ?? run.opening}. `), frame?.why ?? ""));
    }));
  }
  addEventListener("beforeprint", strip, { signal });
  addEventListener("afterprint", () => { film.replaceChildren(); go(left, { animate: false, quiet: true }); paint(); }, { signal });

  // ------------------------------------------------------------------------------------------ keys, theme, size

  const bound = {
    ArrowRight: () => step(1), ArrowLeft: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1),
    " ": () => play(!playing), Home: () => choose(0), End: () => choose(end),
    PageDown: () => chapter(1), PageUp: () => chapter(-1), "?": () => keys.showModal(),
  };
  root.addEventListener("keydown", (event) => {
    event.stopPropagation(); // a notebook would take our arrows and letters for its own
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open || target.closest(".head")) return;
    const scrolls = target.closest(".facts") && /^(Arrow(Up|Down)|Page)/.test(key);
    const presses = (key === " " || key === "Enter") && target.matches("button:not(.primary),summary,a");
    if (target.matches("select") || scrolls || presses || !bound[key]) return;
    event.preventDefault();
    bound[key]();
  });

  const paint = themed(host, root, signal);

  let drawn = 0;
  /** Lay out for these widths. Only what changed is written: the browser styles all that is below a changed class anew. */
  function arrange({ whole, picture, lanes }) {
    const kind = whole < NARROW ? "tall" : "wide";
    root.classList.toggle("wide", whole >= WIDE);
    root.classList.toggle("narrow", kind === "tall");
    const changed = board !== members[kind];
    if (changed) use(kind);
    // the words of a squeezed diagram grow a little against its boxes
    const grow = Math.max(1, Math.min(1.18, board.width / Math.max(1, picture))).toFixed(3);
    if (stage.style.getPropertyValue("--grow") !== grow) stage.style.setProperty("--grow", grow);
    coordinatorBox.style.width = kind === "tall" ? "100%" : `${Math.min(100, (100 * coordinator.width) / board.width)}%`;
    if (!changed && Math.abs(lanes - drawn) <= 1) return;
    drawn = lanes;
    time.draw(lanes);
    const at = index < 0 ? opts.start ?? 0 : index;
    index = -1;
    go(at, { quiet: true, animate: false });
    host.dataset.ready = "true";
  }
  function fit() {
    if (!host.isConnected || !root.clientWidth) return;
    paint();
    host.fitted = { whole: host.clientWidth, picture: boardBox.clientWidth, lanes: time.scroller.clientWidth };
    arrange(host.fitted);
    list.show(index);
  }
  // In place of another run everything has its size before it is seen: the page is laid out once, not twice.
  const { fitted } = host;
  if (host.isConnected) paint();
  if (fitted?.whole === host.clientWidth) arrange(fitted);
  shadow.adoptedStyleSheets = [sheet(STYLE + (opts.style ?? ""))];
  shadow.replaceChildren(root);
  const sizes = new ResizeObserver(fit);
  sizes.observe(root);

  return {
    go, step, play, chapter,
    get index() { return index; },
    get length() { return run.length; },
    get playing() { return playing; },
    destroy() {
      play(false);
      listening.abort();
      sizes.disconnect();
      root.remove();
      if (!shadow.querySelector(".player")) delete host.dataset.ready;
    },
  };
}
