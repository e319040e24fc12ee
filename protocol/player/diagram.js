/** A laid-out state diagram, and the tokens that travel over it. */

import { CROWN, svg } from "./elements.js";

/** One laid-out machine: its boxes, its edges, and a layer for what travels over it. */
export function diagram(layout, slots) {
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
export function token(name) {
  const [one, two, , four] = name; // whole characters, not halves of them
  const short = four ? `${one}${two}…` : name;
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

export const put = (element, [x, y]) => { element.style.transform = `translate(${x}px,${y}px)`; };

/** Let an element travel along points; the caller keeps the animation, to cut it short. */
export function travel(element, points, duration, delay) {
  let length = 0;
  const reached = points.map((point, i) => (length += i ? Math.hypot(point[0] - points[i - 1][0], point[1] - points[i - 1][1]) : 0));
  const keyframes = points.map(([x, y], i) => ({
    transform: `translate(${x}px,${y}px)`,
    offset: length ? reached[i] / length : i / (points.length - 1),
  }));
  return element.animate(keyframes, { duration, delay, easing: "cubic-bezier(.45,.05,.25,1)", fill: "backwards" });
}
