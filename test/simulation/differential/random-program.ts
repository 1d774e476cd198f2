/** A random sequence of operations, determined by its seed, without any that depends on time. */
import { Chance } from "../chance.ts";
import type { Program } from "./both.ts";
import { EXPECT, type Delivered } from "./probe.ts";

const STEPS = 60;

export function randomProgram(seed: number, stream: string): Program {
  return async (probe) => {
    const chance = new Chance(seed);
    probe.showsPending = false;
    const held: Delivered[] = [];
    const subject = (): string =>
      `${stream}.${chance.pick(["a", "b", "c"])}.${chance.int(0, 3)}`.toLowerCase();
    const filter = (): string =>
      `${stream}.${chance.pick(["a", "b", "*"])}.${chance.pick(["*", ">", "1"])}`.toLowerCase();
    const headers = (): Record<string, string> => ({
      ...(chance.hit(0.6) ? { [EXPECT]: String(chance.pick([0, 0, chance.int(1, 20)])) } : {}),
      ...(chance.hit(0.2) ? { "Nats-Msg-Id": `id${chance.int(0, 6)}` } : {}),
    });
    for (let step = 0; step < STEPS; step += 1) {
      const odd = chance.next();
      if (odd < 0.35) await probe.ask(subject(), `m${step}`, headers());
      else if (odd < 0.45) {
        const rows = Array.from({ length: chance.int(1, 5) }, () => [subject(), headers()] as const);
        await probe.batch(`b${step}`, rows);
      } else if (odd < 0.5) await probe.last(stream, subject());
      else if (odd < 0.6)
        await probe.series(stream, {
          multi_last: [filter()],
          ...(chance.hit(0.3) ? { seq: chance.int(1, 30) } : {}),
        });
      else if (odd < 0.65)
        await probe.series(stream, {
          next_by_subj: filter(),
          seq: chance.int(1, 20),
          batch: chance.int(1, 6),
        });
      else if (odd < 0.7)
        await probe.ask(`$JS.API.STREAM.PURGE.${stream}`, JSON.stringify({ filter: subject() }));
      else if (odd < 0.85) held.push(...(await probe.pull(stream, "c", 1, { expiresS: 0.25 })));
      else if (held.length > 0) {
        const [delivered] = held.splice(chance.int(0, held.length - 1), 1);
        await probe.settle(delivered, chance.pick(["+ACK", "+ACK", "+TERM", "+WPI"]));
      }
    }
    await probe.state(stream);
  };
}
