const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Parses `YYYY-MM-DD`; throws a RangeError for a day that is not in the calendar. */
export function parseDate(text) {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) throw new RangeError(`not a date: ${text}`);
  const [year, month, day] = match.slice(1).map(Number);
  if (month < 1 || month > 12) throw new RangeError(`no such month: ${text}`);
  if (day < 1 || day > daysIn(year, month)) throw new RangeError(`no such day: ${text}`);
  return { year, month, day };
}

function daysIn(year, month) {
  return DAYS[month - 1];
}
