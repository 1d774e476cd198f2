import { AntiphonError } from "@antiphon/contracts";
import type { ErrorCode, ResultBody } from "@antiphon/contracts";
import { createLogger } from "@antiphon/runtime";
import type { AppendResult } from "@antiphon/runtime";
import { describe, expect, test } from "vitest";
import { storeResult } from "./result-writer.ts";

const reported = { kind: "reported" } as ResultBody;
const stored = { kind: "appended" } as AppendResult;

/** A journal that first fails with these codes, then stores. */
function failing(...codes: ErrorCode[]) {
  const said: ResultBody["kind"][] = [];
  const stop = new AbortController();
  let sleptMs = 0;
  const ports = {
    associate: "as_1",
    log: createLogger("test", { level: "silent" }),
    signal: stop.signal,
    clock: {
      now: () => sleptMs,
      sleep: (ms: number) => {
        sleptMs += ms;
        return Promise.resolve();
      },
    },
    append: (body: ResultBody) => {
      said.push(body.kind);
      const code = codes.shift();
      return code === undefined ? Promise.resolve(stored) : Promise.reject(new AntiphonError(code));
    },
  };
  return { ports, said, stop, sleptMs: () => sleptMs };
}

describe("storeResult", () => {
  test("while the disk is full, the same result is tried again", async () => {
    const journal = failing(...Array.from({ length: 30 }, () => "ANT_NATS_NO_SPACE" as const));
    expect(await storeResult(reported, journal.ports)).toBe(stored);
    expect(new Set(journal.said)).toEqual(new Set(["reported"]));
    expect(journal.sleptMs()).toBeGreaterThan(60_000);
  });

  test("a result that can never be stored is replaced by `abandoned`", async () => {
    const journal = failing("ANT_NATS_REJECTED");
    expect(await storeResult(reported, journal.ports)).toBe(stored);
    expect(journal.said).toEqual(["reported", "abandoned"]);
  });

  test("an error is thrown when `abandoned` cannot be stored either", async () => {
    const journal = failing("ANT_NATS_REJECTED", "ANT_NATS_REJECTED");
    await expect(storeResult(reported, journal.ports)).rejects.toMatchObject({ code: "ANT_NATS_REJECTED" });
  });

  test("associate/A2: a stopping process gives up and hands the dispatch back", async () => {
    const journal = failing("ANT_NATS_UNREACHABLE");
    journal.stop.abort();
    await expect(storeResult(reported, journal.ports)).rejects.toMatchObject({
      code: "ANT_NATS_UNREACHABLE",
    });
    expect(journal.said).toHaveLength(1);
  });
});
