/** Follows one program and its arguments: what it runs, and which files of the tree its command line names. */
import { nameOf, UNKNOWN } from "./check-tree.ts";
import { runInterpreter } from "./interpreters.ts";
import { runTaskRunner } from "./task-runners.ts";
import { runnerOptions } from "./test-runners.ts";
import type { Place, Trace } from "./trace.ts";
import { localBinary, nameFiles, reach } from "./words.ts";

const SHELLS = new Set(["sh", "bash", "dash", "zsh", "ksh", "ash", "busybox"]);

/** Programs that start the command after their own options. Some need a word before it. */
const WRAPPERS: Readonly<Record<string, readonly string[]>> = {
  env: [],
  nice: [],
  nohup: [],
  timeout: [],
  stdbuf: [],
  xargs: [],
  sudo: [],
  unbuffer: [],
  "xvfb-run": [],
  "cross-env": [],
  dotenv: [],
  ionice: [],
  taskset: [],
  chrt: [],
  setsid: [],
  strace: [],
  faketime: [],
  npx: [],
  bunx: [],
  pnpx: [],
  poetry: ["run"],
  pipenv: ["run"],
  uv: ["run"],
  uvx: [],
  hatch: ["run"],
  pdm: ["run"],
  rye: ["run"],
  pixi: ["run"],
  bundle: ["exec"],
  c8: [],
  nyc: [],
};

/** Programs that start their own command, even on the command line of an unknown program. */
const STARTERS =
  /^(npm|pnpm|yarn|make|gmake|just|pytest|tox|nox|mocha|jest|vitest|cargo|go|mvn|gradle|node|python[0-9.]*|sh|bash|perl|ruby|php|deno|bun)$/;

/** Programs that compare with their file arguments or read their program from them. */
const READERS = new Set([
  "diff",
  "cmp",
  "comm",
  "sha256sum",
  "md5sum",
  "sha1sum",
  "jq",
  "awk",
  "sed",
  "gawk",
]);
const READS_ARGUMENT: Readonly<Record<string, RegExp>> = {
  jq: /^(-f|--from-file)$/,
  awk: /^(-f|--file)$/,
  gawk: /^(-f|--file)$/,
  sed: /^(-f|--file)$/,
};

export function startProgram(words: readonly string[], place: Place, trace: Trace): void {
  const [word = "", ...args] = words;
  const program = nameOf(word).replace(/\.(exe|cmd)$/, "");
  const own = trace.tree.file(place.dir, word);
  const executed = own !== null && word.includes("/") ? own : null;
  if (executed !== null) trace.file(executed, "run", place);
  if (program !== "" && !program.includes(UNKNOWN)) trace.program(program, place);
  if (SHELLS.has(program) && executed === null) return shell(args, place, trace);
  const inner = WRAPPERS[program];
  if (inner !== undefined) return wrapped(program, args, inner, place, trace);
  if (runInterpreter(program, args, place, trace)) return;
  runTaskRunner(program, args, place, trace);
  runnerOptions(program, args, place, trace);
  const option = READS_ARGUMENT[program];
  const compared = READERS.has(program) ? (option ?? /^/) : null;
  nameFiles(args, place, trace, compared, option !== undefined);
  const later = args.findIndex((arg) => STARTERS.test(arg));
  if (later >= 0 && !STARTERS.test(program)) startProgram(args.slice(later), place, trace);
}

/** `sh [options] file` and `sh -c text`. */
function shell(args: readonly string[], place: Place, trace: Trace): void {
  let at = 0;
  for (; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    if (/^-[a-zA-Z]*c$/.test(arg)) return trace.shell(args[at + 1] ?? "", place);
    if (arg === "--rcfile" || arg === "--init-file") {
      const path = trace.tree.file(place.dir, args[at + 1] ?? "");
      if (path !== null) trace.file(path, "config", place);
      at += 1;
    } else if (arg === "-o") at += 1;
    else if (!arg.startsWith("-") && !arg.startsWith("+") && !SHELLS.has(arg)) break;
  }
  const [script = "", ...rest] = args.slice(at);
  reach(script, "run", place, trace, true);
  nameFiles(rest, place, trace, null);
  // A script may start the command that follows it.
  if (STARTERS.test(rest[0] ?? "")) trace.start(rest, place);
}

function wrapped(
  program: string,
  args: readonly string[],
  verbs: readonly string[],
  place: Place,
  trace: Trace,
): void {
  const rest = [...args];
  if (verbs.length > 0) {
    const verb = rest.findIndex((arg) => verbs.includes(arg));
    if (verb === -1) return nameFiles(args, place, trace, null);
    rest.splice(0, verb + 1);
  }
  while (rest.length > 0) {
    const first = rest[0] ?? "";
    const assignment = /^(NODE_OPTIONS|BASH_ENV|PYTHONPATH|[A-Za-z_]\w*)=(.*)$/.exec(first);
    if (assignment !== null) {
      if (assignment[1] === "NODE_OPTIONS")
        startProgram(["node", ...(assignment[2] ?? "").split(/\s+/)], place, trace);
    } else if (!/^(-|\d+[smhd]?$)/.test(first)) break;
    rest.shift();
  }
  if (/^(npx|bunx|pnpx|uvx)$/.test(program)) localBinary(rest[0] ?? "", place, trace);
  if (rest.length > 0) startProgram(rest, place, trace);
}
