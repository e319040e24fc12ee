/** What a reader of one release makes of the bytes; the answers were made beforehand, one for all releases that agree. */

import { html } from "../player/elements.js";

export function reader(part) {
  if (!part.readers.length) return null;
  const named = ({ names }) => (names.length > 1 ? `${names[0]} – ${names.at(-1)}` : names[0]);
  const select = html("select", { "aria-label": "Release of the reader" },
    ...part.readers.map((one, i) => html("option", { value: i, selected: i === part.reader }, named(one))));
  const answer = html("div", { class: "answer", "aria-live": "polite" });
  function show() {
    const one = part.readers[Number(select.value)];
    answer.replaceChildren(
      html("p", {}, html("b", { class: one.fails ? "fails" : null }, `It ${one.sees}.`), ` ${one.then}`),
      ...one.log.map((line) => html("code", { class: "log" }, line)));
  }
  select.addEventListener("change", show);
  show();
  return html("div", { class: "reader" }, html("label", {}, "A reader of Kafka Streams ", select), answer);
}
