/** The bytes of one part: rows of sixteen, or of eight on a phone, each with its offset and its printable characters. */

import { html } from "../player/elements.js";

const shown = (byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : "·");

/** Where two numbers make one place: `18` or `18–21`. */
export const span = (start, end) => (end - start > 1 ? `${start}–${end - 1}` : `${start}`);

/**
 * `owner[i]` is the row that byte `i` belongs to, the innermost one; `-1` for none.
 * What the reader points at is told to `at(row)`; what is to be seen comes back through `mark`.
 */
export function grid(part, owner, { at, pin }) {
  const bytes = Uint8Array.from(part.hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const element = html("div", { class: "hex", role: "grid", "aria-label": `${part.size} bytes`, "aria-readonly": "true" });
  const sorts = owner.map((row) => sortOf(part.rows, row));
  const endsEarly = !part.cut && part.rows.some((row) => row.problem && row.start >= part.size);
  let cells = [];
  let letters = [];
  let worn = [];
  let abreast = 0;
  let current = 0;

  const classes = owner.map((at, i) => {
    const row = part.rows[at];
    return [sorts[i], at !== owner[i - 1] && "first", row?.problem && "bad", row?.problem && i === row.start && "here"].filter(Boolean).join(" ");
  });
  const name = (i) => {
    const row = part.rows[owner[i]];
    const read = row?.problem ? "cannot be read" : "";
    return [bytes[i].toString(16).padStart(2, "0"), `byte ${i}`, row?.path ?? "in no field", read].filter(Boolean).join(", ");
  };

  function draw(count) {
    if (count === abreast) return;
    abreast = count;
    worn = [...classes];
    cells = Array.from(bytes, (byte, i) => html("span", { role: "gridcell", class: `byte ${classes[i]}`, tabindex: i === current ? 0 : -1, "data-at": i, "aria-label": name(i) },
      byte.toString(16).padStart(2, "0")));
    letters = Array.from(bytes, (byte, i) => html("span", { class: `letter ${classes[i]}`, "data-at": i }, shown(byte)));
    const rows = [];
    for (let i = 0; i < bytes.length; i += count) {
      const gap = i + count > bytes.length ? count - (bytes.length - i) : 0;
      rows.push(html("div", { role: "row", class: "line" },
        html("span", { role: "rowheader", class: "offset" }, i.toString(16).padStart(4, "0")),
        html("span", { role: "presentation", class: "pairs", style: `grid-template-columns: repeat(${count}, 1fr)` }, ...cells.slice(i, i + count), gap ? missing() || null : null),
        html("span", { class: "letters", "aria-hidden": "true" }, ...letters.slice(i, i + count))));
    }
    if (endsEarly && bytes.length % count === 0) rows.push(html("div", { "aria-hidden": "true", class: "line" }, html("span", { class: "offset" }, bytes.length.toString(16).padStart(4, "0")), missing()));
    element.replaceChildren(...rows);
  }

  /** Where the bytes end too early: a place with no byte. */
  function missing() {
    return endsEarly && html("span", { class: "byte bad here none", "aria-hidden": "true", title: "here the bytes end" }, "··");
  }

  const place = (event) => event.target.closest("[data-at]")?.dataset.at;
  const point = (event) => { const i = place(event); if (i != null) at(owner[i]); };
  element.addEventListener("pointerover", (event) => { if (event.pointerType === "mouse") point(event); });
  element.addEventListener("focusin", point);
  element.addEventListener("click", (event) => {
    const i = place(event);
    if (i == null) return;
    focus(Number(i));
    pin(owner[i]);
  });

  function focus(i) {
    cells[current].tabIndex = -1;
    current = Math.max(0, Math.min(bytes.length - 1, i));
    cells[current].tabIndex = 0;
    cells[current].focus();
  }

  const keys = {
    ArrowRight: () => current + 1, ArrowLeft: () => current - 1, ArrowDown: () => (current + abreast < bytes.length ? current + abreast : current),
    ArrowUp: () => (current >= abreast ? current - abreast : current),
    Home: () => 0, End: () => bytes.length - 1,
  };

  /** Light these bytes: the field's own, and fainter the field's that they are inside of. Only what changes is touched. */
  function mark(row, around, pinned) {
    const inside = (which, i) => Boolean(which && i >= which.start && i < which.end);
    for (let i = 0; i < bytes.length; i++) {
      const looks = inside(row, i) ? "lit" : inside(around, i) ? "around" : "";
      const wanted = `${classes[i]} ${looks} ${inside(pinned, i) ? "pinned" : ""}`;
      if (wanted === worn[i]) continue;
      worn[i] = wanted;
      cells[i].className = `byte ${wanted}`;
      letters[i].className = `letter ${wanted}`;
    }
  }

  return {
    element, draw, mark,
    key(event) {
      if (keys[event.key]) focus(keys[event.key]());
      else if (event.key === "Enter" || event.key === " ") pin(owner[current]);
      else return false;
      return true;
    },
    show(row) {
      if (row) reveal(element, cells[row.start]?.closest(".line"), cells[Math.min(row.end, cells.length) - 1]?.closest(".line"));
    },
  };
}

/** Which of the three layers a row is in. */
function sortOf(rows, at) {
  for (let row = rows[at]; row; row = rows[row.parent]) if (row.sort) return row.sort;
  return "";
}

/** Scroll a box of its own, never the page, so that what lies between two elements can be seen. */
export function reveal(box, first, last = first) {
  if (!first || box.scrollHeight <= box.clientHeight) return;
  const frame = box.getBoundingClientRect();
  const [top, bottom] = [first.getBoundingClientRect().top - frame.top, last.getBoundingClientRect().bottom - frame.top];
  if (top < 0 || bottom - top > box.clientHeight) box.scrollTop += top - 6;
  else if (bottom > box.clientHeight) box.scrollTop += bottom - box.clientHeight + 6;
}
