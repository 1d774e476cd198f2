/**
 * Asks the deployment's model which workflow a goal means. The Router's own decision stands where the model gives no answer:
 * it is slow, down, or says something else.
 */
import type { Workflow } from "@antiphon/contracts";
import type { Logger } from "@antiphon/runtime";
import { answerIn, questionFor } from "./model-answer.ts";

export interface RouterModel {
  /** The folder of its API, with a slash at the end; `chat/completions` is below it. */
  readonly url: string;
  readonly name: string;
  /** Null: the model asks for none. */
  readonly key: string | null;
}

/** A person waits for the run to begin. */
const DEADLINE_MS = 5_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** So a model that hangs cannot hold the slots of intents that need none. */
const AT_ONCE = 8;
const FAILURES = 3;
const PAUSE_MS = 60_000;

/** Null: no answer. Never rejects. */
export type AskModel = (goal: string, signal: AbortSignal) => Promise<Workflow | null>;

/** Asks nothing while enough questions wait for an answer, and for a minute after a few failures in a row. */
export function modelAsker(model: RouterModel, log: Logger, now = () => performance.now()): AskModel {
  let waiting = 0;
  let failures = 0;
  let pausedUntil = 0;
  return async (goal, signal) => {
    if (waiting >= AT_ONCE || now() < pausedUntil) return null;
    waiting += 1;
    const workflow = await ask(model, goal, log, signal).finally(() => (waiting -= 1));
    failures = workflow === null ? failures + 1 : 0;
    if (failures >= FAILURES) {
      log.warn({ model: model.name, pauseMs: PAUSE_MS }, "the model is not asked for a while");
      pausedUntil = now() + PAUSE_MS;
      failures = 0;
    }
    return workflow;
  };
}

async function ask(
  { url, name, key }: RouterModel,
  goal: string,
  log: Logger,
  signal: AbortSignal,
): Promise<Workflow | null> {
  try {
    const response = await fetch(new URL("chat/completions", url), {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      },
      body: questionFor(name, goal),
      redirect: "error", // The key is for this address.
      signal: AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]),
    });
    const text = await textOf(response);
    const workflow = response.ok ? answerIn(text) : null;
    if (workflow === null)
      log.warn(
        { model: name, status: response.status },
        "the model named no workflow; the classifier decides",
      );
    return workflow;
  } catch (error) {
    log.warn({ err: error, model: name }, "the model gave no answer; the classifier decides");
    return null;
  }
}

/** @throws if it is longer than an answer can be */
async function textOf({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += part.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new RangeError(`an answer of more than ${MAX_ANSWER_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
