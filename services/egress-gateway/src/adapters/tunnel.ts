/** A tunnel that is not looked into: bytes both ways, counted. */
import { connect, type Socket } from "node:net";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { limits } from "@antiphon/contracts";
import type { Quota } from "../core/quota.ts";
import { EgressRefusal } from "../core/refusal.ts";
import type { Endpoint } from "./resolver.ts";

export async function passThrough(
  inside: Socket,
  to: Endpoint,
  quota: Quota,
): Promise<{ readonly up: number; readonly down: number }> {
  const passed = { up: 0, down: 0 };
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
  const outside = connect(to.port, to.address);
  outside.setTimeout(limits.egressIdleMs, () => outside.destroy());
  await new Promise<void>((resolve, reject) => {
    outside.once("connect", resolve);
    outside.once("error", (error) =>
      reject(new EgressRefusal("ANT_EGRESS_UPSTREAM", "tunnel:failed", error.message)),
    );
  });
  const ways = [pipeline(inside, counting("up"), outside), pipeline(outside, counting("down"), inside)];
  const ends = await Promise.allSettled(ways);
  outside.destroy();
  inside.destroy();
  const refused = ends.find((end) => end.status === "rejected" && end.reason instanceof EgressRefusal);
  if (refused?.status === "rejected") throw refused.reason;
  return passed;
}
