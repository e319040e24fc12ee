/** The bounces as cards to tick off, and what stands beside them; nothing here knows where the data come from. */

import { html } from "../player/elements.js";
import { badge, rich } from "./badge.js";

export const plain = (key, text, onclick, more = {}) => html("button", { type: "button", class: "plain", "data-key": key, onclick, ...more }, text);

/** A text to take along: in the clipboard, or selected where a page has no right to that. */
export function copier(key, text, content, say) {
  const button = plain(key, text, async () => {
    try {
      await navigator.clipboard.writeText(content);
      button.textContent = "Copied";
      say("Copied.");
      setTimeout(() => { button.textContent = text; }, 1500);
    } catch {
      say("", content);
    }
  });
  return button;
}

export const block = (title, ...kids) => html("section", { class: "block" }, html("h2", { class: "caption" }, title), ...kids);

function greps(signs, key, say) {
  return html("ul", { class: "greps" }, ...signs.map((sign, i) => html("li", {},
    html("span", { class: "who" }, [sign.when === "start" ? "at the start" : sign.when === "done" || sign.when === "wrong" ? "" : sign.when, sign.who].filter(Boolean).join(", "), sign.meaning ? html("span", { class: "quiet" }, ` · ${sign.meaning}`) : null),
    html("span", { class: "line" }, html("code", {}, sign.grep), copier(`${key}:grep:${i}`, "Copy", `grep -F '${sign.grep.replaceAll("'", "'\\''")}'`, say)))));
}

/** One round: what to set, what to bounce, what to wait for. The ticks are the page's own, and are lost with it. */
function card(round, { ticks, ticked, say }) {
  const boxes = Array.from({ length: round.instances }, (_, i) => {
    const name = `${round.number}:${i + 1}`;
    const box = html("input", { type: "checkbox", "data-key": `tick:${name}`, checked: ticks.has(name), onchange: () => { ticks[box.checked ? "add" : "delete"](name); count(); ticked(); } });
    return html("label", { class: "box" }, box, html("span", {}, html("span", { class: "unseen" }, "instance "), String(i + 1)));
  });
  const left = html("span", { class: "aside" });
  const count = () => { const done = boxes.filter((one) => one.firstChild.checked).length; left.textContent = `${done} of ${round.instances} bounced`; };
  count();
  const steps = [
    "Stop one instance.",
    ...(round.before ? [round.before] : []),
    `Start it on ${round.release}, with this configuration.`,
    html("span", {}, "Wait until the group is quiet: its last line of this kind is ", html("code", {}, round.quiet), "."),
  ];
  return html("li", { class: "card" },
    html("h3", {}, html("span", { class: "nth", "aria-hidden": "true" }, String(round.number)), html("span", { class: "unseen" }, `Round ${round.number}: `), round.title),
    html("p", { class: "quiet" }, round.why),
    round.settings.length ? html("div", { class: "line" }, html("pre", { tabindex: 0, role: "group", "aria-label": `Configuration of round ${round.number}` }, round.settings.join("\n")), copier(`set:${round.number}`, "Copy", round.settings.join("\n"), say)) : null,
    round.without ? html("p", { class: "without" }, round.without) : null,
    html("ol", { class: "steps-of" }, ...steps.map((one) => html("li", {}, one))),
    html("fieldset", { class: "boxes" }, html("legend", {}, "Tick what is done", left), ...boxes),
    round.cost ? html("p", {}, html("b", {}, "Expected "), round.cost) : null,
    round.signs.length ? html("details", { "data-key": `greps:${round.number}` }, html("summary", {}, "What to grep for"), greps(round.signs, `r${round.number}`, say)) : null,
    round.after ? html("p", { class: "after" }, round.after) : null);
}

export function todo(data, tools) {
  return block("What to do",
    html("ol", { class: "cards" }, ...data.rounds.map((round) => card(round, tools))),
    html("div", { class: "card ends" }, html("h3", {}, "Done when"), greps(data.done, "done", tools.say)),
    html("div", { class: "card ends stop" }, html("h3", {}, "Stop if you see"), greps(data.wrong, "wrong", tools.say)));
}

function reason(one) {
  return html("li", { class: `reason by-${one.effect}` },
    html("p", {}, html("span", { class: "tag" }, one.mark), html("b", {}, one.title)),
    html("p", {}, rich(`${one.text} ${one.applies}`)),
    html("p", { class: "source" }, "Source: ", ...one.source.map(([text, url]) => (url.startsWith("https://") ? html("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, text) : rich(text)))));
}

/** The reasons: those that decide stand there, the rest can be opened. */
export function why(data) {
  const weighty = data.reasons.filter((one) => one.effect !== "note");
  const notes = data.reasons.filter((one) => one.effect === "note");
  return block("Why",
    html("ul", { class: "reasons" }, ...weighty.map(reason)),
    notes.length ? html("details", { "data-key": "notes" }, html("summary", {}, `Good to know (${notes.length})`), html("ul", { class: "reasons" }, ...notes.map(reason))) : null,
    data.bounds.length ? html("details", { "data-key": "bounds" }, html("summary", {}, "What was looked at, and what not"), html("ul", { class: "list" }, ...data.bounds.map((one) => html("li", {}, rich(one))))) : null);
}

export function instead(data, { ask }) {
  return block("Instead", html("ul", { class: "list" }, ...data.instead.map((way, i) => html("li", {}, way.text,
    way.pick && ask ? html("span", {}, " ", plain(`instead:${i}`, `Plan ${way.name}`, () => ask(way.pick))) : null))));
}

export function back({ back }) {
  return block("The way back", html("p", {}, back.pair, " ", badge(back.verdict, true), " ", back.sentence),
    back.conditions.length ? html("ul", { class: "list" }, ...back.conditions.map((one) => html("li", {}, one))) : null,
    back.rounds.length ? html("ol", { class: "list" }, ...back.rounds.map((one) => html("li", {}, one))) : null,
    back.half ? html("p", {}, back.half) : null,
    back.blocks.length ? html("details", { "data-key": "blocks" }, html("summary", {}, `What it meets (${back.blocks.length})`), html("ul", { class: "reasons" }, ...back.blocks.map(reason))) : null);
}
