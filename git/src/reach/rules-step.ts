/** Follows the goals of a makefile or justfile, once all its includes have been read. */
import { expand, readRules, rulesOf, type RuleBook } from "./rule-book.ts";
import type { Place, Trace } from "./trace.ts";
import { nameFiles, reach } from "./words.ts";

const MAX_GOALS = 500;
const MAX_INCLUDES = 100;

/** @param text null if the file could not be read; the goals of the other files are still followed */
export function followRules(
  text: string | null,
  path: string,
  book: RuleBook,
  place: Place,
  trace: Trace,
): void {
  book.open -= 1;
  if (text !== null) {
    for (const include of readRules(text, book).slice(0, MAX_INCLUDES)) {
      const files = trace.tree.file(place.dir, include);
      for (const file of files === null ? trace.tree.matching(place.dir, include) : [files]) {
        trace.file(file, "config", place);
        if (book.open > MAX_INCLUDES) continue;
        book.open += 1;
        trace.follow({ kind: "rules", path: file, book, place: { ...place, trail: [...place.trail, file] } });
      }
    }
  }
  if (book.open === 0) followGoals(book, path, place, trace);
}

function followGoals(book: RuleBook, path: string, place: Place, trace: Trace): void {
  const shell = book.variables.get("SHELL");
  if (shell !== undefined) reach(shell, "config", place, trace);
  const open = book.goals.length > 0 ? [...book.goals] : [book.first ?? "default"];
  const done = new Set<string>();
  for (let goal = open.shift(); goal !== undefined && done.size < MAX_GOALS; goal = open.shift()) {
    if (done.has(goal)) continue;
    done.add(goal);
    for (const { rule, stem } of rulesOf(goal, book)) {
      const needs = rule.needs.map((need) => need.replace("%", stem));
      open.push(...needs);
      nameFiles(needs, place, trace, null);
      const own = new Map([
        ["@", goal],
        ["<", needs[0] ?? ""],
        ["^", needs.join(" ")],
        ["*", stem],
      ]);
      const inside = place.trail.at(-1) === path ? place : { ...place, trail: [...place.trail, path] };
      for (const line of rule.lines) trace.shell(expand(line.replace(/^[@+-]+\s*/, ""), book, own), inside);
    }
  }
}
