/**
 * Decides by name and place on which side of a check a file is: it judges (tests, their data, tools, configuration) or it
 * is judged (sources and documents). Pure. No other module decides this.
 */
import { isConfiguration } from "./places.ts";

export const CODE =
  "([mc]?[jt]sx?|py|pyi|rb|go|rs|java|kts?|scala|groovy|cs|fs|vb|swift|php|phpt|lua|dart|coffee|clj[cs]?|exs?|erl|hs|ml|jl|r|R|pl|pm|t|sh|bash|bats|c|cc|cpp|cxx|h|hpp|m|mm|zig|nim|vue|svelte|feature|sql|ps1)";
const DOCUMENT = /\.(md|mdx|rst|adoc|markdown|html?)$/i;

/** Test file names in many languages. A `spec` file that is not code is a document. */
const TEST_NAMES: readonly RegExp[] = [
  /(^|\/)[^/]+[._-](test|tests)\.[^/]+$/i,
  /(^|\/)(test|tests)_[^/]*\.[^/]+$/i,
  /(^|\/)[^/]*_(test|tests)\.[^/]+$/i,
  /(^|\/)[^/]+(Test|Tests|TestCase|IT|Spec)\.(java|kt|kts|scala|groovy|cs|swift|php)$/,
  /(^|\/)(test|tests)\.[^/]+$/i,
  // Tests of types: tsd and Vitest, TSTyche.
  /(^|\/)[^/]+\.(?:(?:test|spec)-d|tst)\.[cm]?[jt]sx?$/i,
  new RegExp(`(^|/)[^/]+[._-](spec|specs|cy|e2e)\\.${CODE}$`, "i"),
  new RegExp(`(^|/)spec(s|_[^/]*|)\\.${CODE}$`, "i"),
];

/** Directories of tests and their data, at any depth. */
const TEST_DIRECTORIES =
  /(^|\/)(tests?|__tests__|__mocks__|__fixtures__|testdata|test[-_]data|test[-_]?(utils?|helpers?|support|lib|fixtures)|__snapshots__|goldens?|e2e|cypress|fixtures)\/|(^|\/)src\/(?:[a-z][A-Za-z]*Tests?)\//i;
/** Files that a test compares with. */
const EXPECTED =
  /(\.(snap|golden|gold|expected|expect|approved\.[^/]+|verified\.[^/]+|ambr|baseline)|(^|[/._-])(golden|expected)([._-][^/]*)?\.[^/.]+)$|(^|\/)expected\//i;

/** `spec/` holds tests if it holds code; below a source directory it has no special meaning. */
const SPEC_DIRECTORY = new RegExp(
  `^(?:(?:packages|modules|gems|apps|services)/[^/]+/)?specs?/(?:.*\\.${CODE}|(?:support|fixtures|factories|data)/.*)$`,
  "i",
);

/** Source directories, where names like `validate` belong to the product. */
const SOURCE_DIRECTORIES =
  /^(?:(?:packages|modules|apps|services|crates|libs|projects)\/[^/]+\/)?(src|lib|libs|app|apps|pkg|cmd|internal|server|client|source|sources|core|api|web|frontend|backend|include|crates|packages|modules|services)\//;

/** Directories of build and check tools, unless they are below sources. */
const TOOL_DIRECTORIES =
  /(^|\/)(scripts?|tools?|tooling|ci|qa|hack|checks?|verify|verification|validation|lint|linters?|build-aux|build-scripts|devtools|xtask|buildSrc|build-logic|harness|\.config|\.[a-z][\w-]*)\//i;

const HIDDEN = /(^|\/)\.[^/]+\//;

/** Directories at the top that hold tools of developers in one repository, and sources in another. */
const DEVELOPERS =
  /^(dev|devel|develop|build|ops|boot|automation|tasks|gulp|grunt|rakelib|contrib|maintenance)\//;

const JUDGES =
  "tests?|check(s|er|all)?|verify|verifier|verification|validate|validator|validation|lint|ci|qa|smoke|selftest|gate|assert(ions?)?|harness|runner|specs?|accept(ance)?";
/** The first or the last word of a name outside the source directories. */
const JUDGE_NAME = new RegExp(
  `^(run|all|(${JUDGES})([-_.].*)?|.*[-_.](${JUDGES})|run[-_.]?(all|${JUDGES})([-_.].*)?|[a-z]+(Test|Tests|Check|Checks|Runner))$`,
);
/** Inside the source directories, only unambiguous names. */
const TEST_RUNNER_NAME =
  /^(self[-_]?tests?|run[-_]?(all[-_]?)?(tests?|checks?)|runTests?|runChecks?|test[-_]?(runner|setup|helpers?|utils?|support|harness)|setupTests?|assert(ions?)?|harness|matchers|(spec|test)Helpers?|tests?)$/;

const SHELL_NAME = /\.(sh|bash|zsh|ksh|bats|ps1|cmd|bat)$/;

/** Below one of the usual directories of sources. */
export function isBelowSources(path: string): boolean {
  return SOURCE_DIRECTORIES.test(path);
}

export function isDocument(path: string): boolean {
  return DOCUMENT.test(path);
}

export function isTest(path: string): boolean {
  if (TEST_DIRECTORIES.test(path) || /^t\/.+/.test(path) || SPEC_DIRECTORY.test(path)) return true;
  return EXPECTED.test(path) || isTestByName(path);
}

export function isTestByName(path: string): boolean {
  return !DOCUMENT.test(path) && TEST_NAMES.some((form) => form.test(path));
}

/** A tool by its place or by an unambiguous name: it builds or checks and is not part of the product. */
function isTool(path: string): boolean {
  if (DOCUMENT.test(path)) return false;
  return (
    TEST_RUNNER_NAME.test(stemOf(path)) || (TOOL_DIRECTORIES.test(path) && !SOURCE_DIRECTORIES.test(path))
  );
}

export function isHarness(path: string): boolean {
  return isTest(path) || isTool(path) || isConfiguration(path);
}

/** A tool by its place alone, such as `scripts/release.sh`: a test may have it as its object. */
export function isOwnTool(path: string): boolean {
  if (!isTool(path) || TEST_RUNNER_NAME.test(stemOf(path)) || HIDDEN.test(path)) return false;
  return !isTest(path) && !isConfiguration(path);
}

/** A file that a check runs also judges under a name like `verify`, and as a shell script under any name; not in the sources. */
export function runsAsHarness(path: string, asShell: boolean): boolean {
  if (isHarness(path)) return true;
  if (SOURCE_DIRECTORIES.test(path) || DOCUMENT.test(path)) return false;
  return asShell || SHELL_NAME.test(path) || JUDGE_NAME.test(stemOf(path));
}

export function isOfDevelopers(path: string): boolean {
  return DEVELOPERS.test(path) && !DOCUMENT.test(path);
}

function stemOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.indexOf(".", 1);
  return dot === -1 ? name : name.slice(0, dot);
}
