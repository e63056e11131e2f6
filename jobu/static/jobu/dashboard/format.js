// Numbers and times in the reader's language and the site's time zone.
"use strict";

window.jobuFormat = (language, timeZone) => {
  const numbers = new Intl.NumberFormat(language, { maximumSignificantDigits: 3, notation: "compact" });
  const small = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
  const percents = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 });
  const zone = (options) => {
    try {
      return new Intl.DateTimeFormat(language, { ...options, timeZone });
    } catch {
      return new Intl.DateTimeFormat(language, options);
    }
  };
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const hours = zone(clock);
  const seconds = zone({ ...clock, second: "2-digit" });
  const days = zone({ weekday: "short", day: "numeric" });
  const moments = zone({ month: "short", day: "numeric", ...clock });
  const unit = (name, digits) => new Intl.NumberFormat(language, {
    style: "unit", unit: name, unitDisplay: "narrow", maximumSignificantDigits: digits,
  });
  const units = [
    [1, 1000, unit("millisecond", 2)],
    [60, 1, unit("second", 2)],
    [7200, 1 / 60, unit("minute", 2)],
    [172800, 1 / 3600, unit("hour", 2)],
    [Infinity, 1 / 86400, unit("day", 2)],
  ];

  return {
    number: (value) => (Number.isInteger(value) && value < 10_000 ? small : numbers).format(value),
    percent: (share) => percents.format(share),
    seconds: (value) => {
      if (value === 0) return "0";
      const [, factor, formatter] = units.find(([limit]) => value < limit);
      return formatter.format(value * factor);
    },
    time: (iso) => seconds.format(new Date(iso)),
    moment: (iso) => moments.format(new Date(iso)),
    axis: (iso, range) => (range === "week" ? `${days.format(new Date(iso))} ${hours.format(new Date(iso))}` : hours.format(new Date(iso))),
    span: (iso, length) => `${moments.format(new Date(iso))} – ${hours.format(new Date(Date.parse(iso) + 1000 * length))}`,
  };
};
