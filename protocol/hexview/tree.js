/** The fields of one part as a tree: name, place, bytes, value, meaning. */

import { html } from "../player/elements.js";
import { reveal, span } from "./bytes.js";

const FEW = 4; // bytes that are written out beside a field

/** Rows as objects that know their parent; `path` is what a field is called in full. */
export function rows(list) {
  const above = [];
  return list.map(([depth, start, end, name, value, meaning, problem, sort], index) => {
    while (above.length && above.at(-1).depth >= depth) above.pop();
    const parent = above.at(-1);
    const joint = !parent || parent.sort ? "" : name.startsWith("[") ? parent.path : `${parent.path}.`;
    const row = { depth, start, end, name, value, meaning, problem, sort, index, parent: parent?.index ?? -1, path: sort ? name : joint + name };
    above.push(row);
    return row;
  });
}

/** The innermost row of each byte. */
export function owners(list, count) {
  const owner = new Array(count).fill(-1);
  for (const row of list) if (row.sort || !row.problem || row.end > row.start) owner.fill(row.index, row.start, Math.min(row.end, count));
  return owner;
}

/** A name that may be broken after an underscore, and only there if that is enough. */
const pieces = (name) => name.split(/(?<=_)/).flatMap((word, i) => (i ? [html("wbr"), word] : [word]));

export function tree(part, { at, pin }) {
  const parents = new Set(part.rows.map((row) => row.parent));
  const items = part.rows.map((row) => {
    const raw = part.hex.slice(2 * row.start, 2 * Math.min(row.end, row.start + FEW)).replace(/..(?=.)/g, "$& ");
    const many = row.end - row.start > FEW;
    const says = row.problem ? `: cannot be read, ${row.problem}` : row.value && ` = ${row.value}`;
    const place = row.end > row.start ? span(row.start, row.end) : "none left";
    return html("div", {
      role: "treeitem", class: `row ${row.sort ? `layer ${row.sort}` : ""}${row.problem ? " bad" : ""}`, style: `--depth: ${row.depth}`,
      "aria-level": row.depth + 1, "aria-expanded": parents.has(row.index) ? "true" : null, tabindex: row.index ? -1 : 0, "data-row": row.index,
      "aria-selected": "false", "aria-label": [row.name + says, `bytes ${place}`, row.meaning].filter(Boolean).join(", "),
    },
    html("span", { class: "says" }, html("span", { class: "name" }, row.problem ? "✕ " : "", ...pieces(row.name)), says),
    html("span", { class: "place" }, place),
    row.meaning ? html("span", { class: "means" }, row.meaning) : null,
    row.sort ? null : html("span", { class: "raw" }, raw, many ? " …" : ""));
  });
  const element = html("div", { class: "tree", role: "tree", "aria-label": "Fields" }, ...items);
  let current = 0;
  let marked = [];

  const place = (event) => { const item = event.target.closest("[data-row]"); return item ? Number(item.dataset.row) : null; };
  const point = (event) => { const i = place(event); if (i !== null) at(i); };
  element.addEventListener("pointerover", (event) => { if (event.pointerType === "mouse") point(event); });
  element.addEventListener("focusin", point);
  element.addEventListener("click", (event) => {
    const i = place(event);
    if (i === null) return;
    focus(i);
    pin(i);
  });

  function focus(i) {
    items[current].tabIndex = -1;
    current = Math.max(0, Math.min(items.length - 1, i));
    items[current].tabIndex = 0;
    items[current].focus({ preventScroll: true });
    items[current].scrollIntoView({ block: "nearest" });
  }

  const keys = {
    ArrowDown: () => current + 1, ArrowUp: () => current - 1, Home: () => 0, End: () => items.length - 1,
    ArrowLeft: () => Math.max(0, part.rows[current].parent),
    ArrowRight: () => (parents.has(current) ? current + 1 : current),
  };

  return {
    element,
    mark(row, around, pinned) {
      for (const item of marked) {
        item.classList.remove("lit", "around", "pinned");
        item.setAttribute("aria-selected", "false");
      }
      marked = [...[row, pinned].filter(Boolean).map((one) => items[one.index]), ...[...around].map((i) => items[i])];
      for (const i of around) items[i].classList.add("around");
      if (row) items[row.index].classList.add("lit");
      if (!pinned) return;
      items[pinned.index].classList.add("pinned");
      items[pinned.index].setAttribute("aria-selected", "true");
    },
    key(event) {
      if (keys[event.key]) focus(keys[event.key]());
      else if (event.key === "Enter" || event.key === " ") pin(current);
      else return false;
      return true;
    },
    show(row) { if (row) reveal(element, items[row.index]); },
  };
}
