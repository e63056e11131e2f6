// The tables and the tiles. Whatever comes from the database is set as text, never as HTML.
"use strict";

window.jobuTables = (format, texts, urls) => {
  const MOST_HANDLERS = 20;
  // The name that jobu.reading gives to all beyond its limit of names.
  const OTHER = "(other)";
  const byId = (name) => document.getElementById(`board-${name}`);
  const say = (name, text) => { byId(name).textContent = text; };

  const link = (text, url) => {
    if (!url) return document.createTextNode(text);
    const anchor = document.createElement("a");
    anchor.href = url;
    anchor.textContent = text;
    return anchor;
  };

  const executions = (query) => urls.executions && `${urls.executions}?${new URLSearchParams(query)}`;
  const failures = (query) => urls.failures && `${urls.failures}?${new URLSearchParams(query)}`;
  const executionsOf = (name, query) => (name === OTHER ? null : executions(query));

  const cell = (content, { isNumber = false, title = "" } = {}) => {
    const td = document.createElement("td");
    if (isNumber) td.className = "number";
    if (title) td.title = title;
    td.append(content);
    return td;
  };

  const bar = (share, text, kind) => {
    const outer = document.createElement("div");
    outer.className = `jobu-bar ${kind}`;
    const inner = document.createElement("div");
    inner.style.width = `${Math.min(100, 100 * share)}%`;
    const label = document.createElement("span");
    label.textContent = text;
    outer.append(inner, label);
    return outer;
  };

  const badge = (text, kind) => {
    const span = document.createElement("span");
    span.className = `jobu-badge ${kind}`;
    span.textContent = text;
    return span;
  };

  const quiet = (text) => {
    const div = document.createElement("div");
    div.className = "quiet";
    div.textContent = text;
    return div;
  };

  const fill = (name, rows, emptyText) => {
    const body = byId(name);
    const columns = body.parentElement.tHead.rows[0].cells.length;
    if (!rows.length) {
      const td = cell(emptyText);
      td.colSpan = columns;
      td.className = "quiet";
      rows = [[td]];
    }
    body.replaceChildren(...rows.map((cells) => {
      const tr = document.createElement("tr");
      tr.append(...cells);
      return tr;
    }));
  };

  const count = (number, isCapped) => (isCapped ? texts.capped.replace("{}", format.number(number)) : format.number(number));
  const duration = (percentiles, name) => (percentiles ? format.seconds(percentiles[name]) : "–");
  const sum = (rows, read) => rows.reduce((total, row) => total + read(row), 0);

  const tiles = (data) => {
    const outcomes = data.total.outcomes;
    const finished = sum(Object.values(outcomes), (each) => each);
    const dead = outcomes.FAILED + outcomes.TIMEOUT;
    const minutes = (Date.parse(data.now) - Date.parse(data.steps[0].begins_at)) / 60_000;
    say("finished", count(finished, data.total.is_capped));
    say("rate", `${format.number(finished / minutes)} ${texts["per minute"]}`);
    const share = finished ? format.percent(dead / finished) : "–";
    byId("dead").replaceChildren(link(share, failures({ range: data.range })));
    byId("dead").classList.toggle("jobu-bad", dead > 0);
    say("dead-of", `${format.number(dead)} ${texts["of finished"].replace("{}", format.number(finished))}`);
    say("waiting", count(sum(data.waiting, (each) => each.due), data.waiting.some((each) => each.is_capped)));
    const oldest = Math.max(0, ...data.waiting.map((each) => each.oldest_seconds));
    say("oldest", oldest >= 1 ? texts.longest.replace("{}", format.seconds(oldest)) : "");
    const alive = data.processes.filter((each) => !each.is_stale);
    say("running", format.number(sum(data.processes, (each) => each.running)));
    say("slots", texts["of slots"].replace("{}", format.number(sum(alive, (each) => each.slots))));
    say("alive", format.number(alive.length));
    byId("alive").classList.toggle("jobu-bad", !alive.length);
    const stale = data.processes.length - alive.length;
    say("stale", stale ? `${format.number(stale)} ${texts.stale}` : "");
  };

  const queues = (data) => fill("queues", data.waiting.map((each) => [
    cell(link(each.queue, executionsOf(each.queue, { queue: each.queue, status: "PENDING" }))),
    cell(count(each.due, each.is_capped), { isNumber: true }),
    cell(count(each.later, each.is_capped), { isNumber: true }),
    cell(each.oldest_seconds > 0 ? format.seconds(each.oldest_seconds) : "–", { isNumber: true }),
  ]), texts["no waiting"]);

  const handlers = (data) => fill("handlers", data.handlers.slice(0, MOST_HANDLERS).map((each) => [
    cell(link(each.name, executionsOf(each.name, { handler_name: each.name }))),
    cell(format.number(each.finished), { isNumber: true }),
    cell(each.dead ? link(format.number(each.dead), each.name === OTHER ? null : failures({ handler_name: each.name, range: data.range })) : "0", { isNumber: true }),
    cell(bar(each.failure_rate, format.percent(each.failure_rate), "jobu-failure")),
    cell(duration(each.run, "p50"), { isNumber: true }),
    cell(duration(each.run, "p95"), { isNumber: true }),
  ]), texts["no handlers"]);

  const ticks = (data) => fill("ticks", data.ticks.map((each) => {
    const seconds = (Date.parse(each.at) - Date.parse(data.now)) / 1000;
    const when = seconds < 1 ? texts.now : texts.in.replace("{}", format.seconds(seconds));
    return [
      cell(link(each.name, urls.cron && urls.cron.replace(/\b0\b/, each.cron_id))),
      cell(each.handler_name),
      cell(when, { isNumber: true, title: format.moment(each.at) }),
    ];
  }), texts["no ticks"]);

  const state = (each) => {
    if (each.is_stale) return badge(texts.stale, "jobu-stale");
    if (each.is_stopping) return badge(texts.stopping, "jobu-stopping");
    return badge(texts.running, "jobu-alive");
  };

  const processes = (data) => fill("processes", data.processes.map((each) => {
    const use = each.slots
      ? bar(each.running / each.slots, `${format.number(each.running)} / ${format.number(each.slots)}`, "jobu-use")
      : "–";
    const longest = each.longest_seconds === null ? "" : texts.longest.replace("{}", format.seconds(each.longest_seconds));
    const queues = each.slots ? `${each.queues.join(", ") || texts["all queues"]} · ` : "";
    const process = cell(link(`${each.kind} ${each.host}:${each.pid}`, urls.processes), { title: each.id });
    process.append(quiet(queues + texts.since.replace("{}", format.moment(each.started_at))));
    return [
      process,
      cell(use, { title: longest }),
      cell(state(each), { title: texts.beat.replace("{}", format.seconds(each.beat_seconds)) }),
    ];
  }), texts["no processes"]);

  const unsummarized = (data) => {
    byId("unsummarized").hidden = !data.unsummarized;
    say("unsummarized", texts.unsummarized.replace("{}", format.number(data.unsummarized)));
  };

  return {
    feed: (data) => [tiles, queues, handlers, ticks, processes, unsummarized].forEach((draw) => draw(data)),
  };
};
