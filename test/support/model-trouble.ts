/** What can go wrong with a model server, said in the words of each API. */
import { setTimeout as pause } from "node:timers/promises";
import type { ServerResponse } from "node:http";
import { SHAPES, type Endpoint, type Json, type Turn } from "./model-shapes.ts";

/** What goes wrong instead of an answer. A number is a status, with `retry-after: 0`. */
export type Trouble = number | keyof typeof TROUBLES;

export interface Asked {
  readonly endpoint: Endpoint;
  readonly isStream: boolean;
  readonly response: ServerResponse;
}

const CODES: Readonly<Record<number, string>> = { 402: "ANT_EGRESS_BUDGET" };
/** The answer that goes wrong on its way. */
const TURN: Turn = { text: "I will" };

/** The named ones. All but `limited` begin as an answer: their status is 200. */
const TROUBLES = {
  /** 429, without a word about when to try again. */
  limited: (asked: Asked) => status(asked, 429, {}),
  /** Ends early, as if it were complete. */
  cut: (asked: Asked) => asked.response.end(head(asked)),
  /** Ends early, with its connection. */
  reset: ({ response, ...asked }: Asked) =>
    response.write(head({ ...asked, response }), () => response.destroy()),
  garbage: ({ isStream, response }: Asked) =>
    response.end(isStream ? 'data: {"choices": [{"del\n\ndata: <html>\n\n' : "<html>Bad gateway</html>"),
  /** Ends without a byte. */
  nothing: ({ response }: Asked) => response.end(),
  /** A complete answer that says nothing. */
  empty: (asked: Asked) => tell(asked, {}),
  endless,
  /** Begins, and says nothing. */
  silent: ({ response }: Asked) => response.flushHeaders(),
  /** Begins to say something, and goes silent. */
  stalled: (asked: Asked) => asked.response.write(head(asked)),
  /** A complete answer, in small pieces. */
  slow,
  /** Says that it failed, in place of an answer. */
  failing: (asked: Asked) => asked.response.end(failure(asked)),
  /** Says that it failed after a part of the answer. */
  broken: (asked: Asked) => asked.response.end(`${head(asked)}${failure(asked)}`),
  /** Refuses to do what it is asked. */
  refusal: (asked: Asked) => tell(asked, { text: "I cannot help with that.", refuses: true }),
} as const;

export function makeTrouble(trouble: Trouble, asked: Asked): void {
  if (typeof trouble === "number") return status(asked, trouble, { "retry-after": "0" });
  if (trouble !== "limited")
    asked.response.writeHead(200, {
      "content-type": asked.isStream ? "text/event-stream" : "application/json",
    });
  void TROUBLES[trouble](asked);
}

/** An answer as it should be. */
export function say(asked: Asked, turn: Turn): void {
  asked.response.writeHead(200, {
    "content-type": asked.isStream ? "text/event-stream" : "application/json",
  });
  tell(asked, turn);
}

function status(
  { endpoint, response }: Asked,
  code: number,
  headers: Readonly<Record<string, string>>,
): void {
  response.writeHead(code, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ code: CODES[code], ...SHAPES[endpoint].failure(`answered ${code}`) }));
}

function tell({ endpoint, isStream, response }: Asked, turn: Turn): void {
  response.end(
    isStream ? streamed(endpoint, SHAPES[endpoint].events(turn)) : JSON.stringify(whole(endpoint, turn)),
  );
}

const whole = (endpoint: Endpoint, turn: Turn): Json => SHAPES[endpoint].whole(turn);

function streamed(endpoint: Endpoint, events: readonly Json[]): string {
  return `${events.map(eventText).join("")}${endpoint === "chat" ? "data: [DONE]\n\n" : ""}`;
}

function eventText(event: Json): string {
  const { type } = event;
  return `${typeof type === "string" ? `event: ${type}\n` : ""}data: ${JSON.stringify(event)}\n\n`;
}

/** The beginning of an answer, up to the first thing that it says. It states no usage but perhaps that of its input. */
function head({ endpoint, isStream }: Asked): string {
  const { events, prelude } = SHAPES[endpoint];
  if (!isStream) return JSON.stringify(whole(endpoint, TURN)).split(TURN.text ?? "", 1)[0] ?? "";
  const list = events(TURN).slice(0, prelude + 2);
  if (endpoint !== "generate")
    return list
      .slice(0, endpoint === "chat" ? 1 : undefined)
      .map(eventText)
      .join("");
  const { usageMetadata: _usage, ...event } = list[0] ?? {};
  return eventText(event);
}

function failure({ endpoint, isStream }: Asked): string {
  const said = SHAPES[endpoint].failure("the model is overloaded");
  return isStream ? eventText(said) : JSON.stringify(said);
}

function endless(asked: Asked): void {
  const { response } = asked;
  const piece = "and ".repeat(4096);
  const [first, again] = asked.isStream ? pieces(asked.endpoint, piece) : ['{"choices":[{"text":"', piece];
  const more = (): void => {
    while (!response.destroyed && response.write(again));
  };
  response.on("drain", more);
  response.write(first);
  more();
}

/** How a stream begins, and an event that it can repeat. */
function pieces(endpoint: Endpoint, text: string): [string, string] {
  if (endpoint === "responses") {
    const [created] = SHAPES.responses.events({});
    const delta = { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: text };
    return [eventText(created ?? {}), eventText(delta)];
  }
  const events = SHAPES[endpoint].events({ text });
  if (endpoint === "messages") return [streamed(endpoint, events.slice(0, 2)), eventText(events[2] ?? {})];
  const { usageMetadata: _usage, ...event } = events[0] ?? {};
  return ["", eventText(event)];
}

const PIECES = 40;

async function slow({ endpoint, isStream, response }: Asked): Promise<void> {
  const { events } = SHAPES[endpoint];
  const text = isStream ? streamed(endpoint, events(TURN)) : JSON.stringify(whole(endpoint, TURN));
  const size = Math.ceil(text.length / PIECES);
  for (let at = 0; at < text.length && !response.destroyed; at += size) {
    response.write(text.slice(at, at + size));
    await pause(2);
  }
  response.end();
}
