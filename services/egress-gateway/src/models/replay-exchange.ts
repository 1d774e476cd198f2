/**
 * A model call that is answered from the record of an earlier attempt. Nothing leaves, and nothing is charged.
 *
 * A recorded answer that broke off breaks off again. Requests that no provider charges were not recorded; programs do
 * without the list of models, so it is refused like everything else that the record does not hold.
 */
import type { ModelAnswer, ModelAsk } from "../proxy/exchange.ts";
import { EgressRefusal } from "../policy/refusal.ts";
import { parsedBody } from "./model-call.ts";
import { alive, bodyOf, drained, isAlive, websocket } from "./plain-request.ts";
import type { RecordedCalls, ReplayedCall } from "./recorded-calls.ts";

const PIECE_CHARS = 64 * 1024;

export interface ReplayPorts {
  readonly calls: RecordedCalls;
  /** The name of a recorded call's object, for the log. */
  readonly nameOf: (call: ReplayedCall) => string | null;
  readonly onServed: (call: ReplayedCall) => void;
  /** Answers a call that the record does not; null: it is refused. */
  readonly otherwise: ((ask: ModelAsk) => Promise<ModelAnswer>) | null;
}

export async function replayExchange(
  ask: ModelAsk,
  { calls, nameOf, onServed, otherwise }: ReplayPorts,
): Promise<ModelAnswer> {
  const { request, target } = ask;
  if (request.headers.upgrade !== undefined) throw websocket();
  if (isAlive(ask)) return alive(ask);
  if (request.method !== "POST") throw unrecorded(`${request.method ?? ""} ${target.path}`, 404);
  const body = await bodyOf(ask);
  const call = calls.answerTo({ host: target.host, path: target.path, body: parsedBody(body) });
  if (call === null && otherwise !== null) return otherwise({ ...ask, body });
  if (call === null) throw unrecorded(`POST ${target.path}`);
  onServed(call);
  const { response: recorded, model } = call.recording;
  if (recorded.status === 0)
    throw new EgressRefusal("ANT_EGRESS_UPSTREAM", "replay:call", "the recorded call had no answer");
  await sent(ask, call);
  const entry = {
    name: model,
    reserved_tokens: 0,
    charged_tokens: 0,
    charged_usd_micro: 0,
    recording: nameOf(call),
  };
  return { rule: "replay:call", status: recorded.status, entry };
}

async function sent(ask: ModelAsk, { recording: { response: recorded } }: ReplayedCall): Promise<void> {
  const { response } = ask;
  response.writeHead(recorded.status, { "content-type": recorded.content_type ?? "application/json" });
  for (let at = 0; at < recorded.text.length; at += PIECE_CHARS) {
    const piece = Buffer.from(recorded.text.slice(at, at + PIECE_CHARS), "utf8");
    ask.down(piece.length);
    if (!response.write(piece)) await drained(ask);
  }
  if (recorded.truncated || recorded.whole === false)
    throw new EgressRefusal("ANT_EGRESS_UPSTREAM", "replay:call", "the recorded answer broke off");
  response.end();
}

function unrecorded(what: string, status?: number): EgressRefusal {
  const why = `${what}: the record of this attempt has no such call`;
  return new EgressRefusal("ANT_EGRESS_REPLAY", "replay:none", why, status);
}
