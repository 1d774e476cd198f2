/** The part of a failed command's output that a message has room for: whole lines, from the first that names a failure. Pure. */
const NAMES_FAILURE =
  /^\s{0,8}(?:not ok\b|[✗✘×✖●]|--- FAIL|FAIL(?:ED)?\b|E {3}|panic:|error\b|fatal\b|thread '.{1,80}' panicked|[\w.]{0,80}(?:Error|Exception)\b)/i;

/** At most `maxChars`; all of the text if it fits. */
export function failureQuote(text: string, maxChars: number): string {
  const whole = text.trim();
  if (whole.length <= maxChars) return whole;
  const lines = whole.split("\n");
  const failing = lines.findIndex((line) => NAMES_FAILURE.test(line));
  const from = failing === -1 ? endOf(lines, maxChars) : failing;
  const kept: string[] = [];
  let room = maxChars;
  for (const line of lines.slice(from)) {
    if (kept.length > 0 && line.length > room) break;
    kept.push(line.slice(0, room));
    room -= line.length + 1;
  }
  return kept.join("\n").trim();
}

/** The first of the last lines that fit; the last line at least. */
function endOf(lines: readonly string[], maxChars: number): number {
  let at = lines.length - 1;
  let room = maxChars - (lines[at] ?? "").length;
  while (at > 0 && (room -= (lines[at - 1] ?? "").length + 1) >= 0) at -= 1;
  return at;
}
