/**
 * The recorded model calls of an attempt, as answers for a replay of it. Pure.
 *
 * A request that equals a recorded one gets its answer, in any order, because agents send some calls side by side. Otherwise
 * the oldest unused answer of the same path and model is given: prompts hold dates, times and ids that differ from day to
 * day and decide nothing. The first such difference is kept, so that a replay that ends elsewhere can name its cause.
 *
 * For an attempt that goes on from a lost one, only equal requests have an answer: what differs may be what a person has said
 * since then. Recordings hold stars in place of secrets, so requests are compared as a recording would have them; and an answer
 * with stars in it is given only where nothing can land.
 */
import type { ModelRecording } from "@antiphon/contracts";
import { withTexts } from "./json-texts.ts";

export interface ReplayedCall {
  /** From 1. */
  readonly number: number;
  readonly recording: ModelRecording;
}

export interface RecordedOptions {
  readonly equalOnly?: boolean;
  /** The attempt's change may land. */
  readonly isLive?: boolean;
  /** How recordings are masked; masking a masked text changes nothing. */
  readonly mask?: (text: string) => string;
}

export interface CallAsked {
  readonly host: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The parts of a body that hold the conversation. The gateway itself may change the others before a call leaves. */
const CONVERSATION = [
  ...["messages", "system", "input", "instructions", "contents"],
  ...["systemInstruction", "system_instruction"],
];
const QUOTE_CHARS = 120;

export class RecordedCalls {
  readonly #calls: readonly ReplayedCall[];
  readonly #equalOnly: boolean;
  readonly #isLive: boolean;
  readonly #mask: (text: string) => string;
  /** The masked requests of the recordings, by their numbers. */
  readonly #bodies = new Map<number, CallAsked["body"]>();
  readonly #served = new Set<number>();
  /** Calls before a checkpoint: they are not asked for again. */
  readonly #passed = new Set<number>();
  #strayed: string | null = null;

  constructor(recordings: readonly ModelRecording[], options: RecordedOptions = {}) {
    this.#equalOnly = options.equalOnly ?? false;
    this.#isLive = options.isLive ?? false;
    this.#mask = options.mask ?? ((text) => text);
    this.#calls = recordings.map((recording, i) => ({ number: i + 1, recording }));
  }

  get size(): number {
    return this.#calls.length;
  }

  get served(): number {
    return this.#served.size;
  }

  /** The first request that differs from the record; null: none. */
  get strayed(): string | null {
    return this.#strayed;
  }

  /** The hosts and ports that the recorded attempt sent its calls to. */
  get places(): readonly { readonly host: string; readonly port: number }[] {
    const all = this.#calls.map(({ recording: { asked, request } }) => ({
      host: asked?.host ?? request.host,
      port: asked?.port ?? 443,
    }));
    return all.filter((one, i) => all.findIndex((other) => sameJson(other, one)) === i);
  }

  /** The program goes on after these calls. */
  pass(numbers: Iterable<number>): void {
    for (const number of numbers) this.#passed.add(number);
  }

  /** Each answer is given once. Null: the record has none for this request. */
  answerTo(asked: CallAsked): ReplayedCall | null {
    const open = this.#calls.filter(
      ({ number, recording }) =>
        !this.#served.has(number) && !this.#passed.has(number) && isFor(recording, asked),
    );
    const body = this.#masked(asked.body);
    const differs = (call: ReplayedCall): string | null => differenceOf(this.#recordedBody(call), body);
    const exact = open.find((call) => differs(call) === null);
    const next = exact ?? (this.#equalOnly ? null : open[0]) ?? null;
    if (next !== null && next.recording.response.masked === true) {
      this.#strayed ??= `call ${next.number} of ${this.size}: the recorded answer has stars in place of a secret`;
      if (this.#isLive) return null;
    }
    if (next === null) {
      this.#strayed ??= `call ${this.served + 1} of the replay, ${asked.host}${asked.path}, is not in the record, which has ${this.size}`;
      return null;
    }
    this.#served.add(next.number);
    if (exact === undefined) {
      const how = differs(next);
      this.#strayed ??= `call ${next.number} of ${this.size}: ${how ?? "differs"}`.slice(0, 1024);
    }
    return next;
  }

  #recordedBody({ number, recording }: ReplayedCall): CallAsked["body"] {
    const body = this.#bodies.get(number) ?? this.#masked(recording.request.body);
    this.#bodies.set(number, body);
    return body;
  }

  #masked(body: CallAsked["body"]): CallAsked["body"] {
    return withTexts(body, this.#mask) as CallAsked["body"];
  }
}

function isFor({ asked, request, model }: ModelRecording, call: CallAsked): boolean {
  const at = asked ?? request;
  const named = call.body["model"];
  return at.host === call.host && at.path === call.path && (named === undefined || named === model);
}

function differenceOf(
  recorded: Readonly<Record<string, unknown>>,
  asked: Readonly<Record<string, unknown>>,
): string | null {
  for (const part of CONVERSATION) {
    const found = firstDifference(recorded[part], asked[part], part);
    if (found !== null) return found;
  }
  return null;
}

/** The path of the first value that differs, with both values; null: none. */
export function firstDifference(recorded: unknown, now: unknown, path: string): string | null {
  if (isTree(recorded) && isTree(now) && Array.isArray(recorded) === Array.isArray(now)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(now)])) {
      const below = Array.isArray(recorded) ? `${path}[${key}]` : `${path}.${key}`;
      const found = firstDifference(recorded[key], now[key], below);
      if (found !== null) return found;
    }
    return null;
  }
  if (recorded === now) return null;
  const [was, is] = fromFirstDifference(shown(recorded), shown(now));
  return `${path} was ${was} and is ${is}`;
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function sameJson(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function shown(value: unknown): string {
  return value === undefined ? "absent" : JSON.stringify(value);
}

/** Long texts are shown from shortly before the first character that differs. */
function fromFirstDifference(one: string, other: string): [string, string] {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at += 1;
  const from = Math.max(0, at - 20);
  const cut = (text: string): string => {
    const piece = text.slice(from, from + QUOTE_CHARS);
    return `${from > 0 ? "…" : ""}${piece}${from + QUOTE_CHARS < text.length ? "…" : ""}`;
  };
  return [cut(one), cut(other)];
}
