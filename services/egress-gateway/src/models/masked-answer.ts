/**
 * An answer as its recording has it: without what a mask replaces. Pure.
 *
 * A stream sends a text in pieces, so a secret may be in several events. The pieces of one text (those at one place of events of
 * one type) are masked together; the mask keeps lengths, so each event gets its own piece back.
 */
import { fieldsOf } from "./answer-event.ts";
import { isDeeperThan } from "./json-depth.ts";

interface Piece {
  readonly holder: Record<string, unknown> | unknown[];
  readonly key: string | number;
  readonly text: string;
  readonly line: number;
}

const DATA = "data:";

export function maskedAnswer(text: string, isStream: boolean, mask: (text: string) => string): string {
  return mask(isStream ? maskedEvents(text, mask) : text);
}

function maskedEvents(text: string, mask: (text: string) => string): string {
  const lines = text.split("\n");
  const events = new Map<number, unknown>();
  const texts = new Map<string, Piece[]>();
  for (const [line, words] of lines.entries()) {
    const event = words.startsWith(DATA) ? parsed(words.slice(DATA.length)) : undefined;
    if (typeof event !== "object" || event === null) continue;
    events.set(line, event);
    const { type } = fieldsOf(event);
    gather(event, typeof type === "string" ? type : "", line, texts);
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
  return lines
    .map((words, line) => (changed.has(line) ? `${DATA} ${JSON.stringify(events.get(line))}` : words))
    .join("\n");
}

function gather(value: object, path: string, line: number, into: Map<string, Piece[]>): void {
  const holder = value as Record<string, unknown>;
  for (const [key, inner] of Object.entries(value)) {
    const at = `${path}/${key}`;
    if (typeof inner === "object" && inner !== null) gather(inner as object, at, line, into);
    if (typeof inner !== "string") continue;
    const pieces = into.get(at) ?? [];
    into.set(at, pieces);
    pieces.push({ holder, key, text: inner, line });
  }
}

/** Far more than an event has. */
const MAX_DEPTH = 128;

/** Undefined: this is not JSON, or nested so deeply that it is no event. */
function parsed(text: string): unknown {
  if (isDeeperThan(MAX_DEPTH, text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
