import { expect, it } from "vitest";
import { failed } from "./publish-result.ts";
import { StorageRefusals } from "./storage-refusals.ts";

const OK = { kind: "ok", seq: 1, count: 1 } as const;
const FULL = failed(10047, "insufficient storage resources available");

function watched() {
  let now = 0;
  const said: string[] = [];
  const line =
    (level: string) =>
    (what: object): void =>
      void said.push(`${level} ${(what as { stream: string }).stream}`);
  const refusals = new StorageRefusals({ warn: line("warn"), info: line("info") }, () => now);
  return { refusals, said, after: (ms: number) => (now += ms) };
}

it("logs a full stream once and once more when it accepts a message again, whatever other streams accept", () => {
  const { refusals, said } = watched();
  for (const result of [OK, FULL, FULL, FULL]) refusals.note("A", result);
  refusals.note("B", OK);
  expect(refusals.first).toEqual({ stream: "A", reason: "insufficient storage resources available (10047)" });
  refusals.note("A", { kind: "unknown", reason: "connection lost" });
  refusals.note("A", OK);
  expect([refusals.first, said]).toEqual([null, ["warn A", "info A"]]);
});

it("logs a stream that takes small messages and refuses large ones once a minute", () => {
  const { refusals, said, after } = watched();
  for (let second = 0; second < 120; second += 1) {
    refusals.note("A", FULL);
    refusals.note("A", OK);
    after(1_000);
  }
  expect(said).toEqual(["warn A", "info A", "warn A", "info A"]);
});

it("does not count a refusal for another reason", () => {
  const { refusals, said } = watched();
  refusals.note("A", failed(10071, "wrong last sequence"));
  expect([refusals.first, said]).toEqual([null, []]);
});
