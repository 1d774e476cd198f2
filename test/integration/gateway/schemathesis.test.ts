/**
 * Schemathesis against a gateway that the documented command starts (`scripts/schemathesis.mjs`). ANTIPHON_TEST_SCHEMATHESIS names
 * its program; else it is the one below `.antiphon/tools`, or of PATH. Without any this test fails and says why.
 */
import { spawn } from "node:child_process";
import { execPath } from "node:process";
import { join } from "node:path";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../../..");
/** Requests per operation; ANTIPHON_TEST_SCHEMATHESIS_EXAMPLES asks for another number. */
const EXAMPLES = process.env["ANTIPHON_TEST_SCHEMATHESIS_EXAMPLES"] ?? "100";
const DEADLINE_MS = 25 * 60_000;

/** The exit code of the documented command, and what it printed. */
async function checked(): Promise<{ code: number | null; printed: string }> {
  const script = join(ROOT, "scripts/schemathesis.mjs");
  const child = spawn(execPath, [script, "--max-examples", EXAMPLES], {
    env: { ...process.env, CI: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (printed += chunk.toString("utf8")));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { code, printed };
}

it(
  "finds no answer of the gateway that its own OpenAPI document does not allow",
  { timeout: DEADLINE_MS },
  async () => {
    const { code, printed } = await checked();
    expect([code, printed]).toEqual([0, expect.not.stringContaining("unavailable:")]);
  },
);
