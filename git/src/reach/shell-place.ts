/** Follows shell text: its directory changes, the text it prints into other commands, and the commands it starts. */
import { absolute, nameOf, parentOf, UNKNOWN } from "./check-tree.ts";
import { readShell, type ShellCommand, type ShellScope } from "./shell-text.ts";
import type { Place, Trace } from "./trace.ts";
import { nameFiles } from "./words.ts";

/** Shell keywords before a command, and commands that start another one unchanged. */
const BEFORE = new Set([
  "if",
  "then",
  "else",
  "elif",
  "do",
  "while",
  "until",
  "!",
  "{",
  "}",
  "exec",
  "command",
  "builtin",
  "time",
]);
/** Commands that print or remove something. Their arguments are not part of the check. */
const SILENT = new Set([
  "echo",
  "printf",
  "mkdir",
  "rm",
  "touch",
  "export",
  "set",
  "unset",
  "exit",
  "true",
  "false",
  "done",
  "fi",
  "esac",
  "local",
  "return",
  "trap",
  "kill",
  "sleep",
]);

export function followShell(text: string, place: Place, trace: Trace, script: string | null = null): void {
  const scope: ShellScope = { dir: place.dir, script, variables: new Map() };
  readShell(text, scope, (command, inner) => onCommand(command, inner, place, trace));
}

function onCommand(command: ShellCommand, scope: ShellScope, from: Place, trace: Trace): string | null {
  const place = { ...from, dir: scope.dir };
  for (const input of command.inputs) {
    const path = trace.tree.file(scope.dir, input);
    if (path !== null) trace.file(path, "input", place);
  }
  const words = [...command.words];
  while (BEFORE.has(words[0] ?? "")) words.shift();
  const [program = "", ...args] = words;
  if (program === "for") return loop(args, scope, place, trace);
  if (program === "export") return exported(args, scope, place, trace);
  for (const [name, value] of command.assignments) preloads(name, value, place, trace);
  if (program === "") return null;
  const printed = printedBy(program, args, scope, trace);
  if (printed !== undefined) return printed;
  if (program === "." || program === "source") {
    const path = trace.tree.file(scope.dir, args[0] ?? "");
    if (path !== null) trace.file(path, "run", place, true);
    return null;
  }
  if (program === "eval") {
    trace.shell(args.join(" "), place, scope.script);
    return null;
  }
  if (!SILENT.has(program)) trace.start([program, ...args], place);
  return null;
}

/** `for f in a b`: the words are named, and the body may start each of them. */
function loop(args: readonly string[], scope: ShellScope, place: Place, trace: Trace): null {
  const [name = "", , ...items] = args;
  scope.variables.set(name, items.length === 1 ? (items[0] ?? UNKNOWN) : UNKNOWN);
  nameFiles(items, place, trace, null);
  return null;
}

function exported(args: readonly string[], scope: ShellScope, place: Place, trace: Trace): null {
  for (const arg of args) {
    const at = arg.indexOf("=");
    if (at <= 0) continue;
    scope.variables.set(arg.slice(0, at), arg.slice(at + 1));
    preloads(arg.slice(0, at), arg.slice(at + 1), place, trace);
  }
  return null;
}

/** Variables that load code into a started program. */
function preloads(name: string, value: string, place: Place, trace: Trace): void {
  if (name === "PATH") for (const dir of value.split(":").slice(0, 20)) searched(dir, place, trace);
  if (name === "NODE_OPTIONS") trace.start(["node", ...value.split(/\s+/)], place);
  else if (name === "PYTEST_ADDOPTS") trace.start(["pytest", ...value.split(/\s+/)], place);
  else if (name === "PERL5OPT") trace.start(["perl", ...value.split(/\s+/)], place);
  else if (name === "RUBYOPT") trace.start(["ruby", ...value.split(/\s+/)], place);
  else if (["BASH_ENV", "ENV", "PYTHONSTARTUP", "LD_PRELOAD", "MAKEFILES"].includes(name)) {
    const path = trace.tree.file(place.dir, value);
    if (path !== null) trace.file(path, "config", place);
  }
}

/** Commands that print a place, and `cd`, which changes it. Undefined for any other command. */
function printedBy(
  program: string,
  args: readonly string[],
  scope: ShellScope,
  trace: Trace,
): string | null | undefined {
  const [first = "", second = ""] = args.filter((arg) => !arg.startsWith("-"));
  switch (program) {
    case "cd":
    case "pushd": {
      const directory = trace.tree.directory(scope.dir, first);
      if (directory !== null) scope.dir = directory;
      return null;
    }
    case "pwd":
      return absolute(scope.dir);
    case "dirname":
      return first.includes(UNKNOWN) ? null : parentOf(first) || ".";
    case "basename":
      return first.includes(UNKNOWN) ? null : nameOf(first);
    case "realpath":
    case "readlink":
      return first.includes(UNKNOWN) ? null : first;
    case "git":
      return first === "rev-parse" && args.includes("--show-toplevel")
        ? absolute("")
        : second === ""
          ? null
          : undefined;
    default:
      return undefined;
  }
}

/** A new file in a directory of PATH is started instead of a program of the image that the check names. */
function searched(word: string, place: Place, trace: Trace): void {
  const dir = word === "" ? null : trace.tree.directory(place.dir, word);
  if (dir !== null) trace.searched(dir);
}
