/** Two runs side by side: where they part, and what that came to. */

import { html, plural } from "../player/elements.js";

/** The first step at which two runs are no longer the same; 0 where they never part. */
export function parting(run, other) {
  const both = run.names.filter((name) => other.names.includes(name));
  const told = (one, i) => JSON.stringify([one.frames[i]?.title, both.map((name) => {
    const { state, jar, speaks } = one.states[i]?.members[name] ?? {};
    return [state, jar, speaks];
  })]);
  const last = Math.max(run.length, other.length);
  for (let i = 1; i < last; i++) if (told(run, i) !== told(other, i)) return i;
  return 0;
}

/** How a run ended, in a few words. */
function ending(run) {
  const { members, group } = run.states.at(-1);
  const died = run.died.at(-1);
  const speak = new Set(Object.values(members).filter(run.alive).map((member) => member.speaks));
  return [plural(group.generation - run.states[0].group.generation, "rebalance"), died ? `${died} died` : "nobody died",
    speak.size ? `${[...speak].sort((a, b) => a - b).map((one) => `v${one}`).join(" and ")} at the end` : "nobody left"].join(", ");
}

/** Two runs, told apart in a line. */
export function verdict(run, pinned, at, choose, swap) {
  const [here, there] = [run, pinned].map((one) => one.data.meta.picks);
  const picked = [...new Set([...Object.keys(here), ...Object.keys(there)])]
    .filter((pick) => JSON.stringify(here[pick]) !== JSON.stringify(there[pick]))
    .map((pick) => {
      const [one, other] = [value(here[pick]), value(there[pick])];
      return `${pick.replaceAll("_", " ")} ${one === other ? `${one} by other rules` : `${one} here, ${other} pinned`}`;
    });
  const first = at ? [
    html("button", { type: "button", class: "link", onclick: () => choose(at) }, `They part at step ${at}`),
    `: here ${quoted(run, at)}, pinned ${quoted(pinned, at)}. `] : ["Both runs are the same. "];
  return html("div", { role: "group", class: "verdict", "aria-label": "Comparison" },
    html("p", {}, html("b", {}, "Here "), `${ending(run)}. `, html("b", {}, "Pinned "), `${ending(pinned)}. `,
      swap ? html("button", { type: "button", class: "link", "data-key": "swap", onclick: swap }, "Swap them") : null),
    html("p", {}, ...first, picked.length ? `Picked differently: ${picked.join("; ")}.` : ""));
}

const quoted = (run, at) => (run.frames[at] ? `“${run.frames[at].title}”` : "it is over");
const value = (pick) => (pick === undefined ? "as usual" : Array.isArray(pick) ? pick.join(" ") : pick?.name ?? String(pick));
