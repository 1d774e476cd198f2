/**
 * The tests that a change brings, and the sources that it changes beside them. Pure. A new test proves something about the
 * change only if it fails on the sources of the base, so the check is tried there with everything of the change but these
 * sources.
 *
 * A moved test is no new one. A file below the tests that holds no test (a helper, data, a `TestMain` that prepares) asks
 * nothing. Documents and files of git itself are no sources.
 */
import { CODE } from "./added-judges.ts";
import type { CheckedFile } from "../patch/patch-policy.ts";
import { isDocument, isHarness, isOwnTool, isTest, isTestByName } from "./side.ts";

export interface OwnTests {
  readonly added: readonly string[];
  /** Tests of the base that the change edits. They may hold new tests. */
  readonly edited: readonly string[];
  /** Both paths of a moved file. Programs in a directory of tools, if there are no others. */
  readonly sources: readonly string[];
}

type Changed = Pick<CheckedFile, "path" | "change" | "from">;

const CODE_OF_TESTS = new RegExp(`${CODE.source}|\\.(?:t|bats|cc?|cpp|cxx|vb|feature|clj|hs|jl|erl)$`);
/** How a test begins, in many languages. */
const CASE =
  /\b(?:it|test|specify|Deno\.test|subtest|test_that)(?:\.\w{1,20})?\s?\(|\b(?:it|test|specify) ["']|\bdef test|\bfunc (?:[Tt]est(?!Main\b)|Fuzz|Example)|#\[(?:\w{1,40}::)?test\b|@(?:Test|ParameterizedTest|Property)\b|\[(?:Fact|Theory|Test|TestMethod|TestCase)\b|\bTEST(?:_\w{1,3})?\s?\(|\bfunction test|@test "|\bScenario:|\bplan tests\b|\bdone_testing\b/;
/** By its name, a file that prepares tests. */
const PREPARES = /(?:^|[/._-])(?:helpers?|utils?|support|setup|fixtures?|data|main|init)(?:[._-][^/]*)?$/i;
const TEST_MAIN = /\bfunc TestMain\b/;
const OF_THE_REPOSITORY =
  /(^|\/)(?:\.git(?:ignore|attributes)|\.mailmap|(?:CHANGELOG|CHANGES|NEWS|HISTORY|AUTHORS|CONTRIBUTORS|LICENSE|COPYING|NOTICE|README)(?:\.txt)?)$/i;

/** @param textOf the content that the change gives a file */
export function ownTests(files: readonly Changed[], textOf: (path: string) => string): OwnTests {
  const tests = files.filter(({ path, change }) => isOwn(change) && holdsTests(path, textOf(path)));
  // A copy is a new file.
  const judged = files.filter(({ path }) => !isHarness(path) && !isAside(path));
  const sources = judged.length > 0 ? judged : files.filter(({ path }) => isOwnTool(path));
  return {
    added: tests.filter(({ change }) => change !== "modify").map(({ path }) => path),
    edited: tests.filter(({ change }) => change === "modify").map(({ path }) => path),
    sources: sources.flatMap(({ path, from }) => (from === null ? [path] : [path, from])),
  };
}

function isOwn(change: Changed["change"]): boolean {
  return change === "add" || change === "copy" || change === "modify";
}

/** A name that says test suffices, unless the file only prepares. */
function holdsTests(path: string, text: string): boolean {
  if (!CODE_OF_TESTS.test(path) || !isTest(path)) return false;
  if (CASE.test(text)) return true;
  return (isTestByName(path) || /\.t$/.test(path)) && !PREPARES.test(path) && !TEST_MAIN.test(text);
}

function isAside(path: string): boolean {
  return isDocument(path) || OF_THE_REPOSITORY.test(path);
}
