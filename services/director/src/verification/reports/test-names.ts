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
}

export type TestNames = ReadonlyMap<string, PassedName>;

export function passedNames(text: string): TestNames {
  const names = new Map<string, PassedName>();
  for (const whole of text.split("\n")) {
    if (whole.length > LONGEST_LINE) continue;
    const line = whole.replace(COLOURS, "").trim();
    for (const { line: form, inWords } of FORMS) {
      const name = form.exec(line)?.groups?.["name"];
      if (name === undefined) continue;
      const plain = name.replace(NOISE, "").replace(/\d+/g, "0").trim();
      const passed = (names.get(plain)?.passed ?? 0) + 1;
      if (names.size < MOST_NAMES || names.has(plain)) names.set(plain, { passed, inWords });
      break;
    }
  }
  return names;
}

/** Tests that passed on the base and that the change's output does not name, nor a similar new one. */
export function missingNames(base: TestNames, change: TestNames): string[] {
  const missing = beyond(base, change);
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
