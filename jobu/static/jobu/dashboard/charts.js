// The charts: made once, then fed with new numbers. Colours come from the stylesheet.
"use strict";

window.jobuCharts = (format, texts) => {
  const OUTCOMES = ["SUCCESS", "CANCELLED", "TIMEOUT", "FAILED"];
  const PERCENTILES = [["p50", "50 %"], ["p95", "95 %"], ["p99", "99 %"]];
  const MOST_QUEUES = 6;
  const TIMES = [0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 21600, 86400, 604800, 2592000];
  const page = document.getElementById("board");
  const charts = {};
  let steps = [];
  let stepSeconds = 60;

  const colour = (name) => getComputedStyle(page).getPropertyValue(`--jobu-${name}`).trim();

  const options = (formatValue) => ({
    animation: false,
    maintainAspectRatio: false,
    responsive: true,
    interaction: { mode: "index", intersect: false },
    scales: {
      x: { grid: { display: false }, border: {}, ticks: { maxRotation: 0, autoSkipPadding: 24 } },
      y: { beginAtZero: true, grid: {}, border: { display: false }, ticks: { maxTicksLimit: 6, callback: formatValue } },
    },
    plugins: {
      colors: { enabled: false },
      legend: { position: "bottom", labels: { boxWidth: 10, boxHeight: 10 } },
      tooltip: {
        callbacks: {
          title: (items) => (items.length ? format.span(steps[items[0].dataIndex].begins_at, stepSeconds) : ""),
          label: (item) => `${item.dataset.label}: ${formatValue(item.parsed.y)}`,
        },
      },
    },
  });

  const paint = (dataset) => {
    dataset.borderColor = dataset.backgroundColor = colour(dataset.name);
    return dataset;
  };

  const line = (label, name) => paint({
    label,
    name,
    data: [],
    borderWidth: 2,
    // A line needs two points to be seen.
    pointRadius: ({ dataset }) => (dataset.data.filter((value) => value !== null).length < 2 ? 3 : 0),
    pointHitRadius: 8,
    spanGaps: true,
    cubicInterpolationMode: "monotone",
  });

  const make = (id, type, datasets, settings) => {
    charts[id] = new Chart(document.getElementById(`board-${id}`), {
      type, data: { labels: [], datasets }, options: settings,
    });
  };

  const outcomes = options(format.number);
  outcomes.scales.x.stacked = outcomes.scales.y.stacked = true;
  outcomes.plugins.tooltip.filter = (item) => item.parsed.y > 0;
  outcomes.plugins.tooltip.callbacks.label = (item) => {
    const step = steps[item.dataIndex];
    const count = format.number(step.outcomes[item.dataset.name]);
    const counted = step.is_capped ? texts.capped.replace("{}", count) : count;
    return `${item.dataset.label}: ${format.number(item.parsed.y)} ${texts["per minute"]} (${counted})`;
  };
  make("outcomes", "bar", OUTCOMES.map((name) => paint({
    label: texts[name], name, data: [], barPercentage: 0.96, categoryPercentage: 0.96,
  })), outcomes);
  for (const id of ["run", "wait"]) {
    const durations = options(format.seconds);
    // So that one slow hour does not flatten all the others.
    durations.scales.y.type = "logarithmic";
    durations.scales.y.afterBuildTicks = (axis) => {
      axis.ticks = TIMES.filter((each) => each >= axis.min && each <= axis.max).map((value) => ({ value }));
    };
    make(id, "line", PERCENTILES.map(([name, label]) => line(label, name)), durations);
  }
  const depth = options(format.number);
  depth.scales.y.ticks.precision = 0;
  make("depth", "line", [], depth);

  const fit = (chart) => {
    const values = chart.data.datasets.flatMap((each) => each.data).filter((value) => value !== null);
    const [least, most] = values.length ? [Math.min(...values), Math.max(...values)] : [0.1, 1];
    const axis = chart.options.scales.y;
    axis.min = TIMES.findLast((each) => each < least) || TIMES[0];
    axis.max = TIMES.find((each) => each > most) || most;
  };

  const feedDepth = (data) => {
    const peaks = new Map();
    for (const step of data.steps) {
      for (const [queue, count] of Object.entries(step.waiting || {})) {
        peaks.set(queue, Math.max(count, peaks.get(queue) || 0));
      }
    }
    const queues = [...peaks.keys()].sort((a, b) => peaks.get(b) - peaks.get(a)).slice(0, MOST_QUEUES);
    const known = new Map(charts.depth.data.datasets.map((each) => [each.label, each]));
    charts.depth.data.datasets = queues.map((queue, index) => {
      const dataset = known.get(queue) || line(queue, "");
      dataset.name = `queue-${index + 1}`;
      dataset.data = data.steps.map((step) => (step.waiting ? step.waiting[queue] || 0 : null));
      return dataset;
    });
  };

  const recolour = () => {
    Chart.defaults.font.family = getComputedStyle(page).fontFamily;
    for (const chart of Object.values(charts)) {
      chart.data.datasets.forEach(paint);
      for (const axis of Object.values(chart.options.scales)) {
        axis.ticks.color = colour("quiet");
        axis.grid.color = axis.border.color = colour("grid");
      }
      chart.options.plugins.legend.labels.color = colour("text");
      chart.update("none");
      // It follows its panel by itself, but a busy browser may forget to tell it.
      chart.resize();
    }
  };

  const feed = (data) => {
    steps = data.steps;
    stepSeconds = data.step_seconds;
    const labels = steps.map((step) => format.axis(step.begins_at, data.range));
    const now = Date.parse(data.now);
    const minutes = steps.map((step) => {
      const passed = (now - Date.parse(step.begins_at)) / 60_000;
      return Math.max(1, Math.min(stepSeconds / 60, passed));
    });
    for (const dataset of charts.outcomes.data.datasets) {
      dataset.data = steps.map((step, index) => step.outcomes[dataset.name] / minutes[index]);
    }
    for (const id of ["run", "wait"]) {
      for (const dataset of charts[id].data.datasets) {
        dataset.data = steps.map((step) => (step[id] ? step[id][dataset.name] : null));
      }
      fit(charts[id]);
    }
    feedDepth(data);
    for (const chart of Object.values(charts)) chart.data.labels = labels;
    recolour();
  };

  return { feed, recolour };
};
