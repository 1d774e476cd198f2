/**
 * Rules of a makefile or a justfile: goals, their dependencies, and the lines they run. Pure.
 *
 * Both sides of a conditional are read. Variables are replaced if their value is written out; the results of make's
 * functions are unknown, except for a few that name places.
 */
import { UNKNOWN } from "./check-tree.ts";

interface Rule {
  readonly needs: readonly string[];
  readonly lines: readonly string[];
}

/** A makefile with all its includes. Goals are looked up once every include has been read. */
export interface RuleBook {
  readonly kind: "make" | "just";
  readonly goals: readonly string[];
  readonly variables: Map<string, string>;
  readonly rules: Map<string, Rule[]>;
  first: string | null;
  /** Number of files that are still to be read. */
  open: number;
}

export function ruleBook(kind: RuleBook["kind"], goals: readonly string[], open: number): RuleBook {
  return { kind, goals, variables: new Map(), rules: new Map(), first: null, open };
}

const MAX_LINES = 20_000;
const MAX_EXPANSIONS = 64;

/** Reads a file into the book. @returns the included files, as written there */
export function readRules(text: string, book: RuleBook): string[] {
  const includes: string[] = [];
  let open: { needs: string[]; lines: string[] } | null = null;
  const lines = text
    .slice(0, 512 * 1024)
    .replace(/\\\r?\n/g, " ")
    .split("\n", MAX_LINES);
  for (const line of lines) {
    if (open !== null && /^(\t|[ ]{2,})\S/.test(line) && (line.startsWith("\t") || book.kind === "just")) {
      open.lines.push(line.trim());
      continue;
    }
    const plain = withoutComment(line).trim();
    if (plain === "") continue;
    open = null;
    if (readVariable(plain, book)) continue;
    const include = /^(?:-|s)?(?:include|import\??|mod\??)\s+(.+)$/.exec(plain);
    if (include !== null) {
      includes.push(...words(expand(include[1] ?? "", book)).map((word) => word.replace(/^['"]|['"]$/g, "")));
      continue;
    }
    const rule = ruleOf(plain, book);
    if (rule === null) continue;
    open = { needs: rule.needs, lines: rule.lines };
    for (const goal of rule.goals) addRule(book, goal, open);
    book.first ??= rule.goals.find((goal) => !goal.startsWith(".")) ?? null;
  }
  return includes;
}

/** Appends in place: a goal may stand in a file thousands of times. */
function addRule(book: RuleBook, goal: string, rule: Rule): void {
  const known = book.rules.get(goal);
  if (known === undefined) book.rules.set(goal, [rule]);
  else known.push(rule);
}

function withoutComment(line: string): string {
  const at = line.search(/(^|\s)#/);
  return at === -1 ? line : line.slice(0, at);
}

function readVariable(line: string, book: RuleBook): boolean {
  const found = /^(?:export\s+|override\s+|define\s+)*([A-Za-z_][\w.-]*)\s*(\+|\?|::?)?=\s*(.*)$/.exec(line);
  if (found === null) return false;
  const [, name = "", kind, value = ""] = found;
  const before = book.variables.get(name);
  if (kind === "?" && before !== undefined) return true;
  const plain = book.kind === "just" ? value.replace(/^(['"])(.*)\1$/, "$2") : value;
  book.variables.set(name, kind === "+" && before !== undefined ? `${before} ${plain}` : plain);
  return true;
}

function ruleOf(line: string, book: RuleBook): { goals: string[]; needs: string[]; lines: string[] } | null {
  const colon = line.indexOf(":");
  if (colon <= 0) return null;
  const [head, ...recipe] = line.slice(colon + 1).split(";");
  const goals = words(expand(line.slice(0, colon), book).replace(/^@/, ""));
  const needs = words(expand((head ?? "").replace(/^:/, ""), book)).filter((need) => need !== "|");
  const goalsOf = book.kind === "just" ? goals.slice(0, 1) : goals;
  return { goals: goalsOf, needs, lines: recipe.length > 0 ? [recipe.join(";").trim()] : [] };
}

/** The rules of a goal, or a matching pattern rule if none has its name. */
export function rulesOf(goal: string, book: RuleBook): readonly { rule: Rule; stem: string }[] {
  const own = book.rules.get(goal);
  const found = (own ?? []).map((rule) => ({ rule, stem: goal }));
  if (found.some(({ rule }) => rule.lines.length > 0)) return found;
  for (const [pattern, rules] of book.rules) {
    const at = pattern.indexOf("%");
    if (at === -1) continue;
    const [before, after] = [pattern.slice(0, at), pattern.slice(at + 1)];
    if (goal.length < before.length + after.length || !goal.startsWith(before) || !goal.endsWith(after))
      continue;
    const stem = goal.slice(before.length, goal.length - after.length);
    found.push(...rules.map((rule) => ({ rule, stem })));
  }
  return found;
}

/** Expands `$(X)`, `${X}`, `$X` and `{{x}}`; `$$` stays for the shell. */
export function expand(text: string, book: RuleBook, own: ReadonlyMap<string, string> = new Map()): string {
  let out = text;
  for (let count = 0; count < MAX_EXPANSIONS && out.length < 16_384; count += 1) {
    const next = out.replace(
      /(?<!\$)\$(?:\(([^()${}]{1,500})\)|\{([^()${}]{1,500})\}|([@<^?*+A-Za-z]))|\{\{\s*([\w-]{1,100})\s*\}\}/g,
      (_whole, round: string | undefined, curly: string | undefined, char: string | undefined, just) =>
        valueOf(round ?? curly ?? char ?? String(just), book, own),
    );
    if (next === out) break;
    out = next;
  }
  return out.replace(/\$\$/g, "$");
}

function valueOf(name: string, book: RuleBook, own: ReadonlyMap<string, string>): string {
  const known = own.get(name) ?? book.variables.get(name);
  if (known !== undefined) return known;
  if (name === "MAKE") return "make";
  if (name === "CURDIR" || name === "PWD" || name === "justfile_directory()") return ".";
  // `wildcard` and the functions that keep names are replaced by their arguments.
  const call = /^(wildcard|sort|abspath|realpath|strip|addprefix|firstword|lastword|shell)\s+(.*)$/.exec(
    name,
  );
  if (call?.[1] === "shell") return `\`${call[2] ?? ""}\``;
  return call === null || call[1] === "addprefix" ? UNKNOWN : (call[2] ?? "");
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
