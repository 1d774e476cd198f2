import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLogger, ownLabel } from "@antiphon/runtime";
import { openClaimNotes } from "./claim-notes.ts";
import { claimsLeftIn } from "./left-claims.ts";

const log = createLogger("test", { level: "silent" });
const holder = { associate: "as_1", incarnation: "i1" };
const attempt = (epoch: number) => ({ runId: "run_1", taskId: "T-001", epoch });
let directory: string;
const only = (): string => join(directory, readdirSync(directory)[0] ?? "");

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "antiphon-claims-"));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** The end of a turn of the event loop. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** As if the process that wrote the only file had been killed after this turn. */
async function killOwner(): Promise<void> {
  await turn();
  const child = spawn("sleep", ["600"]);
  const owner = ownLabel(child.pid);
  child.kill("SIGKILL");
  await once(child, "exit");
  const lines = readFileSync(only(), "utf8").split("\n");
  writeFileSync(only(), [JSON.stringify({ ...holder, owner }), ...lines.slice(1)].join("\n"));
}

describe("the notes of claims", () => {
  test("associate/A8: name the attempts that had begun and not ended, once their process is gone", async () => {
    const notes = openClaimNotes(directory, holder, log);
    notes.begin(attempt(1))();
    notes.begin(attempt(2));
    expect(claimsLeftIn(directory)).toEqual([]);
    await killOwner();
    const [left] = claimsLeftIn(directory);
    expect(left).toMatchObject({ path: only(), holder, attempts: [attempt(2)] });
  });

  test("are read up to a line that was not written to its end", async () => {
    openClaimNotes(directory, holder, log).begin(attempt(1));
    await killOwner();
    appendFileSync(only(), '+["run_2","T-0');
    expect(claimsLeftIn(directory)[0]?.attempts).toEqual([attempt(1)]);
  });

  test("stay short however many attempts begin and end, and keep those that go on", async () => {
    const notes = openClaimNotes(directory, holder, log);
    notes.begin(attempt(1));
    for (let epoch = 2; epoch < 20_000; epoch += 1) {
      notes.begin(attempt(epoch))();
      if (epoch % 100 === 0) await turn();
    }
    expect(statSync(only()).size).toBeLessThan(300 * 1024);
    await killOwner();
    expect(claimsLeftIn(directory)[0]?.attempts).toEqual([attempt(1)]);
  });

  test("of one turn are written together, at its end", async () => {
    const notes = openClaimNotes(directory, holder, log);
    notes.begin(attempt(1));
    notes.begin(attempt(2))();
    expect(readFileSync(only(), "utf8").split("\n")).toHaveLength(2);
    await turn();
    expect(readFileSync(only(), "utf8").split("\n")).toHaveLength(5);
  });

  test("are removed at an orderly end, and not written any more", async () => {
    const notes = openClaimNotes(directory, holder, log);
    notes.begin(attempt(1));
    notes.close();
    await turn();
    expect(readdirSync(directory)).toEqual([]);
  });

  test("that cannot be read are kept for a day and then removed", () => {
    const path = join(directory, "torn.claims");
    writeFileSync(path, '{"owner":');
    expect(claimsLeftIn(directory)).toEqual([]);
    expect(readdirSync(directory)).toEqual(["torn.claims"]);
    const longAgo = new Date(Date.now() - 25 * 3_600_000);
    utimesSync(path, longAgo, longAgo);
    expect(claimsLeftIn(directory)).toEqual([]);
    expect(readdirSync(directory)).toEqual([]);
  });

  test("that cannot be written cost no attempt", async () => {
    const notes = openClaimNotes(join(directory, "a\0b"), holder, log);
    expect(() => notes.begin(attempt(1))()).not.toThrow();
    await turn();
  });
});
