/**
 * The player: one run of a group, to step through.
 *
 *   mount(host, data, opts)   puts it into an element; the same module serves a notebook, a static page and a mailed file
 *   render({ model, el })     anywidget's entry point
 *
 * `data` is what `protocol.frames` makes of a trace, with the layouts of `protocol.diagrams`; nothing here knows Kafka.
 * Whatever comes out of `data` reaches the page as a text node or an attribute value, never as markup.
 */

/** The style sheet, player.css; put here when the module is handed out, so that it travels as one piece. */
export const STYLE = "@player.css@";

const SVG = "http://www.w3.org/2000/svg";
const MOVE_MS = 620;
const HOLD_MS = 1250;
const WIDE = 1080; // from here on the panel stands beside the diagrams
const NARROW = 620; // below this the members' diagram runs downwards

const ICONS = {
  first: "M4 3v10M13 3 6 8l7 5z",
  back: "M11 3 4 8l7 5z",
  play: "M4 2.5v11L13.5 8z",
  pause: "M4 3h2.6v10H4zM9.4 3H12v10H9.4z",
  next: "M5 3l7 5-7 5z",
  last: "M12 3v10M3 3l7 5-7 5z",
};
const CROWN = "M-5.5 3.4-7-3.2l3.6 2.2L0-5l3.4 4L7-3.2 5.5 3.4z";
const TAGS = { probing: "version probing", upgrading: "upgrade", poison: "poison", death: "death" };
const KEYS = [
  ["← →", "step back, step on"],
  ["Space", "play, pause"],
  ["Home End", "first step, last step"],
  ["Page ↑ ↓", "previous bounce, next bounce"],
  ["?", "this sheet"],
];

// ---------------------------------------------------------------------------------------------- making elements

function html(tag, props = {}, ...kids) {
  const { class: name, ...rest } = props;
  const element = document.createElement(tag);
  if (name) element.className = name;
  for (const [key, value] of Object.entries(rest)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...kids.filter((kid) => kid !== null && kid !== undefined));
  return element;
}

function svg(tag, attributes = {}, ...kids) {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...kids);
  return element;
}

const icon = (name) => svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true", class: "icon" }, svg("path", { d: ICONS[name] }));
const caption = (text, ...more) => html("h3", { class: "caption" }, text, ...more);

/** The theme that is really behind an element: the first painted background above it. One rule for every host page. */
function isDark(element) {
  for (let node = element; node; node = node.parentElement ?? node.getRootNode().host) {
    const colour = getComputedStyle(node).backgroundColor.match(/[\d.]+/g)?.map(Number);
    if (colour && (colour.length < 4 || colour[3] > 0.5)) {
      return 0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2] < 128;
    }
  }
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

// ---------------------------------------------------------------------------------------------- a run, unfolded

/** Every view of a run, from its first view and the deltas; index 0 is the start, index i follows frame i. */
export function unfold(data) {
  const states = [data.first];
  for (const frame of data.frames) {
    const before = states.at(-1);
    const members = { ...before.members };
    for (const [who, changed] of frame.members ?? []) {
      for (const name of who) members[name] = { ...members[name], ...changed };
    }
    states.push({ members, group: { ...before.group, ...frame.group } });
  }
  const names = data.meta.members;
  const frames = [null, ...data.frames.map((frame) => ({
    ...frame,
    why: data.reasons[frame.why],
    source: data.sources[frame.source],
    messages: (frame.messages ?? []).map((place) => data.messages[place]),
    moves: (frame.moves ?? []).flatMap(([key, who]) => who.map((name) => [name, key])),
    log: frame.log ?? [],
  }))];
  const side = Object.fromEntries(data.meta.binaries.map((binary) => [binary.name, binary.side]));
  const byLatest = [...data.meta.binaries].sort((a, b) => a.latest - b.latest);

  const alive = (member) => member.state !== "STOPPED" && member.state !== "CRASHED";
  const poisoned = (member) => alive(member) && member.speaks > member.supports;
  /** The side whose version a member speaks: its own, if it speaks its latest. */
  const says = (member) =>
    member.speaks === member.supports
      ? side[member.jar]
      : (byLatest.find((binary) => binary.latest >= member.speaks) ?? byLatest.at(-1)).side;

  // in which generation a member was told the version that will kill it
  const told = [{}];
  const died = [0];
  for (let i = 1; i < states.length; i++) {
    told.push({});
    died.push(died[i - 1]);
    for (const name of names) {
      const now = states[i].members[name];
      if (poisoned(now)) told[i][name] = told[i - 1][name] ?? states[i].group.generation;
      if (now.state === "CRASHED" && states[i - 1].members[name].state !== "CRASHED") died[i] += 1;
    }
  }
  const owner = {}; // whose a member id is, also after its process has gone
  for (const state of states) for (const name of names) owner[state.members[name].id] = name;
  delete owner[""];

  return {
    data, states, frames, names, alive, poisoned, says, told, died, owner,
    length: states.length,
    side: (member) => side[member.jar],
    chapters: data.meta.bounces,
    opening: `The group is ${words(data.first.group.state)}`,
    /** Everything that paints a member, as classes. */
    paint: (member) =>
      `jar-${side[member.jar]} says-${says(member)} ${alive(member) ? "" : "off"} ${poisoned(member) ? "poisoned" : ""}`,
  };
}

const words = (state) => state.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** What two views differ in, as [who, what]; members to whom the same happened share a line. */
export function difference(run, index) {
  if (index === 0) return [];
  const [before, after] = [run.states[index - 1], run.states[index]];
  const lines = new Map();
  for (const name of run.names) {
    const [old, now] = [before.members[name], after.members[name]];
    const parts = [];
    if (old.state !== now.state) parts.push(`${words(old.state)} → ${words(now.state)}`);
    if (old.jar !== now.jar) parts.push(`jar ${old.jar} → ${now.jar}`);
    if (old.speaks !== now.speaks) parts.push(`speaks v${old.speaks} → v${now.speaks}`);
    if (old.tasks.length && !now.tasks.length) parts.push("gives up its tasks");
    else if (old.tasks.join() !== now.tasks.join()) parts.push(`gets ${plural(now.tasks.length, "task")}`);
    if (old.id && now.id && old.id !== now.id) parts.push(`new id ${now.id}`);
    else if (!old.id && now.id) parts.push(`joins as ${now.id}`);
    if (now.failure && now.failure !== old.failure) parts.push(now.failure.split(":")[0]);
    if (parts.length) lines.set(parts.join(", "), [...(lines.get(parts.join(", ")) ?? []), name]);
  }
  const result = [...lines].map(([what, who]) => [together(who, run.names), what]);
  const [old, now] = [before.group, after.group];
  const parts = [];
  if (old.state !== now.state) parts.push(`${words(old.state)} → ${words(now.state)}`);
  if (old.generation !== now.generation) parts.push(`generation ${now.generation}`);
  if (old.leader_id !== now.leader_id) parts.push(now.leader_id ? `${now.leader_id} leads` : "no leader");
  for (const id of now.ghosts) if (!old.ghosts.includes(id)) parts.push(`${id} is a ghost`);
  for (const id of old.members) if (!now.members.includes(id)) parts.push(`${id} is forgotten`);
  if (parts.length) result.push(["◆", parts.join(", ")]);
  return result;
}

function together(who, everyone) {
  if (who.length === everyone.length && who.length > 3) return "All";
  return who.length > 4 ? `${who.length} members` : who.join(" ");
}

/** A message in a few characters: the two ints of its payload, and the tasks. */
function label(message) {
  if (message.kind === "LeaveGroup") return "leaves";
  if (message.version === undefined) return "";
  const ints = `v${message.version}${message.supported === undefined || message.supported < 0 ? "" : `/${message.supported}`}`;
  if (message.to === "coordinator") return `${message.kind === "SyncGroup" ? "assigns" : "joins"} ${ints}`;
  const tasks = message.tasks ?? [];
  return `${ints}, ${tasks.length > 2 ? plural(tasks.length, "task") : tasks.join(" ") || "no tasks"}`;
}

// ---------------------------------------------------------------------------------------------- a state diagram

/** One laid-out machine: its boxes, its edges, and a layer for what travels over it. */
function diagram(layout, slots) {
  const parsed = new DOMParser().parseFromString(layout, "image/svg+xml").documentElement;
  const picture = svg("svg", { viewBox: parsed.getAttribute("viewBox"), role: "img" });
  const states = {};
  const edges = {};
  // Only the geometry is taken over: whatever else a layout may hold stays outside.
  const copy = (part, attributes) => svg(part.tagName, Object.fromEntries(attributes.map((key) => [key, part.getAttribute(key)])));
  const labels = (part) =>
    [...part.querySelectorAll("text")].map((text) => {
      const written = copy(text, ["x", "y"]);
      written.textContent = text.textContent;
      return written;
    });
  for (const part of parsed.querySelectorAll("g.edge")) {
    const path = copy(part.querySelector("path"), ["d"]);
    const element = svg("g", { class: "edge" }, path, copy(part.querySelector("polygon"), ["points"]), ...labels(part));
    edges[part.id.slice(3)] = { element, path };
    picture.append(element);
  }
  for (const part of parsed.querySelectorAll("g.node")) {
    const box = copy(part.querySelector("rect"), ["x", "y", "width", "height", "rx"]);
    const element = svg("g", { class: "state" }, box, ...labels(part));
    const [x, y, width, height] = ["x", "y", "width", "height"].map((key) => Number(box.getAttribute(key)));
    states[part.id.slice(3)] = { element, x, y, width, height };
    picture.append(element);
  }
  const detours = svg("g", { class: "detours" });
  const layer = svg("g");
  picture.append(detours, layer);

  const place = (state, slot) => {
    const box = states[state];
    const [dx, dy] = slots ? slots[slot] : [0, box.height + 3];
    return [box.x + box.width / 2 + dx, box.y + dy];
  };
  const edgeOf = (key) => edges[key.replaceAll(" ", "_")];
  return {
    picture, states, layer, place,
    width: Number(parsed.getAttribute("viewBox").split(" ")[2]),
    /** The way of a token along an edge; where the picture leaves the edge out, straight there. */
    way(key, from, to) {
      const edge = edgeOf(key);
      if (!edge) return [from, to];
      if (!edge.points) {
        const length = edge.path.getTotalLength();
        const count = Math.max(6, Math.min(24, Math.floor(length / 14)));
        edge.points = Array.from({ length: count + 1 }, (_, i) => {
          const { x, y } = edge.path.getPointAtLength((length * i) / count);
          return [x, y];
        });
      }
      return [from, ...edge.points, to];
    },
    /** Light up what this step uses. A transition that the picture leaves out is drawn for as long as it is used. */
    light(keys, occupied) {
      for (const edge of Object.values(edges)) edge.element.classList.remove("on");
      for (const state of Object.values(states)) state.element.classList.remove("occupied", "reached");
      detours.replaceChildren();
      for (const state of occupied) states[state]?.element.classList.add("occupied");
      for (const key of new Set(keys)) {
        const [source, event, target] = key.split("-");
        states[target]?.element.classList.add("reached");
        if (edgeOf(key)) edgeOf(key).element.classList.add("on");
        else if (source !== target && states[source] && states[target]) {
          const [a, b] = [states[source], states[target]].map((box) => [box.x + box.width / 2, box.y + box.height / 2]);
          const text = svg("text", { x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2 - 5 });
          text.textContent = event;
          detours.append(svg("path", { d: `M${a}L${b}` }), text);
        }
      }
    },
    find: (source, target) => Object.keys(edges).filter((key) => key.startsWith(`${source}-`) && key.endsWith(`-${target}`)),
  };
}

/** A member's token: the ring is the jar it runs, the fill is the version it speaks. */
function token(name) {
  const short = name.length > 3 ? `${name.slice(0, 2)}…` : name;
  const text = svg("text", { y: short.length > 2 ? 3 : 3.8, class: short.length > 1 ? "long" : "" });
  text.textContent = short;
  const whole = svg("title");
  whole.textContent = name;
  return svg("g", {}, whole,
    svg("g", { class: "body" },
      svg("g", { class: "glyph" }, svg("circle", { r: 10.6, class: "ring" }), svg("circle", { r: 10.6, class: "alarm" }),
        svg("circle", { r: 7.6, class: "fill" }), text),
      svg("path", { class: "strike", d: "M-8-8 8 8M8-8-8 8" }),
      svg("g", { class: "crown", transform: "translate(5 -11.5) rotate(20)" }, svg("path", { d: CROWN })),
      svg("g", { class: "badge", transform: "translate(-9 -9)" }, svg("circle", { r: 5.5 }), svg("path", { d: "M0-3.2V.6M0 2.6v.4" }))));
}

const put = (element, [x, y]) => { element.style.transform = `translate(${x}px,${y}px)`; };

/** Let an element travel along points; the caller keeps the animation, to cut it short. */
function travel(element, points, duration, delay) {
  let length = 0;
  const reached = points.map((point, i) => (length += i ? Math.hypot(point[0] - points[i - 1][0], point[1] - points[i - 1][1]) : 0));
  const keyframes = points.map(([x, y], i) => ({
    transform: `translate(${x}px,${y}px)`,
    offset: length ? reached[i] / length : i / (points.length - 1),
  }));
  return element.animate(keyframes, { duration, delay, easing: "cubic-bezier(.45,.05,.25,1)", fill: "backwards" });
}

// ---------------------------------------------------------------------------------------------- the space-time diagram

/** One lane a member, time to the right; it is the scrubber, too. */
function spacetime(run, hooks) {
  const { states, frames, names, length } = run;
  const lanes = ["", ...names];
  const high = names.length > 8 ? 22 : 30;
  const top = 24;
  const height = top + lanes.length * high + 4;
  const bar = names.length > 8 ? 11 : 13;
  const unique = `v${Math.random().toString(36).slice(2, 8)}`; // ids of patterns and markers are per document
  let column = 26;

  const centre = (lane) => top + lanes.indexOf(lane) * high + high / 2;
  const x = (index) => index * column;
  const picture = svg("svg", { class: "spacetime", role: "img", "aria-label": "Space-time diagram: one lane for each member, time runs to the right" });
  const veil = svg("rect", { class: "veil", y: top - 4, height: height - top + 4 });
  const cursor = svg("rect", { class: "cursor", y: 1, rx: 5, height: height - 2 });
  const labels = svg("g", { class: "labels" });
  const marks = [];
  const range = html("input", { type: "range", min: 0, max: length - 1, value: 0, class: "range", "aria-label": "Step" });
  const scroller = html("div", { class: "scroller" }, picture, range);
  const key = html("div", { class: "lanes", style: `padding-top:${top}px`, "aria-hidden": "true" },
    ...lanes.map((lane) => html("span", { style: `height:${high}px`, title: lane || "the group, as its coordinator holds it" }, lane || "◆ group")));

  /** Runs of equal values along a lane: [from, to, value]. */
  function* stretches(value) {
    for (let from = 0, to; from < length; from = to) {
      const now = value(states[from], from);
      for (to = from + 1; to < length && value(states[to], to) === now;) to += 1;
      yield [from, to, now];
    }
  }
  const rect = (from, to, y, thick, name) =>
    svg("rect", { x: x(from) + 1, y: y - thick / 2, width: Math.max(1, x(to) - x(from) - 2), height: thick, rx: 3, class: name });
  const line = (from, to, y, name) => svg("line", { x1: x(from) + 2, x2: x(to) - 2, y1: y, y2: y, class: name });

  function lane(name) {
    const y = centre(name);
    const drawn = [line(0, length, y, "lane")];
    for (const [from, to] of stretches((state) => JSON.stringify({ ...state.members[name], tasks: 0, failure: 0 }))) {
      const member = states[from].members[name];
      if (!run.alive(member)) {
        const at = x(from) + Math.min(column, x(to) - x(from)) / 2;
        drawn.push(line(from, to, y, "gone"), svg("path", { d: `M${at - 4} ${y - 4}l8 8m0-8-8 8`, class: `cross ${member.state}` }));
        continue;
      }
      drawn.push(rect(from, to, y, bar, `ribbon ${run.paint(member)} in-${member.state}`));
      if (member.state !== "STABLE") drawn.push(svg("rect", { ...box(drawn.at(-1)), fill: `url(#${unique}busy)` }));
      if (run.poisoned(member)) drawn.push(svg("rect", { ...box(drawn.at(-1)), fill: `url(#${unique}poison)` }));
    }
    for (const [from, to, id] of stretches((state) => (run.owner[state.group.leader_id] === name ? state.group.leader_id : ""))) {
      if (!id) continue;
      const above = y - bar / 2 - 3.5;
      drawn.push(line(from, to, above, "leads"), svg("path", { d: CROWN, class: "lead", transform: `translate(${x(from) + 9} ${above - 1.5}) scale(.8)` }));
    }
    for (const [from, to, id] of stretches((state) => state.group.ghosts.find((ghost) => run.owner[ghost] === name) ?? "")) {
      if (!id) continue;
      const title = svg("title");
      title.textContent = `${id}: its process is gone, the broker still counts on it`;
      drawn.push(svg("g", {}, title, line(from, to, y + bar / 2 + 3.5, "ghost")));
    }
    return drawn;
  }
  const box = (rectangle) => Object.fromEntries(["x", "y", "width", "height", "rx"].map((name) => [name, rectangle.getAttribute(name)]));

  function arrows(index) {
    const group = svg("g", { class: "messages" });
    const drawn = new Set(); // a leader's SyncGroup holds a payload for each member: one arrow
    for (const message of frames[index]?.messages ?? []) {
      if (drawn.has(message.from + message.to + message.kind)) continue;
      drawn.add(message.from + message.to + message.kind);
      const up = message.to === "coordinator";
      const kind = message.probing ? "probe" : "plain";
      const [from, to] = up ? [centre(message.from) - bar / 2, centre("") + 5] : [centre("") + 4, centre(message.to) - bar / 2 - 1];
      group.append(svg("line", {
        x1: x(index) + column * 0.14, y1: from, x2: x(index) + column * 0.86, y2: to,
        class: `message ${kind}`, "marker-end": `url(#${unique}${kind})`,
      }));
    }
    return group;
  }

  function draw() {
    column = Math.max(21, (scroller.clientWidth - 8) / length);
    const width = x(length) + 8;
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.style.cssText = `width:${width}px;height:${height}px`;
    const pattern = (id, turn) =>
      svg("pattern", { id: unique + id, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: `rotate(${turn})` },
        svg("rect", { width: 2, height: 5, class: `hatch ${id}` }));
    const marker = (id) =>
      svg("marker", { id: unique + id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto" },
        svg("path", { d: "M0 .5 8 4 0 7.5z", class: `head ${id}` }));
    const chapters = run.chapters.flatMap((chapter, i) => {
      const at = x(chapter.frame);
      const room = x(run.chapters[i + 1]?.frame ?? length) - at;
      const text = svg("text", { x: at + 6, y: 13, class: "chapter" });
      const whole = `Bounce ${chapter.text}`;
      text.textContent = whole.length * 6.4 < room ? whole : chapter.text.slice(0, Math.max(1, Math.floor(room / 7)));
      return [svg("line", { x1: at, x2: at, y1: 2, y2: height - 4, class: "chapter" }), text];
    });
    const coordinator = [...stretches((state) => state.group.state)].map(([from, to, state]) => rect(from, to, centre(""), 6, `group-${state}`));
    marks.splice(0, marks.length, ...frames.map((_, i) => arrows(i)));
    picture.replaceChildren(
      svg("defs", {}, pattern("busy", 45), pattern("poison", -45), marker("plain"), marker("probe")),
      cursor, ...chapters, ...coordinator, ...names.flatMap(lane), ...marks, veil, labels);
    cursor.setAttribute("width", column);
    range.style.cssText = `margin-left:${column / 2 - 8}px;width:${x(length - 1) + 16}px`;
  }

  function show(index, smooth) {
    for (const mark of marks) mark.classList.remove("now");
    marks[index]?.classList.add("now");
    cursor.setAttribute("x", x(index));
    veil.setAttribute("x", x(index + 1));
    veil.setAttribute("width", Math.max(0, x(length - index - 1) + 8));
    const scrolls = scroller.scrollWidth > scroller.clientWidth + 4;
    const left = scrolls ? Math.max(0, Math.min(x(index) - scroller.clientWidth / 2, scroller.scrollWidth - scroller.clientWidth)) : 0;
    const right = x(index + 1) - left + 130 < scroller.clientWidth; // on the side where there is room
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
      text.textContent = [...new Set(messages.map(label))].filter(Boolean).join(", ");
      return text;
    }));
    if (scrolls) scroller.scrollTo({ left, behavior: smooth ? "smooth" : "auto" });
    range.value = index;
    range.setAttribute("aria-valuetext", `Step ${index}: ${frames[index]?.title ?? run.opening}`);
  }

  let dragging = false;
  const at = (event) => Math.floor((event.clientX - picture.getBoundingClientRect().left) / column);
  picture.addEventListener("pointerdown", (event) => {
    dragging = true;
    picture.setPointerCapture(event.pointerId);
    hooks.scrub(at(event), true);
    range.focus({ preventScroll: true });
  });
  picture.addEventListener("pointermove", (event) => dragging && hooks.scrub(at(event), false));
  for (const end of ["pointerup", "pointercancel"]) picture.addEventListener(end, () => { dragging = false; });
  range.addEventListener("input", () => hooks.scrub(Number(range.value), true));

  return { element: html("div", { class: "timeline" }, key, scroller), draw, show, scroller };
}

/** What the colours mean: each pair of a jar and a version spoken that this run shows, then what else it shows. */
function legend(run) {
  const shown = new Map();
  const also = new Map();
  run.states.forEach((state, i) => {
    for (const name of run.names) {
      const member = state.members[name];
      if (run.poisoned(member)) also.set("poisoned", "poisoned: told more than its jar can speak");
      const text = member.speaks === member.supports ? `${member.jar}, speaks v${member.speaks}` : `${member.jar} speaking v${member.speaks}`;
      if (run.alive(member) && !run.poisoned(member)) shown.set(text, run.paint(member));
    }
    if (state.group.ghosts.length) also.set("ghost", "gone, but the broker still waits for it");
    if (run.frames[i]?.messages.some((message) => message.probing)) also.set("probe", "probing answer");
  });
  return html("div", { class: "legend" },
    ...[...shown].map(([text, paint]) => html("span", {}, html("i", { class: `dot ${paint}` }), text)),
    ...[...also].map(([kind, text]) => html("span", {}, html("i", { class: `sign ${kind}` }), text)));
}

// ---------------------------------------------------------------------------------------------- what is said about a step

/** The sentence of a step. The longest one is laid behind it, unseen, so that nothing below ever jumps. */
function sentence(run) {
  const longest = (texts) => texts.reduce((a, b) => (b.length > a.length ? b : a), "");
  const kicker = html("p", { class: "kicker" });
  const title = html("h2", { class: "title" });
  const why = html("p", { class: "why" });
  const reserve = (text, name) => html("span", { class: `reserve ${name}`, "aria-hidden": "true" }, text);
  const said = run.frames.slice(1);
  const live = html("div", { class: "live", "aria-live": "polite", "aria-atomic": "true" }, kicker,
    html("div", { class: "stacked" }, reserve(longest(said.map((frame) => frame.title)), "title"), title),
    html("div", { class: "stacked" }, reserve(longest(said.map((frame) => frame.why)), "why"), why));
  const note = html("p", { class: "note" });
  return {
    element: html("section", { class: "sentence", "aria-label": "This step" }, live, note),
    quiet: (on) => live.setAttribute("aria-live", on ? "off" : "polite"),
    show(index) {
      const frame = run.frames[index];
      const members = Object.values(run.states[0].members);
      kicker.replaceChildren(`Step ${index} of ${run.length - 1}`);
      if (frame?.tag) kicker.append(html("span", { class: `tag ${frame.tag}` }, TAGS[frame.tag] ?? frame.tag));
      title.textContent = frame?.title ?? run.opening;
      why.textContent = frame ? frame.why
        : `${plural(members.length, "member")}, ${run.states[0].group.leader || "nobody"} leads. Press play, or step with the arrow keys.`;
      note.className = "note";
      note.replaceChildren();
      const poisoned = Object.entries(run.told[index]);
      if (index === run.length - 1) {
        note.classList.add(run.data.meta.outcome.deaths.length ? "bad" : "end");
        note.append(html("b", {}, "How it ended. "), run.data.meta.outcome.text);
      } else if (poisoned.length) {
        const member = run.states[index].members[poisoned[0][0]];
        note.classList.add("bad");
        note.append(html("b", {}, `${poisoned.map(([name]) => name).join(", ")} poisoned in generation ${poisoned[0][1]}. `),
          `Told v${member.speaks}, while ${member.jar} speaks at most v${member.supports}: the next subscription kills.`);
      } else if (frame?.tag === "death") {
        const death = run.data.meta.outcome.deaths.find((one) => one.step === index);
        if (death) {
          note.classList.add("bad");
          note.append(html("b", {}, `The cause is generation ${death.cause}. `),
            death.cause < death.generation ? "It was seen one generation later." : "It showed when they had to subscribe again.");
        }
      }
    },
  };
}

/** Running counts, for the strip above the diagrams. */
function counts(run) {
  const values = ["Rebalances", "Generation", "On the new jar", "Died", "Seconds"].map((name) => {
    const value = html("dd");
    return { value, element: html("div", {}, html("dt", {}, name), value) };
  });
  return {
    element: html("dl", { class: "counts" }, ...values.map((one) => one.element)),
    show(index) {
      const state = run.states[index];
      const renewed = run.names.filter((name) => run.side(state.members[name]) === "new").length;
      const texts = [
        state.group.generation - run.states[0].group.generation,
        state.group.generation,
        `${renewed} of ${run.names.length}`,
        run.died[index],
        (run.frames[index]?.at ?? 0).toFixed(1),
      ];
      texts.forEach((text, i) => { values[i].value.textContent = text; });
      values[3].element.classList.toggle("bad", run.died[index] > 0);
    },
  };
}

/** What changed, what was sent, what was logged, and where Kafka decides it. */
function facts(run) {
  const element = html("section", { class: "facts", tabindex: 0, "aria-label": "Details of this step" });
  let open = false; // the bytes stay open from step to step
  const part = (title, ...kids) => html("div", { class: "part" }, caption(title), ...kids);

  function changes(index) {
    const lines = difference(run, index);
    const list = lines.map(([who, what]) => html("li", {}, html("b", { title: who }, who), html("span", {}, what)));
    return part("What changed", list.length ? html("ul", { class: "changes" }, ...list)
      : html("p", { class: "quiet" }, index ? "No state: something is on its way." : "Nothing yet."));
  }

  function wire(messages) {
    const alike = new Map();
    for (const message of messages) {
      const { kind, to, version, supported, probing } = message;
      const same = JSON.stringify([kind, to === "coordinator", version, supported, probing]);
      alike.set(same, [...(alike.get(same) ?? []), message]);
    }
    const entries = [...alike.values()].map((group) => {
      const { kind, to, version, supported, probing } = group[0];
      const up = to === "coordinator";
      const who = together([...new Set(group.map((message) => (up ? message.from : message.to)))], run.names);
      const ints = version === undefined ? []
        : [`version ${version}`, supported === undefined || supported < 0 ? "" : kind === "JoinGroup" ? `supports ${supported}` : `supported ${supported}`];
      const bytes = group.filter((message) => message.data !== undefined);
      const details = bytes.length ? html("details", { ontoggle: (event) => { open = event.target.open; } },
        html("summary", {}, plural(bytes.length, "payload")),
        ...bytes.map((message) => {
          const hex = run.data.payloads[message.data];
          const tasks = (message.tasks ?? []).join(" ") || "none";
          return html("div", { class: "bytes" },
            html("p", {}, html("b", {}, up ? message.from : message.to), ` ${hex.length / 2} bytes, tasks ${tasks}`),
            html("code", {}, hex.match(/.{1,8}/g)?.join(" ") ?? ""));
        })) : null;
      if (details) details.open = open;
      return html("li", { class: probing ? "probe" : "" },
        html("p", {}, html("b", {}, up ? `${who} → ◆` : `◆ → ${who}`), ` ${kind}`),
        ints.length ? html("p", { class: "ints" }, ints.filter(Boolean).join(" · "), probing ? " · probing" : "") : null, details);
    });
    return part("On the wire", html("ul", { class: "wire" }, ...entries));
  }

  const logged = (log) => part("In the log", html("ul", { class: "log" }, ...log.map((line) =>
    html("li", { class: line.level }, html("b", {}, together(line.members, run.names)), ` ${line.level} ${line.text}`))));

  function source(text, url) {
    const safe = url.startsWith("https://"); // a link out of data is a link, never a script
    return part("In Kafka's source", html("p", { class: "source" },
      safe ? html("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, text) : text));
  }

  return {
    element,
    show(index) {
      const frame = run.frames[index];
      element.replaceChildren(changes(index),
        ...(frame?.messages.length ? [wire(frame.messages)] : []),
        ...(frame?.log.length ? [logged(frame.log)] : []),
        ...(frame?.source[0] ? [source(...frame.source)] : []));
      element.scrollTop = 0;
    },
  };
}

/** Every step by its title, under the bounce it belongs to. */
function contents(run, hooks) {
  const list = html("ol", { class: "steps", tabindex: 0, "aria-label": "All steps" });
  const rows = run.frames.map((frame, index) => {
    const chapter = run.chapters.find((one) => one.frame === index);
    if (chapter) list.append(html("li", { class: "chapter" }, `Bounce ${chapter.text}`));
    const button = html("button", { type: "button", tabindex: -1, class: frame?.tag ?? "", onclick: () => hooks.choose(index) },
      html("i", {}, String(index)), frame?.title ?? run.opening);
    list.append(html("li", {}, button));
    return button;
  });
  let current = null;
  return {
    element: html("section", { class: "contents", "aria-label": "Contents" }, caption("All steps"), list),
    show(index) {
      current?.removeAttribute("aria-current");
      current = rows[index];
      current.setAttribute("aria-current", "step");
      list.scrollTop = current.offsetTop - list.clientHeight / 2 + 12; // not scrollIntoView: that moves the page, too
    },
  };
}

function sheet() {
  const dialog = html("dialog", { class: "sheet", "aria-label": "Keys" }, caption("Keys"),
    html("dl", {}, ...KEYS.map(([keys, what]) => html("div", {}, html("dt", {}, html("kbd", {}, keys)), html("dd", {}, what)))),
    html("form", { method: "dialog" }, html("button", { class: "plain" }, "Close")));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  return dialog;
}

// ---------------------------------------------------------------------------------------------- the whole

/**
 * Show a run in an element.
 *
 * opts: start (a step), speed, theme ("light" or "dark"; else what is painted behind), label, and
 * onstep(index), called at each step that the reader takes.
 */
export function mount(host, data, opts = {}) {
  const run = unfold(data);
  const end = run.length - 1;
  const listening = new AbortController();
  const { signal } = listening;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let index = -1;
  let playing = false;
  let timer = 0;
  let speed = opts.speed ?? 1;
  let moving = [];

  // A shadow root: no theme leaks in, no rule and no id leaks out.
  host.classList.add("vp-host");
  host.dataset.lmSuppressShortcuts = "true"; // JupyterLab: its one-letter shortcuts stay away from our keys
  const shadow = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const root = html("div", { class: "player", role: "group", tabindex: -1, "aria-label": opts.label ?? "One run of the group, step by step" });
  shadow.replaceChildren(html("style", {}, opts.style ?? STYLE), root);

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
  const list = contents(run, { choose: (i) => { play(false); go(i); } });
  const time = spacetime(run, { scrub: (i, animate) => { play(false); go(i, { animate }); } });
  const parts = [said, numbers, details, list];

  const boardBox = html("div", { class: "diagram board" });
  const coordinatorBox = html("div", { class: "diagram" }, coordinator.picture);
  const known = html("span", { class: "aside" });
  const stage = html("section", { class: "stage", "aria-label": "State diagrams" },
    caption("Members", html("span", { class: "aside" }, "the ring is the jar it runs, the fill is the version it speaks")), boardBox,
    caption("◆ Group coordinator", known), coordinatorBox);

  const button = (name, text, key, action) =>
    html("button", { type: "button", class: "button", "aria-label": text, "aria-keyshortcuts": key, title: `${text} (${key})`, onclick: action }, icon(name));
  const playButton = button("play", "Play", "Space", () => play(!playing));
  playButton.classList.add("primary");
  const pace = html("select", { class: "speed", "aria-label": "Speed" },
    ...[0.5, 1, 2, 4].map((value) => html("option", { value, selected: value === speed }, `${value}×`)));
  pace.addEventListener("change", () => { speed = Number(pace.value); if (playing) wait(); });
  const where = html("output", { class: "where", "aria-hidden": "true" });
  const keys = sheet();
  const controls = html("div", { class: "controls" },
    button("first", "First step", "Home", () => { play(false); go(0); }),
    button("back", "Step back", "ArrowLeft", () => step(-1)),
    playButton,
    button("next", "Step on", "ArrowRight", () => step(1)),
    button("last", "Last step", "End", () => { play(false); go(end); }),
    pace, where,
    html("button", { type: "button", class: "button", "aria-label": "Keys", "aria-keyshortcuts": "?", title: "Keys (?)", onclick: () => keys.showModal() }, "?"),
    legend(run));
  root.append(
    html("header", { class: "top" }, html("p", { class: "name" }, data.meta.title), numbers.element),
    html("div", { class: "side" }, said.element, details.element, list.element),
    stage,
    html("section", { class: "time", "aria-label": "Time" }, time.element, controls),
    keys);

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
    coordinator.picture.setAttribute("aria-label", `Group: ${words(state.group.state)}, generation ${state.group.generation}`);
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

  // ------------------------------------------------------------------------------------------ keys, theme, size

  const bound = {
    ArrowRight: () => step(1), ArrowLeft: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1),
    " ": () => play(!playing), Home: () => { play(false); go(0); }, End: () => { play(false); go(end); },
    PageDown: () => chapter(1), PageUp: () => chapter(-1), "?": () => keys.showModal(),
  };
  root.addEventListener("keydown", (event) => {
    event.stopPropagation(); // a notebook would take our arrows and letters for its own
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
    const { target, key } = event;
    const scrolls = target.closest(".facts") && /^(Arrow(Up|Down)|Page)/.test(key);
    const presses = (key === " " || key === "Enter") && target.matches("button:not(.primary),summary,a");
    if (target.matches("select") || scrolls || presses || !bound[key]) return;
    event.preventDefault();
    bound[key]();
  });

  const paint = () => { root.dataset.theme = opts.theme ?? (isDark(host.parentElement ?? document.body) ? "dark" : "light"); };
  const watching = new MutationObserver(paint);
  for (const node of [document.documentElement, document.body]) {
    watching.observe(node, { attributes: true, attributeFilter: ["class", "style", "data-theme", "data-jp-theme-light", "data-jp-theme-name"] });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint, { signal });

  let drawn = 0;
  function fit() {
    if (!host.isConnected || !root.clientWidth) return;
    paint();
    root.classList.toggle("wide", root.clientWidth >= WIDE);
    root.classList.toggle("narrow", root.clientWidth < NARROW);
    const kind = root.clientWidth < NARROW ? "tall" : "wide";
    const changed = board !== members[kind];
    if (changed) use(kind);
    // the words of a squeezed diagram grow a little against its boxes
    root.style.setProperty("--grow", Math.max(1, Math.min(1.18, board.width / Math.max(1, boardBox.clientWidth))).toFixed(3));
    coordinatorBox.style.width = kind === "tall" ? "100%" : `${Math.min(100, (100 * coordinator.width) / board.width)}%`;
    if (!changed && Math.abs(time.scroller.clientWidth - drawn) <= 1) return;
    drawn = time.scroller.clientWidth;
    time.draw();
    const at = index < 0 ? opts.start ?? 0 : index;
    index = -1;
    go(at, { quiet: true, animate: false });
    host.dataset.ready = "true";
  }
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
      watching.disconnect();
      sizes.disconnect();
      shadow.replaceChildren();
      delete host.dataset.ready;
    },
  };
}

/** Call a function once things have come to rest. */
function rested(action, milliseconds = 150) {
  let timer = 0;
  const later = (...values) => { clearTimeout(timer); timer = setTimeout(() => action(...values), milliseconds); };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/** Mount every player that a static page holds; the one that owns the address opens at its `#step=`. */
export function start(page = document) {
  for (const host of page.querySelectorAll("div.vp-host:not([data-mounted])")) {
    host.dataset.mounted = "true";
    const data = JSON.parse(host.querySelector("script[type='application/json']").textContent);
    const opts = {};
    if ("address" in host.dataset) {
      opts.start = Number(location.hash.match(/(?:^#|&)step=(\d+)/)?.[1] ?? 0);
      opts.onstep = rested((index) => history.replaceState(null, "", `#step=${index}`));
    }
    host.player = mount(host, data, opts);
  }
}

function render({ model, el }) {
  const host = html("div");
  el.append(host);
  // The kernel hears where the reader came to rest, not every step on the way.
  const report = rested((index) => { model.set("index", index); model.save_changes(); });
  const build = () => {
    report.cancel();
    host.player?.destroy();
    host.player = mount(host, model.get("data"), { start: model.get("index"), onstep: report });
  };
  const follow = () => host.player.go(model.get("index"), { quiet: true });
  build();
  model.on("change:data", build);
  model.on("change:index", follow);
  return () => {
    report.cancel();
    model.off("change:data", build);
    model.off("change:index", follow);
    host.player.destroy();
  };
}

export default { render };
