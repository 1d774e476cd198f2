/** A tunnel whose TLS is passed through: it counts the bytes in both directions. */
import { connect, type Socket } from "node:net";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Quota } from "../policy/quota.ts";
import { EgressRefusal } from "../policy/refusal.ts";
import type { Endpoint } from "./resolver.ts";

export interface Passed {
  up: number;
  down: number;
}

/** How a tunnel reaches its end: through the upstream proxy, if the end is reached so. The signal ends the attempt. */
export type Dial = (to: Endpoint, signal: AbortSignal) => Promise<Socket>;

/** Ends when either side ends. Throws when the upstream cannot be reached, at the quota, and after `idleMs` without a byte. */
export async function passThrough(
  inside: Socket,
  to: Endpoint,
  passed: Passed,
  quota: Quota,
  { idleMs, dial }: { readonly idleMs: number; readonly dial: Dial | null },
): Promise<void> {
  const counting = (way: "up" | "down"): Transform =>
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        try {
          quota[way](chunk.length);
          passed[way] += chunk.length;
          done(null, chunk);
        } catch (error) {
          done(error as Error);
        }
      },
    });
  const outside =
    to.isProxied === true && dial !== null
      ? await dialed(inside, to, dial, idleMs)
      : await connected(inside, to, idleMs);
  const ways = [pipeline(inside, counting("up"), outside), pipeline(outside, counting("down"), inside)];
  const ends = await Promise.allSettled(ways);
  outside.destroy();
  inside.destroy();
  const refused = ends.find((end) => end.status === "rejected" && end.reason instanceof EgressRefusal);
  if (refused?.status === "rejected") throw refused.reason;
}

/** The dial has a deadline of its own; it also ends when the sandbox closes the connection. */
async function dialed(inside: Socket, to: Endpoint, dial: Dial, idleMs: number): Promise<Socket> {
  inside.setTimeout(0);
  const stop = new AbortController();
  const gone = (): void =>
    stop.abort(new EgressRefusal("ANT_EGRESS_TIMEOUT", "client:gone", "the sandbox closed the connection"));
  if (inside.destroyed) gone();
  else inside.once("close", gone);
  try {
    const outside = await dial(to, stop.signal);
    if (inside.destroyed) {
      outside.destroy();
      gone();
    }
    stop.signal.throwIfAborted();
    const silent = new EgressRefusal("ANT_EGRESS_TIMEOUT", "tunnel:idle", `no byte passed for ${idleMs} ms`);
    return outside.setTimeout(idleMs, () => outside.destroy(silent));
  } finally {
    inside.off("close", gone);
  }
}

/** Every byte of the tunnel passes over this connection, so its idle timeout covers `inside` too. */
function connected(inside: Socket, to: Endpoint, idleMs: number): Promise<Socket> {
  inside.setTimeout(0);
  return new Promise((resolve, reject) => {
    const outside = connect(to.port, to.address);
    const failed = (code: "ANT_EGRESS_UPSTREAM" | "ANT_EGRESS_TIMEOUT", rule: string, why: string): void =>
      reject(new EgressRefusal(code, rule, why));
    const gone = (): void => {
      outside.destroy();
      failed("ANT_EGRESS_TIMEOUT", "client:gone", "the sandbox closed the connection");
    };
    const silent = new EgressRefusal("ANT_EGRESS_TIMEOUT", "tunnel:idle", `no byte passed for ${idleMs} ms`);
    outside.setTimeout(idleMs, () => outside.destroy(silent));
    outside.once("error", (error) => {
      inside.off("close", gone);
      if (error instanceof EgressRefusal) reject(error);
      else failed("ANT_EGRESS_UPSTREAM", "tunnel:failed", error.message);
    });
    outside.once("connect", () => {
      inside.off("close", gone);
      resolve(outside);
    });
    if (inside.destroyed) gone();
    else inside.once("close", gone);
  });
}
