/**
 * A handler's decision about one delivery, and the one table that maps it to a JetStream verb.
 *
 *   done      all outputs of this input are stored            -> ack
 *   retry     deliver the same input again after a delay      -> nak with delay
 *   terminal  never deliver again; a human has to look        -> dead letter, then term
 */
export type Outcome =
  | { kind: "done" }
  | { kind: "retry"; delayMs: number; code?: string }
  | { kind: "terminal"; code: string; detail: string };

export type AckVerb =
  | { verb: "ack"; payload: "+ACK" }
  | { verb: "nak"; payload: string }
  | { verb: "term"; payload: string; deadLetter: { code: string; detail: string } };

const retryFloorMs = 50;
const retryCapMs = 60_000;

export function ackVerb(outcome: Outcome): AckVerb {
  switch (outcome.kind) {
    case "done":
      return { verb: "ack", payload: "+ACK" };
    case "retry": {
      const delayMs = Math.min(retryCapMs, Math.max(retryFloorMs, outcome.delayMs));
      return { verb: "nak", payload: `-NAK {"delay":${Math.round(delayMs) * 1_000_000}}` };
    }
    case "terminal":
      return {
        verb: "term",
        payload: `+TERM ${outcome.code}`,
        deadLetter: { code: outcome.code, detail: outcome.detail },
      };
  }
}
