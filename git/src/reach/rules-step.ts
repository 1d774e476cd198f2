/** Follows the goals of a makefile or justfile, once all its includes have been read. */
import { literalGlob } from "../patch/glob.ts";
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
      const absent = files === null && !/[*?%]/.test(include) ? trace.tree.place(place.dir, include) : null;
      if (absent !== null && absent !== "" && !trace.tree.has(absent))
        trace.missing(literalGlob(absent), `${path} includes it if it is there`);
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
    unmade(goal, book, place, trace);
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

/** A name that is written out: no variable, pattern or path from the root is left in it. */
const PLAIN_GOAL = /^[\w.][\w.+@-]*(?:\/[\w.+@-]+)*$/;

/** make takes a file or a directory with the name of a goal for the made goal, and runs nothing: also a stamp, or an object. */
function unmade(goal: string, book: RuleBook, place: Place, trace: Trace): void {
  if (book.kind !== "make" || !PLAIN_GOAL.test(goal)) return;
  if (!rulesOf(goal, book).some(({ rule }) => rule.lines.length + rule.needs.length > 0)) return;
  if (book.rules.get(".PHONY")?.some(({ needs }) => needs.includes(goal)) === true) return;
  const path = trace.tree.place(place.dir, goal);
  if (path === null || trace.tree.has(path) || trace.tree.directory("", path) !== null) return;
  trace.missing(literalGlob(path), `make would take it for the made goal ${goal}`); // And what is below it.
}
