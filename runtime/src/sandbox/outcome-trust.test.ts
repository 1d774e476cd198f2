import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outcomeDigest, type SandboxOutcome, type SandboxRequest } from "@antiphon/contracts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLogger } from "../process/logger.ts";
import { openSigningKey, signOutcome } from "../process/signing-key.ts";
import { OutcomeTrust, pinRunnerKey } from "./outcome-trust.ts";

const log = createLogger("test", { level: "silent" });
const [ours, other] = [openSigningKey(null), openSigningKey(null)];
const REQUEST = { jobId: "job_1" } as SandboxRequest;
const OUTCOME = { outcome: "completed" } as SandboxOutcome;
let directory = "";
let file = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "antiphon-runners-"));
  file = join(directory, "trusted-runners.json");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test("a runner is believed once the file names it, also when the file is made later", () => {
  const trust = OutcomeTrust.inFile(file, log);
  const signature = signOutcome(ours, outcomeDigest(REQUEST, OUTCOME));
  expect(trust.believes(REQUEST, OUTCOME, signature)).toBe(false);
  pinRunnerKey(file, ours.jwk, log);
  expect(trust.believes(REQUEST, OUTCOME, signature)).toBe(true);
  expect(trust.believes({ ...REQUEST, jobId: "job_2" }, OUTCOME, signature)).toBe(false);
  expect(trust.forged).toBe(2);
});

test("a runner whose key is not in the file does not start, and leaves the file as it is", () => {
  pinRunnerKey(file, other.jwk, log);
  const before = readFileSync(file, "utf8");
  expect(() => pinRunnerKey(file, ours.jwk, log)).toThrow(
    expect.objectContaining({ code: "ANT_TRUST_MISSING" }),
  );
  expect(readFileSync(file, "utf8")).toBe(before);
});

test("a file that holds no keys is named with its variable", () => {
  writeFileSync(file, "{}");
  expect(() => OutcomeTrust.inFile(file, log)).toThrow(/ANTIPHON_TRUSTED_RUNNERS/);
});
