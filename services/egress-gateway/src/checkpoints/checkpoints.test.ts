import { expect, test } from "vitest";
import type { BlobRef } from "@antiphon/contracts";
import { MemoryKv } from "@antiphon/runtime/testing/memory-kv";
import { Checkpoints, type Kept } from "./checkpoints.ts";

const at = (epoch: number) => ({ run: "run_x", task: "T-001", epoch });
const blob = (name: string): BlobRef => ({ bucket: "b", name, digest: name, bytes: 1 });
const kept = (name: string): Kept => ({ state: blob(name), tree: null, calls: [blob("call")] });
const FENCED: unknown = expect.objectContaining({ code: "ANT_EGRESS_FENCED", status: 409 });

test("run/R2: an attempt goes on from the newest checkpoint of a lost one, which leaves none from then on", async () => {
  const checkpoints = new Checkpoints(new MemoryKv());
  const lost = await checkpoints.begin(at(1), null);
  expect(lost.kept).toBeNull();
  await lost.keep(kept("one"));
  await lost.keep(kept("two"));
  const next = await checkpoints.begin(at(2), { newest: 1, oldest: 1 });
  expect(next.kept).toEqual(kept("two"));
  await expect(lost.keep(kept("late"))).rejects.toEqual(FENCED);
  await expect(checkpoints.begin(at(1), null)).rejects.toEqual(FENCED);
  await next.keep(kept("three"));
});

test("run/R2: a lost attempt that had left nothing leaves nothing later", async () => {
  const checkpoints = new Checkpoints(new MemoryKv());
  const lost = await checkpoints.begin(at(1), null);
  expect((await checkpoints.begin(at(2), { newest: 1, oldest: 1 })).kept).toBeNull();
  await expect(lost.keep(kept("late"))).rejects.toEqual(FENCED);
});

test("an attempt that was lost before it had a sandbox, or before its first checkpoint, hands on that of the one before", async () => {
  const checkpoints = new Checkpoints(new MemoryKv());
  const first = await checkpoints.begin(at(1), null);
  await first.keep(kept("one"));
  await checkpoints.begin(at(3), { newest: 2, oldest: 1 });
  const fourth = await checkpoints.begin(at(4), { newest: 3, oldest: 1 });
  expect(fourth.kept).toEqual(kept("one"));
});

test("run/R2: the same attempt in another sandbox goes on from itself, and the first sandbox leaves none", async () => {
  const checkpoints = new Checkpoints(new MemoryKv());
  const first = await checkpoints.begin(at(1), null);
  await first.keep(kept("one"));
  const second = await checkpoints.begin(at(1), null);
  expect(second.kept).toEqual(kept("one"));
  await expect(first.keep(kept("late"))).rejects.toEqual(FENCED);
});

test("run/R2: of a lost attempt and the one that goes on, whoever writes at the same time, one is refused or read", async () => {
  const checkpoints = new Checkpoints(new MemoryKv());
  const lost = await checkpoints.begin(at(1), null);
  const [late, next] = await Promise.all([
    lost.keep(kept("race")).then(
      () => true,
      () => false,
    ),
    checkpoints.begin(at(2), { newest: 1, oldest: 1 }),
  ]);
  expect(next.kept === null).toBe(!late);
});
