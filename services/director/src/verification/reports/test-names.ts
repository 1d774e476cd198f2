/**
 * The names of the tests that passed, read from the output of a check. Pure.
 *
 * Code under test can make its runner skip a test and run another one instead, so that the count stays. A runner that names
 * its tests has to name those of the base again. A name that is an identifier stands in the test file, which is protected. A
 * name in words may be made from the sources and change with them, so a similar new one may take its place. Numbers do not
 * count, because they may be times, sizes or places in a list.
 */

interface NameForm {
  /** Begins with a fixed mark or ends with one, and is used on one short line, so its time is linear. */
  readonly line: RegExp;
  readonly inWords: boolean;
}

const FORMS: readonly NameForm[] = [
  { line: /^[✔✓√] (?<name>\S.{0,300})$/, inWords: true }, // Node's spec reporter, Jest, Mocha, Vitest
  { line: /^ok \d{1,9} - (?<name>[^#]{1,300})$/, inWords: true }, // TAP
  { line: /^(?<name>\w[\w.$]{0,200} > .{1,200}) PASSED$/, inWords: true }, // Gradle
  { line: /^--- PASS: (?<name>[^\s/]{1,300})\S{0,300} \(/, inWords: false }, // go test -v
  { line: /^test (?<name>\S{1,300}) \.\.\. ok$/, inWords: false }, // cargo test
  { line: /^(?<name>\S{1,200}::[^\s[]{1,200})\S{0,200} PASSED\b/, inWords: false }, // pytest -v
  { line: /^(?<name>test\w{0,100} \([\w.]{1,200}\)) \.\.\. ok$/, inWords: false }, // unittest -v
  { line: /^(?<name>\S{1,200}\.t) \.{2,99} ok$/, inWords: false }, // prove
  { line: /^Passed (?<name>[^\s(]{1,300})\S{0,200} \[/, inWords: false }, // dotnet test
];

/**
 * A line of Vitest about a file, which comes before its tests. It names them only in a file where one failed or was slow, so
 * a fix makes the names of the others vanish.
 */
const FILE =
  /^[❯✓×] (?<file>\S.{0,250}?) \((?<tests>\d{1,6}) tests?(?: \| (?<first>\d{1,6}) (?:failed|skipped|todo))?(?: \| (?<second>\d{1,6}) (?:skipped|todo))?\)/;

const LONGEST_LINE = 400;
/** More names cost memory and tell nothing more. */
const MOST_NAMES = 20_000;
/** Comparisons of two names by their words. Beyond, a missing name has no similar one. */
const MOST_COMPARED = 10_000;
const COLOURS = /\u001b\[[0-9;]{0,16}m/g;
const NOISE = / \(?\d[\d.]{0,12} ?m?s\)?$/;

export interface PassedName {
  readonly passed: number;
  readonly inWords: boolean;
  /** The file that the runner named before it. */
  readonly file?: string;
}

export type TestNames = ReadonlyMap<string, PassedName>;

/** By the names of files, how many tests passed in each. */
export type FileCounts = ReadonlyMap<string, number>;

/** Of a runner that counts the tests of each file. */
export function passedInFiles(text: string): FileCounts {
  const files = new Map<string, number>();
  for (const whole of text.split("\n")) {
    const found = fileOf(whole);
    if (found !== null) files.set(found.file, (files.get(found.file) ?? 0) + found.passed);
  }
  return files;
}

function fileOf(line: string): { file: string; passed: number } | null {
  if (line.length > LONGEST_LINE || !line.includes(" test")) return null;
  const groups = FILE.exec(line.replace(COLOURS, "").trim())?.groups;
  if (groups === undefined) return null;
  const [tests, first, second] = ["tests", "first", "second"].map((key) => Number(groups[key] ?? 0));
  return { file: groups["file"] ?? "", passed: (tests ?? 0) - (first ?? 0) - (second ?? 0) };
}

export function passedNames(text: string): TestNames {
  const names = new Map<string, PassedName>();
  let file: string | undefined;
  for (const whole of text.split("\n")) {
    if (whole.length > LONGEST_LINE) continue;
    const line = whole.replace(COLOURS, "").trim();
    const at = fileOf(line);
    if (at !== null) file = at.file;
    for (const { line: form, inWords } of FORMS) {
      const name = form.exec(line)?.groups?.["name"];
      if (name === undefined) continue;
      const plain = name.replace(NOISE, "").replace(/\d+/g, "0").trim();
      const passed = (names.get(plain)?.passed ?? 0) + 1;
      const within = file === undefined || at !== null ? {} : { file };
      if (names.size < MOST_NAMES || names.has(plain)) names.set(plain, { passed, inWords, ...within });
      break;
    }
  }
  return names;
}

/**
 * Tests that passed on the base and that the change's output does not name, nor a similar new one.
 *
 * @param isWhole whether as many tests of a file passed again, which then stands for their names
 */
export function missingNames(
  base: TestNames,
  change: TestNames,
  isWhole: (file: string) => boolean = () => false,
): string[] {
  const missing = beyond(base, change).filter(([, { file }]) => file === undefined || !isWhole(file));
  const fresh = beyond(change, base)
    .filter(([, { inWords }]) => inWords)
    .map(([name]) => wordsOf(name));
  const isCompared = missing.length * fresh.length <= MOST_COMPARED;
  return missing
    .filter(([name, { inWords }]) => {
      const words = wordsOf(name);
      const twin = inWords && isCompared ? fresh.findIndex((other) => isSimilar(words, other)) : -1;
      if (twin !== -1) fresh.splice(twin, 1);
      return twin === -1;
    })
    .map(([name]) => name);
}

/** The names of the first list that passed more often than in the second. */
function beyond(one: TestNames, other: TestNames): [string, PassedName][] {
  return [...one].filter(([name, { passed }]) => passed > (other.get(name)?.passed ?? 0));
}

/** Half of the words of the longer name are in the other one, too. */
function isSimilar(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const shared = [...one].filter((word) => other.has(word)).length;
  return 2 * shared >= Math.max(one.size, other.size);
}

function wordsOf(name: string): ReadonlySet<string> {
  return new Set(name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [name]);
}
