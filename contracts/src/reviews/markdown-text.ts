/** Texts of agents and other people in a Markdown file. They are data, so they hold no markup of their own. Pure. */

export function markdownText(given: string): string {
  return given.replace(/[\\`*_[\]<>#|!~]/g, "\\$&").trim();
}

/** In one line, and cut. */
export function inlineMarkdown(given: string): string {
  return markdownText(given.replace(/\s+/g, " ")).slice(0, 500);
}
