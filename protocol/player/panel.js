/** What is said about a step: the sentence, the counts, the facts, the list of all steps, the legend, the keys. */

import { caption, html, plural } from "./elements.js";
import { together } from "./run.js";

const TAGS = { probing: "version probing", upgrading: "upgrade", poison: "poison", death: "death" };
const KEYS = [
  ["← →", "step back, step on"],
  ["Space", "play, pause"],
  ["Home End", "first step, last step"],
  ["Page ↑ ↓", "previous bounce, next bounce"],
  ["?", "this sheet"],
];

/** The sentence of a step. The longest one is laid behind it, unseen, so that nothing below ever jumps. */
export function sentence(run) {
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
    element: html("div", { role: "group", class: "sentence", "aria-label": "This step" }, live, note),
    quiet: (on) => live.setAttribute("aria-live", on ? "off" : "polite"),
    show(index) {
      const frame = run.frames[index];
      kicker.replaceChildren(`Step ${index} of ${run.length - 1}`);
      if (frame?.tag) kicker.append(html("span", { class: `tag ${frame.tag}` }, TAGS[frame.tag] ?? frame.tag));
      title.textContent = frame?.title ?? run.opening;
      why.textContent = frame ? frame.why
        : `${plural(run.names.length, "member")}, ${run.states[0].group.leader || "nobody"} leads. Press play, or step with the arrow keys.`;
      const last = index === run.length - 1;
      const [head, ...rest] = (last ? `How it ended. ${run.data.meta.outcome.text}` : frame?.note ?? "").split(/(?<=\.) /);
      note.className = `note ${last && !run.data.meta.outcome.deaths.length ? "end" : "bad"}`;
      note.replaceChildren(...(head ? [html("b", {}, `${head} `), rest.join(" ")] : []));
    },
  };
}

/** Running counts, for the strip above the diagrams. */
export function counts(run) {
  const boxes = ["Rebalances", "Generation", "On the new jar", "Died", "Seconds"].map((name) => html("div", {}, html("dt", {}, name), html("dd")));
  return {
    element: html("dl", { class: "counts" }, ...boxes.filter((_, i) => i !== 2 || run.data.meta.binaries[1])),
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
      texts.forEach((text, i) => { boxes[i].lastChild.textContent = text; });
      boxes[3].classList.toggle("bad", run.died[index] > 0);
    },
  };
}

/** What the bytes of a field say: a number, a text behind its length, nothing, or more fields. */
function says(type, bytes) {
  if (type === "int") return String(BigInt.asIntN(bytes.length * 4, BigInt(`0x${bytes}`)));
  if (type === "text2" || type === "text4") {
    const text = bytes.slice(2 * Number(type[4])).match(/../g) ?? [];
    return JSON.stringify(new TextDecoder().decode(Uint8Array.from(text, (byte) => Number.parseInt(byte, 16))));
  }
  return { null: "none", open: "the Streams payload:" }[type] ?? "";
}

/** What changed, what was sent, what was logged, and where Kafka decides it. */
export function facts(run) {
  const element = html("div", { role: "group", class: "facts", tabindex: 0, "aria-label": "Details of this step" });
  let open = false; // the bytes stay open from step to step
  const part = (title, ...kids) => html("div", { class: "part" }, caption(title), ...kids);

  function changes(index) {
    const lines = run.frames[index]?.changes ?? [];
    const list = lines.map(([who, what]) => html("li", {}, html("b", { title: who.join(" ") }, together(who, run.names)), html("span", {}, what)));
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
      const details = bytes.length ? html("details", { ontoggle: (event) => { open = event.target.open; unpack(); } },
        html("summary", {}, plural(bytes.length, "payload"))) : null;
      const unpack = () => { // not before they are looked at: twelve members are two hundred rows
        if (details.open && !details.children[1]) details.append(...bytes.map((message) => payload(message, up)));
      };
      if (details && open) { details.open = true; unpack(); }
      return html("li", { class: probing ? "probe" : "" },
        html("p", {}, html("b", {}, up ? `${who} → ◆` : `◆ → ${who}`), ` ${kind}`),
        ints.length ? html("p", { class: "ints" }, ints.filter(Boolean).join(" · "), probing ? " · probing" : "") : null, details);
    });
    return part("On the wire", html("ul", { class: "wire" }, ...entries));
  }

  /** The bytes of a message, field by field: where each lies, its bytes, what they say. */
  function payload(message, up) {
    const [hex, shape] = run.data.payloads[message.data];
    let at = 0;
    const rows = run.data.shapes[shape].map(([name, type, length]) => {
      const bytes = hex.slice(2 * at, 2 * (at += length));
      return html("tr", {}, html("td", {}, String(at - length)), html("td", {}, bytes.replace(/.{8}(?=.)/g, "$& ")), html("td", {}, name), html("td", {}, says(type, bytes)));
    });
    return html("div", { class: "bytes" },
      html("p", {}, html("b", {}, up ? message.from : message.to), ` ${hex.length / 2} bytes, tasks ${(message.tasks ?? []).join(" ") || "none"}`),
      html("table", {}, html("thead", {}, html("tr", {}, ...["at", "bytes", "field", "says"].map((head) => html("th", {}, head)))), html("tbody", {}, ...rows)));
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
export function contents(run, hooks) {
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
  let turn = 0;
  return {
    element: html("div", { role: "group", class: "contents", "aria-label": "Contents" }, caption("All steps"), list),
    show(index) {
      current?.removeAttribute("aria-current");
      current = rows[index];
      current.setAttribute("aria-current", "step");
      // Not scrollIntoView: that moves the page, too. In the next frame: to measure now would lay out the page once more.
      cancelAnimationFrame(turn);
      turn = requestAnimationFrame(() => { list.scrollTop = current.offsetTop - list.clientHeight / 2 + 12; });
    },
  };
}

export function help() {
  return html("dialog", { class: "sheet", "aria-label": "Keys" }, caption("Keys"),
    html("dl", {}, ...KEYS.map(([keys, what]) => html("div", {}, html("dt", {}, html("kbd", {}, keys)), html("dd", {}, what)))),
    html("form", { method: "dialog" }, html("button", { class: "plain" }, "Close")));
}

/** What the colours mean: each pair of a jar and a version spoken that this run shows, then what else it shows. */
export function legend(run) {
  return html("div", { class: "legend" }, ...run.data.meta.legend.map(([sign, text]) => html("span", {}, html("i", { class: sign }), text)));
}
