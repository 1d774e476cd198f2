/** Far more than an event or the schema of a tool has, and shallow enough to recurse over. */
export const MAX_DEPTH = 128;

/** Whether JSON nests deeper than `MAX_DEPTH` levels. It scans the text, so that code that walks the parsed value may recurse. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (isString) {
      if (char === "\\") at += 1;
      else if (char === '"') isString = false;
    } else if (char === '"') isString = true;
    else if (char === "{" || char === "[") {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (char === "}" || char === "]") depth -= 1;
  }
  return false;
}
