/** The version ladder: a column for each jar, a rung for each version; members climb, go down, and fall where a jar has no rung. */

import { put, token } from "../player/diagram.js";
import { caption, html, svg } from "../player/elements.js";

const WIDTH = 196;
const EDGE = 52;
const LONG = 20; // characters of a jar's name that fit above its column

/** The ladder in its box; it is drawn when it is first asked for. */
export function ladder(run) {
  const box = html("div", { class: "diagram rungs", hidden: true },
    caption("Version ladder", html("span", { class: "aside" }, "what each jar can speak, and who speaks it")));
  let at = 0;
  let climb = null;
  function show(index) {
    at = index;
    if (!box.hidden) (climb ??= drawn(run, box))(index);
  }
  return { box, show, toggle() { box.hidden = !box.hidden; show(at); return !box.hidden; } };
}

/** Draws into the box; gives what moves the members to where they are at a step. */
function drawn(run, box) {
  const jars = [...run.data.meta.binaries].sort((a, b) => a.latest - b.latest);
  const spoken = run.states.flatMap((state) => Object.values(state.members).flatMap((member) => [member.speaks, member.supports]));
  const rungs = [...new Set(spoken)].sort((a, b) => b - a);
  const slots = run.data.slots.map(([x, y]) => [x, y - 24]);
  const high = Math.max(...slots.map(([, y]) => y)) + 20;
  const top = 24;
  const width = EDGE + jars.length * (WIDTH + 10);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${top + rungs.length * (high + 8)}`, role: "img", class: "ladder", style: `max-width:${width * 1.1}px` });
  const write = (text, x, y, name) => {
    const element = svg("text", { x, y, class: name });
    element.textContent = text;
    return element;
  };
  const left = (jar) => EDGE + jars.findIndex((one) => one.name === jar) * (WIDTH + 10);
  const upper = (version) => top + rungs.indexOf(version) * (high + 8);
  for (const version of rungs) picture.append(write(`v${version}`, EDGE - 10, upper(version) + high / 2 + 4, "rung"));
  for (const jar of jars) {
    const whole = svg("title");
    whole.textContent = jar.name;
    const short = [...jar.name].length > LONG ? `${[...jar.name].slice(0, LONG).join("")}…` : jar.name;
    picture.append(svg("g", {}, whole, write(short, left(jar.name) + WIDTH / 2, 14, "jar")));
    for (const version of rungs) {
      const beyond = version > jar.latest;
      picture.append(svg("rect", { x: left(jar.name), y: upper(version), width: WIDTH, height: high, rx: 9, class: beyond ? "beyond" : "step" }));
      if (beyond) picture.append(write("no rung", left(jar.name) + WIDTH - 8, upper(version) + high - 7, "deadly"));
    }
  }
  const tokens = Object.fromEntries(run.names.map((name) => [name, token(name)]));
  picture.append(...Object.values(tokens));
  box.append(picture);
  return (index) => {
    const { members } = run.states[index];
    run.names.forEach((name, slot) => {
      const member = members[name];
      put(tokens[name], [left(member.jar) + WIDTH / 2 + slots[slot][0], upper(member.speaks) + slots[slot][1]]);
      tokens[name].setAttribute("class", `token ${run.paint(member)} in-${member.state}`);
    });
    picture.setAttribute("aria-label", `Version ladder: ${run.names.map((name) => `${name} runs ${members[name].jar} and speaks v${members[name].speaks}`).join(", ")}`);
  };
}
