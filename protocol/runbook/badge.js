/** What a plan amounts to, at a glance: the verdict, and the odds where elections decide. */

import { html, svg } from "../player/elements.js";

const SIGNS = { // each its own outline: told apart where there is no colour
  "safe": ["M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13z", "M4.8 8.3 7.1 10.6 11.3 5.8"],
  "safe if": ["M8 1.6 15 14H1z", "M8 6v4M8 11.6v.9"],
  "unsafe": ["M5.2 1.5h5.6l3.7 3.7v5.6l-3.7 3.7H5.2l-3.7-3.7V5.2z", "M5.5 5.5l5 5M10.5 5.5l-5 5"],
  "impossible online": ["M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13z", "M3.6 12.4l8.8-8.8"],
};

export const kindOf = (verdict) => verdict.replaceAll(" ", "-");

export function badge(verdict, small = false) {
  const [outline, mark] = SIGNS[verdict] ?? SIGNS.unsafe;
  return html("span", { class: `badge-of ${kindOf(verdict)} ${small ? "small" : ""}` },
    svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: outline, class: "outline" }), svg("path", { d: mark, class: "mark" })),
    html("b", {}, verdict));
}

/** Words between backticks are code. */
export const rich = (text) => html("span", {}, ...text.split("`").map((part, i) => (i % 2 ? html("code", {}, part) : part)));

const percent = (chance) => `${chance < 0.005 ? "under 1" : Math.round(100 * chance)}%`;

/** One bar, a part for each way in which the elections can go, and the same in words below it. */
export function oddsBar({ text, parts }) {
  return html("div", { class: "odds" },
    html("div", { class: "bar", "aria-hidden": "true" }, ...parts.map((part, i) => {
      const piece = html("span", { class: part.bad ? `part bad shade${Math.min(i, 3)}` : "part" }, part.chance > 0.08 ? percent(part.chance) : "");
      piece.style.flexGrow = part.chance;
      return piece;
    })),
    html("ul", { class: "shares" }, ...parts.map((part, i) => html("li", {}, html("i", { class: part.bad ? `part bad shade${Math.min(i, 3)}` : "part", "aria-hidden": "true" }), `${percent(part.chance)} ${part.text}`))),
    html("p", { class: "quiet" }, text));
}
