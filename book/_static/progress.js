/* How far the reader is: what is done and what was guessed, kept in this browser and nowhere else. */
(function () {
  "use strict";
  const KEY = "version-probing:progress";
  const QUESTIONS = "section:is(#predict, #before-you-read-on, #quiz) > ol > li";
  const EXERCISE = /^Exercise (\d+)\.$/;
  const article = document.querySelector("article.bd-article");

  // { "04-the-upgraded-leader": { of: 4, done: ["quiz"], said: { "quiz-1": "nobody" } } }
  let kept;
  try {
    localStorage.setItem(`${KEY}?`, "");
    localStorage.removeItem(`${KEY}?`);
    kept = read();
  } catch { return; } // nothing can be kept here: there is nothing to show
  if (!article) return;

  function read() {
    try { return Object(JSON.parse(localStorage.getItem(KEY))); } catch { return {}; }
  }

  function keep(change) {
    kept = read(); // another page may have kept something meanwhile
    change(kept);
    try { localStorage.setItem(KEY, JSON.stringify(kept)); } catch { /* it is full: what is on the page stays */ }
    draw();
  }

  const make = (tag, attributes, ...kids) => {
    const element = Object.assign(document.createElement(tag), attributes);
    element.append(...kids);
    return element;
  };
  const chapterOf = (address) => new URL(address, location.href).pathname.match(/(?:^|\/)(\d\d-[\w-]+)\.html$/)?.[1];
  const name = chapterOf(location.href);
  const mine = () => Object.assign({ of: 0, done: [], said: {} }, kept[name]);
  const change = (what) => keep((all) => { all[name] = Object.assign({ of: 0, done: [], said: {} }, all[name]); what(all[name]); });
  const boxes = [];

  function box(id, label) {
    const input = make("input", { type: "checkbox", checked: mine().done.includes(id) });
    input.addEventListener("change", () => change((one) => {
      one.of = boxes.length;
      one.done = boxes.filter(([, other]) => other.checked).map(([other]) => other);
    }));
    boxes.push([id, input]);
    return make("label", { className: "progress-box" }, input, label);
  }

  function guess(item, id, label) {
    const input = make("input", { className: "progress-guess", type: "text", placeholder: "Your answer", autocomplete: "off", value: mine().said[id] ?? "" });
    input.setAttribute("aria-label", label);
    input.addEventListener("input", () => change((one) => { if (input.value) one.said[id] = input.value; else delete one.said[id]; }));
    item.append(input);
  }

  function lay() {
    const count = {};
    for (const item of article.querySelectorAll(QUESTIONS)) {
      const { id } = item.closest("section");
      count[id] = (count[id] ?? 0) + 1;
      guess(item, `${id}-${count[id]}`, `Your answer to question ${count[id]}`);
    }
    article.querySelector("#quiz > ol")?.after(box("quiz", "Quiz done"));
    for (const head of article.querySelectorAll("section > p > strong:first-child")) {
      const number = head.textContent.match(EXERCISE)?.[1];
      if (number) head.parentElement.after(box(`exercise-${number}`, `Exercise ${number} done`));
    }
    article.querySelector(":scope > section")?.append(make("div", { className: "progress-end" }, box("read", "I have read this chapter")));
  }

  /** What stands beside a chapter's name, wherever it is listed. */
  function draw() {
    for (const link of document.querySelectorAll(".bd-links .toctree-l1 > a, .toctree-wrapper .toctree-l1 > a")) {
      const { of, done } = kept[chapterOf(link.href)] ?? {};
      let mark = link.querySelector(".progress-mark");
      if (!done?.length) { mark?.remove(); continue; }
      if (!mark) link.append(mark = make("span", { className: "progress-mark" }));
      const all = done.length >= of;
      mark.textContent = all ? "✓" : `${done.length}/${of}`;
      mark.title = all ? "done" : `${done.length} of ${of} done`;
    }
    const seen = Object.keys(kept).length;
    end.hidden = !seen;
  }

  function forget() {
    localStorage.removeItem(KEY);
    kept = {};
    for (const [, input] of boxes) input.checked = false;
    for (const input of article.querySelectorAll(".progress-guess")) input.value = "";
    draw();
  }

  if (name) lay();
  const end = make("div", { className: "progress-kept" }, "What you marked and answered is kept in this browser only. ",
    make("button", { type: "button", className: "live-button", onclick: forget }, "Forget my progress"));
  const list = article.querySelector(".toctree-wrapper");
  if (list) list.before(end);
  else article.querySelector(".progress-end")?.append(end);
  draw();
  addEventListener("storage", (event) => { if (event.key === KEY) { kept = read(); draw(); } });
})();
