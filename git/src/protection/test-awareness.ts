/**
 * Sources of a change that know they are being tested: they ask for what only a test runner sets, take over its assertions,
 * equal everything, or read the tests themselves. Their checks pass and say nothing about any other use. Pure.
 *
 * The signs are known forms (aware-signs.ts, taken-over-signs.ts), so what they do not name passes (SECURITY.md). Only lines that the change adds count, and
 * only in sources: tests, tools and settings have rules of their own.
 */
import { limits } from "@antiphon/contracts";
import { ASSERTIONS, JS, SIGNS } from "./aware-signs.ts";
import { isHarness, isTestByName } from "./side.ts";
import { TAKEN_OVER_SIGNS } from "./taken-over-signs.ts";
import { CODE, whereaboutsIn } from "./whereabouts.ts";

export interface Aware {
  readonly path: string;
  /** Says in a clause what the source does: `asks whether a test runs it`. */
  readonly what: string;
  /** It counts only where no test runner reported how the check went. */
  readonly ifUnreported: boolean;
  /** The line that says so, counted from 1. Absent: the text as a whole does. */
  readonly line?: number;
  /** What the line says. */
  readonly text?: string;
}

/** What the signs depend on besides the text. */
export interface Surroundings {
  /** Whether a file of this name is in the tree. */
  readonly isKnown: (name: string) => boolean;
  /** The time of the change, in milliseconds. */
  readonly now: number;
}

/** Names that are bound to an assertion library in JavaScript: `const a = require("assert")`, `import * as a from "assert"`. */
const BOUND = new RegExp(
  `\\b(?:const|let|var)\\s+(\\w+)\\s*=\\s*require\\(\\s*["'\`](?:${ASSERTIONS})["'\`]\\s*\\)|\\bimport\\s+(?:\\*\\s+as\\s+)?(\\w+)\\s+from\\s+["'](?:${ASSERTIONS})["']`,
  "g",
);
const ALL_SIGNS = [...SIGNS, ...TAKEN_OVER_SIGNS];
/** The last part of a quoted path. */
const NAMED = /["'`/]([\w.@-]{3,100})["'`]/g;
const READS =
  /\b(?:readFile(?:Sync)?|createReadStream|open|read_text|read_bytes|File\.read|IO\.read|ReadFile|fopen|file_get_contents|include_str!|Files\.read\w*)\b/;
/** No change that people can review is longer. */
const MOST_BYTES = limits.patchBytes;
const MOST_NAMES = 16;

/** Whether the text of a changed file can have a sign at all, so that the old text has to be read. */
export function mayBeAware(path: string, text: string, around: Surroundings): boolean {
  return signsIn(path, text, around).length > 0;
}

/** @param before the text without the change; "" for a new file */
export function awareOf(path: string, text: string, before: string, around: Surroundings): readonly Aware[] {
  const known = new Set(signsIn(path, before, around).map(keyOf));
  return signsIn(path, text, around).filter((sign) => !known.has(keyOf(sign)));
}

/** A line that the base has, too, counts at no other place. */
const keyOf = ({ what, text = "" }: Aware): string => `${what}\n${text}`;

function signsIn(path: string, text: string, { isKnown, now }: Surroundings): readonly Aware[] {
  if (isHarness(path)) return [];
  if (text.length > MOST_BYTES)
    return CODE.test(path)
      ? [{ path, what: "is longer than can be looked through", ifUnreported: false }]
      : [];
  const forms = ALL_SIGNS.filter(({ files, form }) => files.test(path) && form.test(text));
  const found = [...new Map(forms.map((form) => [form.what, form])).values()].map(
    ({ what, ifUnreported = false }): Aware => ({ path, what, ifUnreported }),
  );
  const sign = (what: string): Aware => ({ path, what, ifUnreported: false });
  if (JS.test(path) && assignsToBound(text)) found.push(sign("takes over the assertions of its tests"));
  const test = testReadBy(text, isKnown);
  if (test !== null) found.push(sign(`reads ${test}`));
  const asked = new Set(found.map(({ what }) => what));
  const lines = whereaboutsIn(path, text, isKnown, now).filter(({ what }) => !asked.has(what));
  return [...found, ...lines.map((line) => ({ ...sign(line.what), ...line }))];
}

function assignsToBound(text: string): boolean {
  const names = new Set([...text.matchAll(BOUND)].flatMap(([, one, other]) => one ?? other ?? []));
  return [...names]
    .slice(0, MOST_NAMES)
    .some((name) =>
      new RegExp(
        `(?:^|[^.\\w])${name}(?:\\.\\w+)+\\s*=(?![=>])|\\bObject\\.(?:assign|defineProperty|defineProperties)\\(\\s*${name}\\b`,
      ).test(text),
    );
}

/** A test of the tree that is named in a text that reads files; null: none. */
function testReadBy(text: string, isKnown: (path: string) => boolean): string | null {
  if (!READS.test(text)) return null;
  for (const [, name = ""] of text.matchAll(NAMED)) if (isTestByName(name) && isKnown(name)) return name;
  return null;
}
