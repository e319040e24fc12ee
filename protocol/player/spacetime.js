/** The space-time diagram, which is the scrubber, too. */

import { CROWN, html, svg } from "./elements.js";

/** One lane a member, time to the right; it is the scrubber, too. */
export function spacetime(run, hooks, pinned, split = 0) {
  const { states, frames, names, length } = run;
  const lanes = ["", ...names];
  const high = names.length > 8 ? 22 : 30;
  const top = 24;
  const height = top + lanes.length * high + 4;
  const total = Math.max(length, pinned?.length ?? 0);
  const low = names.length > 8 ? 15 : 20; // the lanes of a pinned run
  const bar = names.length > 8 ? 11 : 13;
  let column = 26;
  let wide = 0; // of the part that is seen
  let scrolls = false;

  const centre = (lane) => top + lanes.indexOf(lane) * high + high / 2;
  const x = (index) => index * column;
  const picture = svg("svg", { class: "spacetime", role: "img", "aria-label": "Space-time diagram: a lane for each member" });
  const veil = svg("rect", { class: "veil", y: top - 4, height: height - top + 4 });
  const cursor = svg("rect", { class: "cursor", y: 1, rx: 5, height: height - 2 });
  const labels = svg("g", { class: "labels" });
  const now = svg("g", { class: "now" });
  const range = html("input", { type: "range", min: 0, max: length - 1, value: 0, class: "range", "aria-label": "Step" });
  const below = svg("svg", { class: "spacetime", role: "img", "aria-label": "The pinned run" });
  const shadow = svg("rect", { class: "cursor", y: 0, height: 999 });
  const later = svg("rect", { class: "veil", y: 0, height: 999, width: 99999 });
  const scroller = html("div", { class: "scroller" }, picture, range, ...(pinned ? [below] : []));
  const named = (lane, tall) => html("span", { style: `height:${tall}px`, title: lane }, lane || "◆ group");
  const key = html("div", { class: "lanes", style: `padding-top:${top}px`, "aria-hidden": "true" },
    ...lanes.map((lane) => named(lane, high)), ...(pinned ? [html("i", {}, "pinned"), ...pinned.names.map((lane) => named(lane, low))] : []));

  /** Runs of equal values along a lane: [from, to, value]. */
  function* stretches(value, among = states) {
    for (let from = 0, to; from < among.length; from = to) {
      const now = value(among[from], from);
      for (to = from + 1; to < among.length && value(among[to], to) === now;) to += 1;
      yield [from, to, now];
    }
  }
  /** Shapes of one class are one element: what a page costs to style and to paint goes by its elements. */
  function pen() {
    const paths = new Map();
    return {
      rect(from, to, y, thick, name) {
        const [w, h] = [x(to - from) - 8, thick - 6];
        this.path(name, `M${x(from) + 4} ${y - thick / 2}h${w}q3 0 3 3v${h}q0 3-3 3h${-w}q-3 0-3-3v${-h}q0-3 3-3z`);
      },
      line(from, to, y, name) { this.path(name, `M${x(from) + 2} ${y}H${x(to) - 2}`); },
      path(name, d) { paths.set(name, (paths.get(name) ?? "") + d); },
      drawn: (more = () => ({})) => [...paths].map(([name, d]) => svg("path", { d, class: name, ...more(name) })),
    };
  }

  /** Members' lives: what each runs and speaks, whether it works, where it is not. */
  function ribbons(of, centres, thick) {
    const [lanes, lives, hatches, ends] = [pen(), pen(), pen(), pen()];
    of.names.forEach((name, i) => {
      const y = centres(name, i);
      lanes.line(0, of.length, y, "lane");
      for (const [from, to] of stretches((state) => JSON.stringify({ ...state.members[name], tasks: 0, failure: 0 }), of.states)) {
        const member = of.states[from].members[name];
        if (!of.alive(member)) {
          const at = x(from) + Math.min(column, x(to) - x(from)) / 2;
          ends.line(from, to, y, "gone");
          ends.path(`cross ${member.state}`, `M${at - 4} ${y - 4}l8 8m0-8-8 8`);
          continue;
        }
        lives.rect(from, to, y, thick, `ribbon ${of.paint(member)} in-${member.state}`);
        if (member.state !== "STABLE") hatches.rect(from, to, y, thick, "busy");
        if (of.poisoned(member)) hatches.rect(from, to, y, thick, "poison");
      }
    });
    return [...lanes.drawn(), ...lives.drawn(), ...hatches.drawn((name) => ({ fill: `url(#${name})` })), ...ends.drawn()];
  }

  /** Who leads, and which ids the broker keeps though their process has gone. */
  function standing() {
    const bars = pen();
    const signs = names.flatMap((name) => {
      const y = centre(name);
      const led = [...stretches((state) => (run.owner[state.group.leader_id] === name ? state.group.leader_id : ""))].filter(([, , id]) => id);
      const kept = [...stretches((state) => state.group.ghosts.find((ghost) => run.owner[ghost] === name) ?? "")].filter(([, , id]) => id);
      const above = y - bar / 2 - 3.5;
      for (const [from, to] of led) bars.line(from, to, above, "leads");
      return [
        ...led.map(([from]) => svg("path", { d: CROWN, class: "lead", transform: `translate(${x(from) + 9} ${above - 1.5}) scale(.8)` })),
        ...kept.map(([from, to, id]) => {
          const title = svg("title");
          title.textContent = `${id}: its process is gone, the broker still counts on it`;
          return svg("g", {}, title, svg("path", { class: "ghost", d: `M${x(from) + 2} ${y + bar / 2 + 3.5}H${x(to) - 2}` }));
        }),
      ];
    });
    return [...bars.drawn(), ...signs];
  }

  /** The arrows of a step; a leader's SyncGroup holds a payload for each member: one arrow. */
  function arrows(index, ink) {
    const seen = new Set();
    for (const { from, to, probing } of frames[index]?.messages ?? []) {
      if (seen.size === seen.add(`${from} ${to} ${probing}`).size) continue;
      const kind = probing ? "probe" : "plain";
      const [y, end] = to === "coordinator" ? [centre(from) - bar / 2, centre("") + 5] : [centre("") + 4, centre(to) - bar / 2 - 1];
      const [left, right] = [x(index + 0.14), x(index + 0.86)];
      const length = Math.hypot(right - left, end - y);
      const [u, v] = [(right - left) / length, (end - y) / length];
      ink.path(`message ${kind}`, `M${left} ${y}L${right} ${end}`);
      ink.path(`tip ${kind}`, `M${right + u} ${end + v}l${-7 * u - 3 * v} ${3 * u - 7 * v}l${6 * v} ${-6 * u}z`);
    }
    return ink;
  }

  function draw(seen) {
    wide = seen;
    column = Math.max(21, (wide - 8) / total);
    const width = x(total) + 8;
    scrolls = width > wide + 4;
    for (const [one, tall] of [[picture, height], [below, (pinned?.names.length ?? 0) * low + 6]]) {
      one.setAttribute("viewBox", `0 0 ${width} ${tall}`);
      one.style.cssText = `width:${width}px;height:${tall}px`;
    }
    if (pinned) {
      const at = { x1: x(split), x2: x(split), y1: 0, y2: 999, class: "split" };
      below.replaceChildren(...ribbons(pinned, (_, i) => (i + 0.5) * low, 11), svg("line", at), shadow, later);
      shadow.setAttribute("width", column);
    }
    const pattern = (id, turn) =>
      svg("pattern", { id, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: `rotate(${turn})` },
        svg("rect", { width: 2, height: 5, class: `hatch ${id}` }));
    const chapters = run.chapters.flatMap((chapter, i) => {
      const at = x(chapter.frame);
      const room = x(run.chapters[i + 1]?.frame ?? length) - at;
      const text = svg("text", { x: at + 6, y: 13, class: "chapter" });
      const whole = `Bounce ${chapter.text}`;
      text.textContent = whole.length * 8 < room ? whole : chapter.text.slice(0, Math.max(1, Math.floor(room / 8)));
      return [svg("line", { x1: at, x2: at, y1: 2, y2: height - 4, class: "chapter" }), text];
    });
    const coordinator = pen();
    for (const [from, to, state] of stretches((state) => state.group.state)) coordinator.rect(from, to, centre(""), 6, `group-${state}`);
    const sent = pen();
    frames.forEach((_, i) => arrows(i, sent));
    picture.replaceChildren(
      svg("defs", {}, pattern("busy", 45), pattern("poison", -45)),
      cursor, ...chapters, ...coordinator.drawn(), ...ribbons(run, centre, bar), ...standing(), ...sent.drawn(), now,
      ...(pinned ? [svg("line", { x1: x(split), x2: x(split), y1: 18, y2: height, class: "split" })] : []), veil, labels);
    cursor.setAttribute("width", column);
    range.style.cssText = `margin-left:${column / 2 - 8}px;width:${x(length - 1) + 16}px`;
  }

  function show(index, smooth) {
    now.replaceChildren(...arrows(index, pen()).drawn());
    cursor.setAttribute("x", x(index));
    shadow.setAttribute("x", x(index));
    later.setAttribute("x", x(index + 1));
    veil.setAttribute("x", x(index + 1));
    veil.setAttribute("width", Math.max(0, x(length - index - 1) + 8));
    const left = scrolls ? Math.max(0, Math.min(x(index) - wide / 2, x(total) + 8 - wide)) : 0;
    const right = x(index + 1) - left + 130 < wide; // on the side where there is room
    const said = new Map(); // one text a lane, also when a member says two things
    for (const message of frames[index]?.messages ?? []) {
      const who = message.to === "coordinator" ? message.from : message.to;
      said.set(who, [...(said.get(who) ?? []), message]);
    }
    labels.replaceChildren(...[...said].map(([who, messages]) => {
      const text = svg("text", {
        x: right ? x(index + 1) + 5 : x(index) - 5, y: centre(who) + 4,
        "text-anchor": right ? "start" : "end", class: messages.some((message) => message.probing) ? "probe" : "",
      });
      text.textContent = [...new Set(messages.map((message) => message.label))].filter(Boolean).join(", ");
      return text;
    }));
    if (scrolls) scroller.scrollTo({ left, behavior: smooth ? "smooth" : "auto" });
    range.value = index;
    range.setAttribute("aria-valuetext", `Step ${index}: ${frames[index]?.title ?? run.opening}`);
  }

  /** On paper: the lanes line by line, each as long as a page is wide, and cut before a bounce where one is near. */
  function strips() {
    const lines = [];
    for (let from = 0, to; from < total; from = to) {
      to = from + Math.ceil(540 / column); // px: an A4 page has room for 590
      if (to < total) to = run.chapters.findLast(({ frame }) => frame <= to && 2 * frame > from + to)?.frame ?? to;
      lines.push(html("div", { class: "timeline", style: `--from:${-x(from)}px;--long:${x(to - from)}px` }, key.cloneNode(true), scroller.cloneNode(true)));
    }
    return lines;
  }

  let dragging = false;
  const at = (event) => Math.floor((event.clientX - picture.getBoundingClientRect().left) / column);
  for (const one of [picture, below]) {
    one.addEventListener("pointerdown", (event) => {
      dragging = true;
      one.setPointerCapture(event.pointerId);
      hooks.scrub(at(event), true);
      range.focus({ preventScroll: true });
    });
    one.addEventListener("pointermove", (event) => dragging && hooks.scrub(at(event), false));
    for (const end of ["pointerup", "pointercancel"]) one.addEventListener(end, () => { dragging = false; });
  }
  range.addEventListener("input", () => hooks.scrub(Number(range.value), true));

  return { element: html("div", { class: "timeline" }, key, scroller), draw, show, strips, scroller };
}
