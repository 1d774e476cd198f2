/** Programs with configuration files of fixed names: which files, and which options name more of them. */
import { nameOf, parentOf } from "./check-tree.ts";
import { nodeModule, pythonModule } from "./modules.ts";
import type { Place, Trace } from "./trace.ts";
import { reach } from "./words.ts";

interface Runner {
  readonly named: RegExp;
  /** By base name, anywhere in the tree, because runners search upwards and downwards. */
  readonly files: RegExp;
  /** Options with a configuration argument: a file, or a module to load. */
  readonly options?: RegExp;
}

const RUNNERS: readonly Runner[] = [
  {
    named: /^(py\.?test|python[0-9.]*|unittest|tox|nox|uv|poetry|coverage|nose2?|hatch|pdm)$/,
    files:
      /^(\.?pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml|noxfile\.py|conftest\.py|\.coveragerc|sitecustomize\.py|usercustomize\.py)$/,
    options: /^(-p|-c|--config-file|--confcutdir|--rcfile|-f|--noxfile)$/,
  },
  {
    named: /^(jest|vitest|mocha|ava|karma|playwright|cypress|tap|jasmine|wtr|uvu|c8|nyc|vite|lab|zora|tape)$/,
    files:
      /^((jest|vitest|vite|karma|ava|playwright|cypress|babel|nyc|tap|web-test-runner|wdio)\.(config|conf)\..*|vitest\.workspace\..*|\.(mocharc|babelrc|nycrc|taprc|swcrc|c8rc).*|mocha\.opts|jasmine\.json)$/,
    options:
      /^(-r|--require|--import|--loader|--file|--config|-c|--setupFiles|--setupFilesAfterEnv|--globalSetup|--reporter|--testRunner|--opts|--package)$/,
  },
  {
    named: /^(rake|rspec|bundle|ruby|minitest)$/,
    files: /^(Rakefile|.*\.rake|\.rspec|\.simplecov)$/,
    options: /^(-f|-r|-I)$/,
  },
  {
    named: /^(prove|perl)$/,
    files: /^(\.proverc|Makefile\.PL|Build\.PL)$/,
    options: /^(-P|--harness|--source)$/,
  },
  { named: /^cargo$/, files: /^(Cargo\.toml|nextest\.toml)$/ },
  { named: /^(mvn|mvnw|mvnd)$/, files: /^(pom\.xml|maven\.config|jvm\.config|extensions\.xml)$/ },
  {
    named: /^(gradle|gradlew)$/,
    files: /^(.*\.gradle(\.kts)?|gradle\.properties|gradle-wrapper\.properties)$/,
  },
  {
    named: /^(cmake|ctest|ninja|meson)$/,
    files: /^(CMakeLists\.txt|.*\.cmake|CMakePresets\.json|meson\.build)$/,
  },
  {
    named: /^(phpunit|pest|php|composer)$/,
    files: /^(phpunit\.xml.*|Pest\.php)$/,
    options: /^(-c|--configuration|--bootstrap)$/,
  },
  { named: /^(task|go-task)$/, files: /^[Tt]askfile(\.dist)?\.ya?ml$/, options: /^(-t|--taskfile)$/ },
  { named: /^pre-commit$/, files: /^\.pre-commit-config\.yaml$/ },
  { named: /^mix$/, files: /^(mix\.exs|\.formatter\.exs|test_helper\.exs)$/ },
  {
    named: /^(eslint|standard|xo|oxlint)$/,
    files: /^(\.eslintrc.*|eslint\.config\..*|\.eslintignore)$/,
    options: /^(-c|--config|--rulesdir|--ignore-path)$/,
  },
  {
    named: /^(bazel|bazelisk|buck2)$/,
    files: /^(BUILD(\.bazel)?|WORKSPACE(\.bazel)?|MODULE\.bazel|\.bazelrc|.*\.bzl)$/,
  },
  {
    named: /^(docker|docker-compose|podman)$/,
    files: /^(Dockerfile.*|(docker-)?compose.*\.ya?ml)$/,
    options: /^(-f|--file)$/,
  },
];

const MAX_FILES = 200;

/** Reports the configuration files of a runner that is known to run. */
export function configureRunner(program: string, place: Place, trace: Trace): void {
  for (const runner of RUNNERS) if (runner.named.test(program)) configFiles(runner, place, trace);
}

/** Reports the configuration that its arguments add. */
export function runnerOptions(program: string, args: readonly string[], place: Place, trace: Trace): void {
  for (const { named, options } of RUNNERS)
    if (options !== undefined && named.test(program)) optionFiles(options, args, place, trace);
  if (program === "go") goPrograms(args, place, trace);
  if (program === "cargo") cargoPackages(args, place, trace);
}

function configFiles(runner: Runner, place: Place, trace: Trace): void {
  const found = trace.tree.paths.filter((path) => runner.files.test(nameOf(path))).slice(0, MAX_FILES);
  for (const path of found) trace.file(path, "config", { ...place, direct: false });
  if (!runner.files.test("Cargo.toml")) return;
  for (const manifest of found) {
    const script = trace.tree.file(parentOf(manifest), "build.rs");
    if (script !== null) trace.file(script, "config", { ...place, direct: false });
  }
}

function optionFiles(options: RegExp, args: readonly string[], place: Place, trace: Trace): void {
  for (let at = 0; at < args.length; at += 1) {
    const [, option = "", joined] = /^(--?[\w-]+)(?:=(.*))?$/.exec(args[at] ?? "") ?? [];
    if (!options.test(option)) continue;
    const value = joined ?? args[at + 1] ?? "";
    if (reach(value, "config", place, trace)) continue;
    const node = nodeModule(trace.tree, place.dir, value).to;
    const module = node ?? pythonModule(trace.tree, place.dir, value).to;
    if (module !== null) trace.file(module, "config", place);
  }
}

/** `go run ./tools/check` runs all files of the package. */
function goPrograms(args: readonly string[], place: Place, trace: Trace): void {
  if (args[0] !== "run") return;
  for (const arg of args.slice(1)) {
    const directory = trace.tree.directory(place.dir, arg);
    if (directory === null) continue;
    for (const path of trace.tree.below(directory).slice(0, MAX_FILES))
      if (path.endsWith(".go")) trace.file(path, "run", { ...place, direct: false });
  }
}

/** `cargo xtask` is an alias that runs a package of the workspace. */
function cargoPackages(args: readonly string[], place: Place, trace: Trace): void {
  const verb = args.find((arg) => !arg.startsWith("-") && !arg.startsWith("+")) ?? "";
  const at = args.findIndex((arg) => arg === "-p" || arg === "--package" || arg === "--bin");
  for (const name of [verb, at === -1 ? "" : (args[at + 1] ?? "")]) {
    const directory = /^[\w-]+$/.test(name) ? trace.tree.directory("", name) : null;
    if (directory === null || verb === "test") continue;
    for (const path of trace.tree.below(directory).slice(0, MAX_FILES))
      trace.file(path, "run", { ...place, direct: false });
  }
}
