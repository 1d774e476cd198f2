/** The features of a request: words, pieces of words, kinds of words, cues of many languages, pairs of cues, and its shape. */
import { CueList } from "./cue-list.ts";
import { BEHAVIOUR_CUES } from "./cues/behaviour-cues.ts";
import { BUILD_CUES } from "./cues/build-cues.ts";
import { DEBUG_CUES } from "./cues/debug-cues.ts";
import { ENGLISH_CUES } from "./cues/english-cues.ts";
import { PLAN_CUES } from "./cues/plan-cues.ts";
import { REVIEW_CUES } from "./cues/review-cues.ts";
import { SCOPE_CUES } from "./cues/scope-cues.ts";
import { FeatureFamily } from "./feature-family.ts";
import type { Feature } from "./feature-family.ts";
import { hashBucket, hashNext, hashStart } from "./feature-hash.ts";
import { read } from "./reading.ts";
import { SHAPE_SIGNS } from "./shape-signs.ts";
import { kindRunsOf } from "./word-kinds.ts";

const GROUPS = [
  ...ENGLISH_CUES,
  ...DEBUG_CUES,
  ...REVIEW_CUES,
  ...PLAN_CUES,
  ...BUILD_CUES,
  ...SCOPE_CUES,
  ...BEHAVIOUR_CUES,
];
const CUES = new CueList(GROUPS);

/** Lengths of the pieces of words. */
const SHORTEST_PIECE = 2;
const LONGEST_PIECE = 5;
/** A cue that begins within so many letters opens the request; one that ends so close to the end closes it. */
const OPENING = 12;
const CLOSING = 20;

const SPACE = " ".charCodeAt(0);

function addPieces(family: FeatureFamily, token: string): void {
  for (let from = -1; from < token.length; from += 1) {
    let state = hashStart(family.seed);
    for (let size = 1; size <= LONGEST_PIECE && from + size <= token.length + 1; size += 1) {
      const at = from + size - 1;
      state = hashNext(state, at < 0 || at >= token.length ? SPACE : token.charCodeAt(at));
      if (size >= SHORTEST_PIECE) family.addBucket(hashBucket(state), token);
    }
  }
}

function addWords(family: FeatureFamily, tokens: readonly string[]): void {
  const words = tokens.map((token) => (/^\d+$/.test(token) ? "0" : token));
  for (const [i, word] of words.entries()) {
    family.add(word, tokens[i] ?? word);
    const before = i === 0 ? "^" : (words[i - 1] ?? "^");
    family.add(`${before} ${word}`, i === 0 ? word : `${before} ${word}`);
  }
  if (words.length > 0) family.add(`${words.at(-1) ?? ""} $`, words.at(-1) ?? "");
  family.add(`^^ ${words.slice(0, 2).join(" ")}`, words.slice(0, 2).join(" "));
}

/** Adds the cues of a folded text, and returns their groups in ascending order. */
function addCues(family: FeatureFamily, folded: string): number[] {
  const groups = new Set<number>();
  for (const { group, at, end } of CUES.find(folded)) {
    const quote = folded.slice(at, end).trim();
    if (groups.size === 0) family.add(`first ${group}`, quote);
    groups.add(group);
    family.add(String(group), quote);
    if (at < OPENING) family.add(`${group} opens`, quote);
    if (end > folded.length - CLOSING) family.add(`${group} closes`, quote);
  }
  return [...groups].sort((a, b) => a - b);
}

function addPairs(family: FeatureFamily, groups: readonly number[], signs: readonly number[]): void {
  for (const [i, group] of groups.entries()) {
    for (const other of groups.slice(i + 1)) family.add(`${group}&${other}`, "");
    for (const sign of signs) family.add(`${group}+${sign}`, "");
  }
  const there = new Set(groups);
  for (const group of GROUPS.keys()) if (!there.has(group)) family.add(`no ${group}`, "");
}

export function features(goal: string): Feature[] {
  const { typed, folded, tokens } = read(goal);
  const pieces = new FeatureFamily(1, 1);
  const words = new FeatureFamily(2, 1);
  const cues = new FeatureFamily(3, 1);
  const pairs = new FeatureFamily(4, 0.5);
  const shape = new FeatureFamily(5, 0.5);
  const kinds = new FeatureFamily(6, 0.7);
  for (const token of tokens) addPieces(pieces, token);
  addWords(words, tokens);
  for (const run of kindRunsOf(tokens)) kinds.add(run, "");
  const groups = addCues(cues, folded);
  const signs = [...SHAPE_SIGNS.keys()].filter((sign) => SHAPE_SIGNS[sign]?.seen(typed));
  addPairs(pairs, groups, signs);
  for (const sign of signs) {
    const { name = "", tells = false } = SHAPE_SIGNS[sign] ?? {};
    shape.add(String(sign), tells ? name : "");
  }
  const all: Feature[] = [];
  for (const family of [pieces, words, cues, pairs, shape, kinds]) family.emit(all);
  return all;
}

/** Whether a goal has fewer than `leastWords` words and no cue of any workflow. */
export function saysNothing(goal: string, leastWords: number): boolean {
  const { folded, tokens } = read(goal);
  const words = tokens.filter((token) => /\p{L}/u.test(token));
  return words.length < leastWords && CUES.find(folded).length === 0;
}
