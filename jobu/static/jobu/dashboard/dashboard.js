// Asks for the numbers again and again, while somebody can see them.
"use strict";

(() => {
  const config = JSON.parse(document.getElementById("board-config").textContent);
  const page = document.getElementById("board");
  const state = document.getElementById("board-state");
  const problem = document.getElementById("board-problem");
  const texts = config.texts;
  const format = window.jobuFormat(document.documentElement.lang, config.timeZone);
  const charts = window.jobuCharts(format, texts);
  const tables = window.jobuTables(format, texts, config.urls);
  let range = config.range;
  let timer = 0;
  let request = null;

  const seconds = () => config.refreshSeconds[range];

  const draw = (data) => {
    data.steps[data.steps.length - 1].waiting = Object.fromEntries(data.waiting.map((each) => [each.queue, each.due]));
    tables.feed(data);
    charts.feed(data);
    problem.hidden = true;
    state.textContent = ["refreshed", format.time(data.now), format.seconds(seconds())].reduce(
      (text, part, index) => (index ? text.replace("{}", part) : texts[part]), "",
    );
    page.setAttribute("aria-busy", "false");
    page.dataset.refreshed = Number(page.dataset.refreshed || 0) + 1;
  };

  const fail = (text) => {
    problem.textContent = text;
    problem.hidden = false;
  };

  const refresh = async () => {
    stop();
    const mine = request = new AbortController();
    try {
      const answer = await fetch(`${config.dataUrl}?range=${range}`, {
        credentials: "same-origin",
        headers: { Accept: "application/json" },
        redirect: "manual",
        signal: mine.signal,
      });
      if (answer.type === "opaqueredirect" || answer.status === 403) {
        fail(texts.forbidden);
        return;
      }
      if (answer.headers.get("Jobu-Problem") === "not-migrated") {
        fail(texts["not migrated"]);
      } else {
        if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
        draw(await answer.json());
      }
    } catch (error) {
      if (error.name === "AbortError") return;
      fail(texts.disconnected.replace("{}", error.message));
    }
    if (request === mine && !document.hidden) timer = setTimeout(refresh, 1000 * seconds());
  };

  const stop = () => {
    clearTimeout(timer);
    if (request) request.abort();
    request = null;
  };

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      stop();
      state.textContent = texts.paused;
    } else {
      refresh();
    }
  });

  for (const link of page.querySelectorAll("[data-range]")) {
    link.addEventListener("click", (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      range = link.dataset.range;
      history.replaceState(null, "", link.href);
      for (const each of page.querySelectorAll("[data-range]")) {
        if (each === link) each.setAttribute("aria-current", "true");
        else each.removeAttribute("aria-current");
      }
      page.setAttribute("aria-busy", "true");
      refresh();
    });
  }

  new MutationObserver(charts.recolour).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", charts.recolour);
  if (!document.hidden) refresh();
})();
