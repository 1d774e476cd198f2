import type { Attempt } from "./direct-answer.ts";
import type { StreamLeader } from "./stream-leader.ts";

/** Sends a request and compares a replica's answer with the state of the stream's leader (runtime/J3). */
export type Standard = (ask: () => Promise<Attempt>) => Promise<Attempt>;

const LAGS: Attempt = { kind: "later", reason: "the replica that answered lags behind the leader" };

/** One message: what the replica lacks is read from the leader. */
export function orFromLeader(leader: StreamLeader, stream: string, subject: string): Standard {
  return heldTo(async (ask) => {
    const attempt = await ask();
    if (attempt.kind !== "none") return attempt;
    const message = await leader.last(stream, subject);
    return message === null ? attempt : { kind: "done", messages: [message], pending: 0, upToSeq: 0 };
  });
}

/** Some of the matching messages: there are none only if the leader has none either. */
export function noneOnlyIfLeader(
  leader: StreamLeader,
  stream: string,
  filters: readonly string[],
  fromSeq: number,
): Standard {
  return heldTo(async (ask) => {
    const attempt = await ask();
    return attempt.kind === "none" && (await leader.has(stream, filters, fromSeq)) ? LAGS : attempt;
  });
}

/** All matching messages: the answer must reach the last sequence that the leader had before the first request. */
export function upToLeader(
  leader: StreamLeader,
  stream: string,
  filters: readonly string[],
  fromSeq: number,
): Standard {
  const orNone = noneOnlyIfLeader(leader, stream, filters, fromSeq);
  let due: number | null = null;
  return heldTo(async (ask) => {
    const reached = (due ??= await leader.lastSeq(stream));
    const attempt = await orNone(ask);
    return attempt.kind === "done" && attempt.upToSeq < reached ? LAGS : attempt;
  });
}

/** While the stream has no leader, its state is unknown, so the read is retried. */
function heldTo(standard: Standard): Standard {
  return async (ask) => {
    try {
      return await standard(ask);
    } catch (error) {
      return { kind: "later", reason: `the leader does not answer: ${String(error)}` };
    }
  };
}
