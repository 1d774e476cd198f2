/**
 * An answer as its recording has it: without what a mask replaces. Pure.
 *
 * A stream sends a text in pieces, so a secret may be in several events. The pieces of one text (those at one place of events of
 * one type) are masked together; the mask keeps lengths, so each event gets its own piece back.
 *
 * JSON is masked text by text, so that a mask cannot reach from one text over the quotes into the next.
 */
import { fieldsOf } from "./answer-event.ts";
import { isTooDeep } from "./json-depth.ts";
import { withTexts } from "./json-texts.ts";

interface Piece {
  readonly holder: Record<string, unknown> | unknown[];
  readonly key: string | number;
  readonly text: string;
  readonly line: number;
}

const DATA = "data:";

export function maskedAnswer(text: string, isStream: boolean, mask: (text: string) => string): string {
  if (isStream) return maskedEvents(text, mask);
  const document = parsed(text);
  return isTree(document) ? maskedJson(document, text, mask) : mask(text);
}

/** Written anew only if something is replaced. A name that is in it twice may hide a text, so the words are looked at too. */
function maskedJson(value: object, words: string, mask: (text: string) => string): string {
  const now = JSON.stringify(withTexts(value, mask));
  return now === JSON.stringify(value) && mask(words) === words ? words : now;
}

const isTree = (value: unknown): value is object => typeof value === "object" && value !== null;

function maskedEvents(text: string, mask: (text: string) => string): string {
  const lines = text.split("\n");
  const events = new Map<number, object>();
  const texts = new Map<string, Piece[]>();
  for (const [line, words] of lines.entries()) {
    const event = words.startsWith(DATA) ? parsed(words.slice(DATA.length)) : undefined;
    if (!isTree(event)) continue;
    events.set(line, event);
    gather(event, placeOf(event), line, texts);
  }
  const changed = new Set<number>();
  for (const pieces of texts.values()) {
    const before = pieces.map((piece) => piece.text).join("");
    const after = mask(before);
    if (after === before) continue;
    let at = 0;
    for (const { holder, key, text: piece, line } of pieces) {
      const now = after.slice(at, at + piece.length);
      at += piece.length;
      if (now === piece) continue;
      (holder as Record<string | number, unknown>)[key] = now;
      changed.add(line);
    }
  }
  const done: string[] = [];
  let plain: string[] = [];
  const close = (): void => {
    if (plain.length > 0) done.push(mask(plain.join("\n")));
    plain = [];
  };
  for (const [line, words] of lines.entries()) {
    const event = events.get(line);
    if (event === undefined) {
      plain.push(words);
      continue;
    }
    close();
    const rest = words.slice(DATA.length);
    const now = maskedJson(event, changed.has(line) ? JSON.stringify(event) : rest, mask);
    done.push(now === rest ? words : `${DATA} ${now}`);
  }
  close();
  return done.join("\n");
}

/** Pieces of different answers, or of different parts of one, come in any order and say in their event to which they belong. */
function placeOf(value: object): string {
  const { type, index, output_index } = fieldsOf(value);
  return [type, index, output_index].map((one) => (isName(one) ? String(one) : "")).join("#");
}

const isName = (value: unknown): value is string | number =>
  typeof value === "string" || typeof value === "number";

function gather(value: object, path: string, line: number, into: Map<string, Piece[]>): void {
  const holder = value as Record<string, unknown>;
  for (const [key, inner] of Object.entries(value)) {
    const at = `${path}/${key}`;
    if (isTree(inner)) gather(inner, `${at}#${placeOf(inner)}`, line, into);
    if (typeof inner !== "string") continue;
    const pieces = into.get(at) ?? [];
    into.set(at, pieces);
    pieces.push({ holder, key, text: inner, line });
  }
}

/** Undefined: this is not JSON, or nested so deeply that it is no event. */
function parsed(text: string): unknown {
  if (isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
