/** Programs that run commands written in a file of the repository, such as package managers, make and just. */
import { MAKEFILES } from "../inspection/checks.ts";
import { parentOf } from "./check-tree.ts";
import { ruleBook } from "./rule-book.ts";
import type { Place, Trace } from "./trace.ts";
import { localBinary } from "./words.ts";

export function runTaskRunner(program: string, args: readonly string[], place: Place, trace: Trace): void {
  if (/^(npm|pnpm|yarn|bun|composer|deno)$/.test(program)) packageManager(program, args, place, trace);
  else if (/^(npm-run-all2?|run-[sp]|concurrently|wireit)$/.test(program)) manyScripts(args, place, trace);
  else if (/^(turbo|nx|lerna|rush|wsrun)$/.test(program)) everyPackage(args, place, trace);
  else if (/^g?make$/.test(program)) make(args, place, trace);
  else if (program === "just") just(args, place, trace);
}

const INSTALLS = /^(install|i|ci|add|clean-install|rebuild|update)$/;
const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall", "prepublish", "prepare"];

function packageManager(program: string, args: readonly string[], from: Place, trace: Trace): void {
  let place = from;
  let everywhere = false;
  const words: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const [option = "", joined] = (args[at] ?? "").split("=", 2);
    if (/^(--prefix|-C|--cwd|--dir|-d|--working-dir)$/.test(option)) {
      const value = joined ?? args[(at += 1)] ?? "";
      const dir = trace.tree.directory(place.dir, value);
      if (dir !== null) place = { ...place, dir };
    } else if (
      /^(-w|--workspace|--workspaces|-ws|-r|--recursive|--filter|-F|workspaces?|foreach)$/.test(option)
    ) {
      everywhere = true;
      if (/^(-w|--workspace|--filter|-F)$/.test(option) && joined === undefined) at += 1;
    } else if (option === "--") {
      words.push(...args.slice(at + 1));
      break;
    } else if (!option.startsWith("-")) words.push(args[at] ?? "");
  }
  const [verb = "", ...rest] = words;
  if (/^(exec|x|dlx)$/.test(verb)) {
    localBinary(rest[0] ?? "", place, trace);
    return trace.start(rest, place);
  }
  const names = scriptNames(program, verb, rest);
  for (const manifest of everywhere ? manifests(trace) : nearest(place.dir, program, trace))
    trace.follow({ kind: "scripts", path: manifest, names, place: { ...place, dir: parentOf(manifest) } });
  // `yarn jest` and `pnpm jest` start a binary if no script has the name.
  if (/^(yarn|pnpm|bun)$/.test(program) && !/^(run|test)$/.test(verb) && !INSTALLS.test(verb))
    trace.start(words, place);
}

function scriptNames(program: string, verb: string, rest: readonly string[]): readonly string[] {
  if (INSTALLS.test(verb) || (verb === "" && program === "yarn")) return INSTALL_SCRIPTS;
  if (/^(run|run-script|rum|urn|task)$/.test(verb)) return rest.slice(0, 1);
  if (/^(t|tst)$/.test(verb)) return ["test"];
  if (verb === "cit" || verb === "install-test" || verb === "it") return [...INSTALL_SCRIPTS, "test"];
  return [verb];
}

function manyScripts(args: readonly string[], place: Place, trace: Trace): void {
  const names = args.filter((arg) => !arg.startsWith("-")).map((arg) => arg.replace(/^npm:/, ""));
  for (const manifest of nearest(place.dir, "npm", trace))
    trace.follow({ kind: "scripts", path: manifest, names, place: { ...place, dir: parentOf(manifest) } });
  for (const arg of args) if (/^\S+ \S/.test(arg)) trace.start(arg.split(/\s+/), place);
}

function everyPackage(args: readonly string[], place: Place, trace: Trace): void {
  const names = args.filter((arg) => /^[\w:-]+$/.test(arg) && !arg.startsWith("-") && arg !== "run");
  for (const manifest of manifests(trace))
    trace.follow({ kind: "scripts", path: manifest, names, place: { ...place, dir: parentOf(manifest) } });
}

function manifests(trace: Trace): readonly string[] {
  return trace.tree.paths.filter((path) => /(^|\/)package\.json$/.test(path)).slice(0, 100);
}

/** The manifest of the directory, or of the nearest directory above that has one. */
function nearest(dir: string, program: string, trace: Trace): readonly string[] {
  const name = program === "composer" ? "composer.json" : "package.json";
  for (let at = dir; ; at = parentOf(at)) {
    const path = trace.tree.file(at, name);
    if (path !== null) return [path];
    if (at === "") return [];
  }
}

function make(args: readonly string[], from: Place, trace: Trace): void {
  let place = from;
  const files: string[] = [];
  const goals: string[] = [];
  const variables = new Map<string, string>();
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    const dir = /^(?:-C(.*)|--directory(?:=(.*))?)$/.exec(arg);
    const file = /^(?:-f(.*)|--(?:make)?file(?:=(.*))?)$/.exec(arg);
    if (dir !== null) {
      const value = dir[1] || dir[2] || (args[(at += 1)] ?? "");
      const directory = trace.tree.directory(place.dir, value);
      if (directory !== null) place = { ...place, dir: directory };
    } else if (file !== null) files.push(file[1] || file[2] || (args[(at += 1)] ?? ""));
    else if (/^-[jloWI]$/.test(arg)) at += /^\d/.test(args[at + 1] ?? "") || arg === "-I" ? 1 : 0;
    else if (/^[A-Za-z_]\w*\+?=/.test(arg))
      variables.set(arg.split(/\+?=/, 1)[0] ?? "", arg.slice(arg.indexOf("=") + 1));
    else if (!arg.startsWith("-")) goals.push(arg);
  }
  const own = MAKEFILES.find((name) => trace.tree.file(place.dir, name) !== null);
  const wanted = (files.length > 0 ? files : own === undefined ? [] : [own])
    .map((file) => trace.tree.file(place.dir, file))
    .filter((file) => file !== null);
  const book = ruleBook("make", goals, wanted.length);
  for (const [name, value] of variables) book.variables.set(name, value);
  for (const path of wanted) {
    trace.file(path, "config", place);
    trace.follow({
      kind: "rules",
      path,
      book,
      place: { ...place, direct: false, trail: [...place.trail, path] },
    });
  }
}

function just(args: readonly string[], from: Place, trace: Trace): void {
  const at = args.findIndex((arg) => /^(-f|--justfile)$/.test(arg));
  const named = at === -1 ? null : trace.tree.file(from.dir, args[at + 1] ?? "");
  const path =
    named ??
    trace.tree.paths.find((name) => /^\.?justfile$/i.test(name)) ??
    trace.tree.file(from.dir, "justfile");
  if (path === null) return;
  const goals = args.filter((arg, i) => /^[A-Za-z_][\w-]*$/.test(arg) && (at === -1 || i !== at + 1));
  trace.file(path, "config", from);
  const place = { dir: parentOf(path), direct: false, trail: [...from.trail, path] };
  trace.follow({ kind: "rules", path, book: ruleBook("just", goals, 1), place });
}
