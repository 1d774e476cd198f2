import { createLogger } from "@antiphon/runtime";
import type { SandboxStepOutcome } from "@antiphon/contracts";
import { expect, test } from "vitest";
import type { ChangedFile } from "../ports.ts";
import { output } from "../testing/dispatch.fixture.ts";
import type { Ran, Work } from "./ran.ts";
import { usageIn } from "./usage-file.ts";

const file = (path: string, text: string): ChangedFile => ({
  path,
  mode: "100644",
  content: Buffer.from(text),
});
const usage: NonNullable<Work["usage"]> = { tokens: ["used"], adds: "sum" };
const SAID = [{ path: "usage.json", text: '{"tokens":7,"usd":null}\n' }];
const ports = {
  evidence: { text: () => Promise.reject(new Error("the store is away")) },
  log: createLogger("test", { level: "silent" }),
} as unknown as Parameters<typeof usageIn>[2];

/** An attempt whose program printed these bytes, of which the middle may be lost. */
function ranWith(work: Partial<Work>, more: Partial<Ran> = {}, truncated = false): Ran {
  const stdout = { ...output('{"used":7}\n'), truncated };
  const steps = [{ id: "work-1", stdout }] as unknown as SandboxStepOutcome[];
  const plan = { work: [{ id: "work-1", command: "own" }] } as unknown as Ran["plan"];
  const outcome = { steps } as unknown as Ran["outcome"];
  return { plan, outcome, work: work as Work, ...more } as Ran;
}

test("what an agent has used is read from a file of its own, whatever its transcript is", async () => {
  const from = { file: ".own.jsonl", format: "jsonl" } as const;
  const account = { format: "text" } as const;
  const used = file(".own.jsonl", '{"used":3}\n{"used":4}\n');
  const text = [{ path: "transcript.txt", text: "words" }];
  const work = { usage: { ...usage, from }, account };
  expect(await usageIn(text, ranWith(work, { used }, true), ports)).toEqual(SAID);
  expect(await usageIn(text, ranWith(work), ports)).toEqual([]);
});

test("a transcript in a file is whole, also where the output of its program is not", async () => {
  const account = { file: ".own.json", format: "json" } as const;
  const work = { usage: { ...usage, list: "log" }, account };
  const transcript = [{ path: "transcript.json", text: '{"log":[{"used":3},{"used":4}]}' }];
  expect(await usageIn(transcript, ranWith(work, {}, true), ports)).toEqual(SAID);
});

test("no sum is made of an output whose middle is not kept, and none of text", async () => {
  const lines = [{ path: "transcript.jsonl", text: '{"used":7}\n' }];
  const work = { usage, account: { format: "jsonl" } } as const;
  expect(await usageIn(lines, ranWith(work), ports)).toEqual(SAID);
  expect(await usageIn(lines, ranWith(work, {}, true), ports)).toEqual([]);
  expect(await usageIn(lines, ranWith({ usage, account: { format: "text" } }), ports)).toEqual([]);
});

test("a transcript that cannot be read is no reason to lose an attempt", async () => {
  const lines = [{ path: "transcript.jsonl", blob: "0".repeat(64) }] as never;
  expect(await usageIn(lines, ranWith({ usage, account: { format: "jsonl" } }), ports)).toEqual([]);
});
