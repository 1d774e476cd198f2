/**
 * The parts of a failed check's output that say why it failed: the lines that name a failure, each with its surroundings, and
 * the end. The end alone is often a summary, and the first failure often causes the others. Pure.
 */
const FAILURE =
  /\b(?:not ok|fail(?:ed|ure|ures|ing|s)?|errors?|exception|panic(?:ked)?|traceback|assert(?:ion)?(?:s|ed)?|assertionerror|expected|undefined|unexpected)\b|[✗✘×●]/i;
const NONE = /\b(?:0|no) (?:fail|error)/i;
const BEFORE = 2;
const AFTER = 8;
const MAX_LINE_CHARS = 500;
const CUT = "[...]";

/** At most about `maxChars` of the text; all of it if it fits. */
export function failingSections(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const lines = text.split("\n").map((line) => line.slice(0, MAX_LINE_CHARS));
  const end = endOf(lines, maxChars / 3);
  const kept: string[] = [];
  let room = maxChars - lines.slice(end).join("\n").length;
  let next = 0;
  for (let at = 0; at < end && room > 0; at += 1) {
    const line = lines[at] ?? "";
    if (!FAILURE.test(line) || NONE.test(line)) continue;
    const from = Math.max(next, at - BEFORE);
    if (from > next) kept.push(CUT);
    for (next = from; next < Math.min(end, at + AFTER + 1) && room > 0; next += 1) {
      kept.push(lines[next] ?? "");
      room -= (lines[next] ?? "").length + 1;
    }
    at = next - 1;
  }
  return [...kept, ...(next < end ? [CUT] : []), ...lines.slice(end)].join("\n");
}

/** The index of the first line of the end. */
function endOf(lines: readonly string[], maxChars: number): number {
  let room = maxChars;
  let at = lines.length;
  while (at > 0 && (room -= (lines[at - 1] ?? "").length + 1) >= 0) at -= 1;
  return at;
}
