/** A tunnel that is not looked into: bytes both ways, counted. */
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

/** Ends with either side; throws when it never began, at the quota, and when nothing moves for `idleMs`. */
export async function passThrough(
  inside: Socket,
  to: Endpoint,
  passed: Passed,
  quota: Quota,
  idleMs: number,
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
  const outside = await connected(inside, to, idleMs);
  const ways = [pipeline(inside, counting("up"), outside), pipeline(outside, counting("down"), inside)];
  const ends = await Promise.allSettled(ways);
  outside.destroy();
  inside.destroy();
  const refused = ends.find((end) => end.status === "rejected" && end.reason instanceof EgressRefusal);
  if (refused?.status === "rejected") throw refused.reason;
}

/** All that passes goes over this connection, so its silence is the tunnel's: `inside` needs no clock of its own. */
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
    const silent = new EgressRefusal("ANT_EGRESS_TIMEOUT", "tunnel:idle", `nothing moved for ${idleMs} ms`);
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
