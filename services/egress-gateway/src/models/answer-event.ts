/**
 * Tells apart the pieces of an answer: a statement that the call failed, a part of the answer, or neither. Pure.
 *
 * A provider that fails after its 200 says so in the body. A failure before the first part of the answer costs what a 503
 * costs. A piece of an unknown kind counts as a part of the answer.
 */
type Event = Readonly<Record<string, unknown>>;

export type EventKind = "failure" | "part" | "other";

/** Events of a stream before its first part, or between parts. */
const EMPTY_EVENTS: ReadonlySet<unknown> = new Set([
  ...["message_start", "ping"],
  ...["response.created", "response.queued", "response.in_progress"],
]);
const REFUSALS =
  /^(?:content_filter|refusal|SAFETY|PROHIBITED_CONTENT|BLOCKLIST|SPII|RECITATION|IMAGE_SAFETY)$/;
/** Where an answer, or a part of one, has what the model says. */
const PARTS = ["choices", "content", "output", "candidates"];

/** @param value one document, or the data of one event */
export function eventKind(value: unknown): EventKind {
  const event = fieldsOf(value);
  if (EMPTY_EVENTS.has(event["type"])) return "other";
  const said = [event, fieldsOf(event["response"])];
  if (said.some((one) => PARTS.some((key) => !isEmpty(one[key])))) return "part";
  if (said.some(({ error }) => error !== undefined && error !== null)) return "failure";
  return event["type"] === "error" || event["type"] === "response.failed" ? "failure" : "part";
}

/** True for the last event of an answer, which states all that was used. */
export function isLastEvent(value: unknown): boolean {
  const { candidates, promptFeedback } = fieldsOf(value);
  const ends = Array.isArray(candidates) ? candidates.map((one) => fieldsOf(one)["finishReason"]) : [];
  return ends.some((end) => typeof end === "string") || !isEmpty(fieldsOf(promptFeedback)["blockReason"]);
}

/** How the provider names its refusal to answer; null: the event says nothing of the kind. */
export function refusalIn(value: unknown): string | null {
  const event = fieldsOf(value);
  const ends = [
    ...listOf(event["choices"]).map(({ finish_reason: end }) => end),
    ...listOf(event["candidates"]).map(({ finishReason: end }) => end),
    ...[event, fieldsOf(event["delta"])].map(({ stop_reason: end }) => end),
    fieldsOf(event["promptFeedback"])["blockReason"],
    ...[event, fieldsOf(event["response"])].flatMap(({ output }) =>
      listOf(output).flatMap(({ content }) => listOf(content).map(({ type }) => type)),
    ),
  ];
  const found = ends.find((end) => typeof end === "string" && REFUSALS.test(end));
  return typeof found === "string" ? found : null;
}

function listOf(value: unknown): readonly Event[] {
  return Array.isArray(value) ? (value as unknown[]).map(fieldsOf) : [];
}

/** The message of a failure, as any of the APIs has it; null: there is none. */
export function messageIn(value: unknown): string | null {
  const event = fieldsOf(value);
  const places = [fieldsOf(event["error"]), fieldsOf(fieldsOf(event["response"])["error"]), event];
  const found = places.map(({ message }) => message).find((message) => typeof message === "string");
  return typeof found === "string" ? found : null;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

export function fieldsOf(value: unknown): Event {
  return typeof value === "object" && value !== null ? (value as Event) : {};
}
