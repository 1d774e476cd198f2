/** Interpreters that run a script, a module or inline code, and their options that load code first. */
import { nodeModule, pythonModule } from "./modules.ts";
import { setUp } from "./setup-keys.ts";
import type { Place, Trace } from "./trace.ts";
import { nameFiles, reach } from "./words.ts";

interface Interpreter {
  readonly named: RegExp;
  /** Options that load code first. */
  readonly preload: RegExp;
  /** Options whose argument is code. */
  readonly code: RegExp;
  /** Options with any other argument. */
  readonly value: RegExp;
  readonly language: "node" | "python" | "other";
  /** Words that may come before the script. */
  readonly verbs?: RegExp;
}

const NEVER = /^\b$/;

const INTERPRETERS: readonly Interpreter[] = [
  {
    named: /^(node|nodejs|tsx|ts-node|ts-node-esm|swc-node|babel-node|electron|esr|jiti|vite-node|deno|bun)$/,
    preload:
      /^(-r|--require|--import|--loader|--experimental-loader|--preload|--env-file|--config|--import-map|--test-reporter|--test-global-setup|--experimental-config-file|-c)$/,
    code: /^(-e|--eval|-p|--print|-pe)$/,
    value:
      /^(-C|--conditions|--title|--test-name-pattern|--test-concurrency|--test-timeout|--input-type|-O|-P|--project)$/,
    language: "node",
    verbs: /^(run|test|x|watch)$/,
  },
  {
    named: /^(python[0-9.]*|pypy[0-9.]*|coverage|ipython)$/,
    preload: NEVER,
    code: /^-[a-zA-Z]*c$/,
    value: /^-[WXQ]$/,
    language: "python",
    verbs: /^run$/,
  },
  {
    named: /^(ruby|jruby|rspec)$/,
    preload: /^(-r|--require|-O|--options)$/,
    code: /^-e$/,
    value: /^(-C|-f|--format)$/,
    language: "other",
  },
  { named: /^perl[0-9.]*$/, preload: /^-[mM]$/, code: /^-[a-zA-Z]*[eE]$/, value: NEVER, language: "other" },
  {
    named:
      /^(php[0-9.]*|phpunit|pest|lua|luajit|Rscript|groovy|julia|elixir|tclsh|osascript|escript|guile|bats)$/,
    preload: /^(-c|-d|--bootstrap|--configuration|-l|--require)$/,
    code: /^(-e|--eval)$/,
    value: NEVER,
    language: "other",
  },
];

/** @returns false if the program is not an interpreter of the table */
export function runInterpreter(
  program: string,
  args: readonly string[],
  place: Place,
  trace: Trace,
): boolean {
  const kind = INTERPRETERS.find(({ named }) => named.test(program));
  // `bun run x` and `deno task x` run scripts of a manifest. The task runners also follow these.
  if (kind === undefined) return false;
  let at = 0;
  for (; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    const next = args[at + 1] ?? "";
    if (kind.language === "python" && /^-[a-zA-Z]*m$/.test(arg)) {
      pythonMain(next, args.slice(at + 2), place, trace);
      return true;
    }
    const joined = /^(--[\w-]+)=(.*)$/.exec(arg);
    if (kind.preload.test(joined?.[1] ?? arg)) {
      preload(joined?.[2] ?? next, kind, place, trace);
      if (joined === null) at += 1;
    } else if (kind.code.test(arg)) {
      trace.source(next, { from: null, language: kind.language, place });
      at += 1;
    } else if (kind.value.test(arg)) at += 1;
    else if (/^-r.+/.test(arg) && kind.preload.test("-r")) preload(arg.slice(2), kind, place, trace);
    else if (!arg.startsWith("-") && kind.verbs?.test(arg) !== true) break;
  }
  scripts(
    args.slice(at),
    args.includes("--test") || /^(bats|rspec|phpunit|pest)$/.test(program),
    kind,
    place,
    trace,
  );
  return true;
}

/** The first word is run as a script. Later words are named, unless the interpreter runs all of them as tests. */
function scripts(
  words: readonly string[],
  all: boolean,
  kind: Interpreter,
  place: Place,
  trace: Trace,
): void {
  const [script = "", ...rest] = words;
  if (script === "") return;
  for (const word of all ? words : [script]) {
    if (reach(word, "run", place, trace)) continue;
    const module = kind.language === "node" ? nodeModule(trace.tree, place.dir, `./${word}`) : null;
    const main = kind.language === "python" ? trace.tree.file(place.dir, `${word}/__main__.py`) : null;
    const found = module?.to ?? main;
    if (found != null) trace.file(found, "run", place);
    else nameFiles([word], place, trace, null);
  }
  if (!all) nameFiles(rest, place, trace, null);
}

function preload(name: string, kind: Interpreter, place: Place, trace: Trace): void {
  const found = trace.tree.file(place.dir, name) ?? trace.tree.file(place.dir, `${name}.rb`);
  const module =
    kind.language === "node" && found === null ? nodeModule(trace.tree, place.dir, name).to : null;
  const path = found ?? module;
  if (path !== null) setUp(path, place, trace);
}

/** `python -m pkg.mod` imports the packages of the path, then runs the module or its `__main__`. */
function pythonMain(module: string, args: readonly string[], place: Place, trace: Trace): void {
  const [main = ""] = module.split(".");
  trace.program(main, place);
  const { packages, to } = pythonModule(trace.tree, place.dir, module);
  for (const path of packages) trace.file(path, "run", place);
  const target = to ?? trace.tree.file(place.dir, `${module.replaceAll(".", "/")}/__main__.py`);
  if (target !== null) {
    trace.file(target, "run", place);
    nameFiles(args, place, trace, null);
  } else if (module === "coverage") runInterpreter("coverage", args, place, trace);
  else trace.start([module, ...args], place);
}
