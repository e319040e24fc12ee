/* The bar above a page, its presentation (one section a screen), and the filter of the catalogue. */
(function () {
  "use strict";
  const root = document.documentElement;
  const here = document.currentScript.src;
  const article = document.querySelector("article.bd-article");
  const aside = document.querySelector(".bd-sidebar-primary");
  aside?.setAttribute("role", "region"); // the theme leaves its first line outside of every landmark
  aside?.setAttribute("aria-label", "The book");
  if (!article) return;

  const make = (tag, attributes, ...kids) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value);
    }
    element.append(...kids);
    return element;
  };

  for (const box of article.querySelectorAll(".filtered")) {
    const rows = [...box.querySelectorAll("tbody tr")];
    const count = make("span", { role: "status" });
    const input = make("input", { class: "filter", type: "search", placeholder: "Filter: 2.3, v4, KAFKA-9053 …", "aria-label": "Filter the table", oninput: () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let left = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        left += !row.hidden;
      }
      count.textContent = words.length ? ` ${left} of ${rows.length}` : "";
    } });
    box.before(input, count);
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", "The table");
  }

  // Colab has not our package, and what PyPI calls `protocol` is another one: the reader is told before the page goes.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href*="//colab.research.google.com/github/"]');
    const [, repository, branch] = link?.href.match(/\/github\/([^/]+\/[^/]+)\/blob\/([^/]+)\//) ?? [];
    if (!repository || link.closest("dialog")) return;
    event.preventDefault();
    const line = `%pip install anywidget graphviz git+https://github.com/${repository}@${branch}`;
    const box = make("dialog", { class: "colab", "aria-label": "Open in Colab", onclose: () => box.remove() },
      make("p", {}, "Colab has not the package of this book. Run this in a cell of its own first:"), make("code", {}, line),
      make("form", { method: "dialog", class: "live-tools" },
        make("button", { type: "button", class: "live-button", onclick: () => navigator.clipboard?.writeText(line) }, "Copy"),
        make("a", { class: "live-button", href: link.href, target: "_blank", rel: "noopener" }, "Open Colab"),
        make("button", { class: "live-button" }, "Close")));
    document.body.append(box);
    box.showModal();
  });

  const top = article.querySelector(":scope > section");
  const bar = make("div", { class: "book-bar" });
  article.prepend(bar);

  // From a file, a browser loads no module: the page plays, and says why it cannot be made live.
  if (document.getElementById("live-cells")) {
    if (location.protocol === "file:") bar.append(make("span", { class: "live-said" }, "To make this page live, serve the folder: python3 -m http.server"));
    else import(new URL("live/live.js", here)).catch((error) => console.error(error));
  }
  if (!top || !article.querySelector("div.cell")) return;

  // A screen is what stands before the first section, then one section after the other.
  const inner = [...top.children].filter((one) => one.tagName === "SECTION");
  const opening = [...top.children].filter((one) => one.tagName !== "SECTION");
  const screens = [opening, ...inner.map((one) => [one])];
  let at = 0;

  const place = make("span", { role: "status" });
  const controls = make("div", { class: "present-bar", role: "toolbar", "aria-label": "Presentation" },
    make("button", { type: "button", class: "live-button", onclick: () => show(at - 1), "aria-label": "Back" }, "‹"), place,
    make("button", { type: "button", class: "live-button", onclick: () => show(at + 1), "aria-label": "On" }, "›"),
    make("button", { type: "button", class: "live-button", onclick: leave }, "Leave"));

  function show(number) {
    at = Math.max(0, Math.min(screens.length - 1, number));
    for (const one of article.querySelectorAll(".on-screen")) one.classList.remove("on-screen");
    for (const one of screens[at]) one.classList.add("on-screen");
    place.textContent = `${at + 1} of ${screens.length}`;
    scrollTo(0, 0);
  }

  function begin() {
    const seen = inner.findIndex((one) => one.getBoundingClientRect().bottom > 80);
    root.classList.add("presenting");
    document.body.append(controls);
    show(scrollY < 200 || seen < 0 ? 0 : seen + 1);
    root.requestFullscreen?.().catch(() => {});
  }

  function leave() {
    root.classList.remove("presenting");
    controls.remove();
    if (document.fullscreenElement) document.exitFullscreen();
    screens[at][0]?.scrollIntoView();
  }

  document.addEventListener("fullscreenchange", () => { if (!document.fullscreenElement && root.classList.contains("presenting")) leave(); });
  document.addEventListener("keydown", (event) => {
    if (!root.classList.contains("presenting") || event.ctrlKey || event.metaKey || event.altKey) return;
    const from = event.composedPath()[0];
    if (from instanceof Element && from.matches("input, textarea, select, [contenteditable], .vp-host *")) return;
    const go = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
    if (go) { event.preventDefault(); show(at + go); }
    if (event.key === "Home") show(0);
    if (event.key === "End") show(screens.length - 1);
    if (event.key === "Escape") leave();
  });

  bar.append(make("button", { type: "button", class: "live-button", onclick: begin, "data-key": "present" }, "Present"));
  addEventListener("beforeprint", () => { for (const one of article.querySelectorAll("details")) one.open = true; });
  if (new URLSearchParams(location.search).has("present")) begin();
})();
