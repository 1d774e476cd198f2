// What people say while the loop works, read between two steps. Outside a sandbox there is no inbox, and nobody says anything.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const PROGRAM = "antiphon-inbox";
const LIMIT_MS = 10_000;

const run = promisify(execFile);

/** @returns the messages that were not read before, oldest first */
export async function newMessages() {
  const all = [];
  for (let next = await nextMessage(); next !== null; next = await nextMessage()) all.push(next);
  return all;
}

async function nextMessage() {
  try {
    return (await run(PROGRAM, [], { timeout: LIMIT_MS })).stdout;
  } catch (error) {
    if (error.code === 1 || error.code === "ENOENT" || error.killed === true) return null;
    throw error;
  }
}
