/**
 * Splits shell text into simple commands, as far as file names need it. Pure.
 *
 * It is not a shell: both branches of an `if` are read, a loop is read once, and text that only a run can know is
 * UNKNOWN. Quotes, comments, redirections, substitutions and variables are read as a shell reads them.
 */
import { absolute, parentOf, UNKNOWN } from "./check-tree.ts";

export interface ShellCommand {
  readonly words: readonly string[];
  readonly assignments: ReadonlyMap<string, string>;
  /** Files redirected into it. */
  readonly inputs: readonly string[];
}

export interface ShellScope {
  dir: string;
  /** The file of the script; null for text on a command line. */
  readonly script: string | null;
  readonly variables: Map<string, string>;
}

/** Called for each command in order; a `cd` changes the scope. Returns the printed text if it is known. */
export type OnCommand = (command: ShellCommand, scope: ShellScope) => string | null;

const MAX_TEXT = 256 * 1024;
const MAX_DEPTH = 8;
const MAX_WORD = 4096;
const MAX_COMMANDS = 2000;
const MAX_DOCUMENTS = 200;

const BLANK = new Set([" ", "\t", "\r"]);
const OPERATORS = new Set(["\n", ";", "&", "|", "(", ")"]);

export function readShell(text: string, scope: ShellScope, onCommand: OnCommand, depth = 0): string | null {
  if (depth > MAX_DEPTH) return null;
  return new ShellReader(text.slice(0, MAX_TEXT), scope, onCommand, depth).read();
}

class ShellReader {
  readonly #text: string;
  readonly #scope: ShellScope;
  readonly #onCommand: OnCommand;
  readonly #depth: number;
  readonly #outer: string[] = [];
  #at = 0;
  #words: string[] = [];
  #inputs: string[] = [];
  #commands = 0;
  #documents = 0;
  #printed: string | null = null;

  constructor(text: string, scope: ShellScope, onCommand: OnCommand, depth: number) {
    this.#text = text;
    this.#scope = scope;
    this.#onCommand = onCommand;
    this.#depth = depth;
  }

  read(): string | null {
    while (this.#at < this.#text.length && this.#commands < MAX_COMMANDS) {
      const char = this.#text[this.#at] ?? "";
      if (BLANK.has(char)) this.#at += 1;
      else if (char === "#") this.#skipLine();
      else if (OPERATORS.has(char)) this.#operator(char);
      else if (char === "<" || char === ">") this.#redirection();
      else this.#words.push(this.#word());
    }
    this.#end();
    return this.#printed;
  }

  #skipLine(): void {
    const end = this.#text.indexOf("\n", this.#at);
    this.#at = end === -1 ? this.#text.length : end;
  }

  #operator(char: string): void {
    this.#at += 1;
    this.#end();
    if (char === "(") this.#outer.push(this.#scope.dir);
    else if (char === ")") this.#scope.dir = this.#outer.pop() ?? this.#scope.dir;
  }

  /** `2>&1`, `> out`, `< in`, `<< END`, `<(command)`: only inputs count. */
  #redirection(): void {
    if (/^\d$/.test(this.#words.at(-1) ?? "") && this.#text[this.#at - 1] === this.#words.at(-1)) {
      this.#words.pop();
    }
    const operator =
      /^(<<<|<<-?|<&|<>|<|>>|>&|>\||>)/.exec(this.#text.slice(this.#at, this.#at + 3))?.[0] ?? "<";
    this.#at += operator.length;
    if (this.#text[this.#at] === "(") return; // The inner command is read separately.
    while (BLANK.has(this.#text[this.#at] ?? "")) this.#at += 1;
    const target = this.#word();
    if (operator === "<") this.#inputs.push(target);
    else if (operator.startsWith("<<") && operator !== "<<<") this.#skipHereDocument(target);
  }

  /** Skips the lines of a here-document, which are data. The rest of its first line is still read. */
  #skipHereDocument(end: string): void {
    const lineEnd = this.#text.indexOf("\n", this.#at);
    this.#documents += 1;
    if (lineEnd === -1 || end === "" || this.#documents > MAX_DOCUMENTS) return;
    const close = this.#text.indexOf(`\n${end}\n`, lineEnd);
    const last = close === -1 && this.#text.endsWith(`\n${end}`) ? this.#text.length : close;
    if (last === -1) return;
    readShell(this.#text.slice(this.#at, lineEnd), this.#scope, this.#onCommand, this.#depth + 1);
    this.#at = Math.min(this.#text.length, last + end.length + 1);
  }

  #end(): void {
    const words = this.#words;
    const inputs = this.#inputs;
    this.#words = [];
    this.#inputs = [];
    if (words.length === 0 && inputs.length === 0) return;
    this.#commands += 1;
    const assignments = new Map<string, string>();
    for (let first = words[0]; first !== undefined; first = words[0]) {
      const assignment = /^([A-Za-z_][A-Za-z0-9_]*)\+?=([^]*)$/.exec(first);
      if (assignment === null) break;
      assignments.set(assignment[1] ?? "", assignment[2] ?? "");
      words.shift();
    }
    if (words.length === 0) for (const [name, value] of assignments) this.#scope.variables.set(name, value);
    this.#printed = this.#onCommand({ words, assignments, inputs }, this.#scope);
  }

  #word(): string {
    let word = "";
    const from = this.#at;
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at] ?? "";
      if (BLANK.has(char) || OPERATORS.has(char) || char === "<" || char === ">") break;
      if (char === "'") word += this.#upTo("'");
      else if (char === '"') word += this.#doubleQuoted();
      else word += this.#piece(char);
    }
    // A character that belongs to no word must not stop the reader.
    if (this.#at === from) this.#at += 1;
    return word.slice(0, MAX_WORD);
  }

  #piece(char: string): string {
    if (char === "$") return this.#dollar();
    if (char === "`") return this.#printedBy(this.#upTo("`"));
    this.#at += 1;
    if (char !== "\\") return char;
    const next = this.#text[this.#at] ?? "";
    this.#at += 1;
    return next === "\n" ? "" : next;
  }

  #upTo(close: string): string {
    const end = this.#text.indexOf(close, this.#at + 1);
    const inside = this.#text.slice(this.#at + 1, end === -1 ? this.#text.length : end);
    this.#at = end === -1 ? this.#text.length : end + 1;
    return inside;
  }

  #doubleQuoted(): string {
    let inside = "";
    this.#at += 1;
    while (this.#at < this.#text.length && this.#text[this.#at] !== '"') {
      inside += this.#piece(this.#text[this.#at] ?? "");
    }
    this.#at += 1;
    return inside;
  }

  #dollar(): string {
    const next = this.#text[this.#at + 1] ?? "";
    if (next === "(" || next === "{") return this.#bracketed(next);
    const name = /^(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?!$-])/.exec(
      this.#text.slice(this.#at + 1, this.#at + 101),
    )?.[0];
    this.#at += 1 + (name?.length ?? 0);
    if (name === undefined) return next === "'" || next === '"' ? "" : "$";
    return this.#variable(name);
  }

  #bracketed(open: string): string {
    const start = this.#at + 2;
    const end = closing(this.#text, start, open, open === "(" ? ")" : "}");
    const inside = this.#text.slice(start, end);
    this.#at = end + 1;
    return open === "(" ? this.#printedBy(inside) : this.#parameter(inside);
  }

  #printedBy(command: string): string {
    const scope = { ...this.#scope, variables: new Map(this.#scope.variables) };
    return readShell(command, scope, this.#onCommand, this.#depth + 1) ?? UNKNOWN;
  }

  /** `NAME`, `NAME:-default`, `NAME%/*`. */
  #parameter(inside: string): string {
    const [, name = "", operator = "", rest = ""] =
      /^([A-Za-z_][A-Za-z0-9_]*|[0-9@*])(?:\[[^\]]*\])?(:?[-=+?]|%%?|##?)?([^]*)$/.exec(inside) ?? [];
    const value = this.#variable(name);
    if (/^:?[-=]$/.test(operator)) return value === UNKNOWN || value === "" ? rest : value;
    if (operator === "%" && rest === "/*" && value !== UNKNOWN) return parentOf(value);
    return operator === "" && rest === "" ? value : UNKNOWN;
  }

  #variable(name: string): string {
    const { script, dir, variables } = this.#scope;
    if (name === "0" || name === "BASH_SOURCE") return script === null ? UNKNOWN : absolute(script);
    if (name === "PWD") return absolute(dir);
    return variables.get(name) ?? UNKNOWN;
  }
}

/** Index of the bracket that closes the one before `from`. Skips quoted text. */
function closing(text: string, from: number, open: string, close: string): number {
  let depth = 1;
  for (let at = from; at < text.length; at += 1) {
    const char = text[at];
    if (char === "\\") at += 1;
    else if (char === "'") {
      const end = text.indexOf("'", at + 1);
      if (end !== -1) at = end;
    } else if (char === open) depth += 1;
    else if (char === close) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return text.length;
}
