/**
 * Allows one set-up at a time in a checkout: the second waits for the first, then finds its work done.
 *
 * The lock is a file that names its holder. It appears by link(2), so it is never seen half written,
 * and a dead holder's lock is moved aside by rename(2), which only one waiter can do.
 */
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { STATE_DIR } from "./checkout.mjs";
import { StepFailure } from "./step-failure.mjs";

const POLL_MS = 200;
/** Longer than the longest honest set-up on a slow line. */
const PATIENCE_MS = 30 * 60_000;

/**
 * Takes the lock and returns a function that releases it.
 *
 * @param {{note: (text: string) => void, file?: string, patienceMs?: number}} input
 * @returns {Promise<() => void>}
 */
export async function takeLock({
  note,
  file = path.join(STATE_DIR, "setup.lock"),
  patienceMs = PATIENCE_MS,
}) {
  mkdirSync(path.dirname(file), { recursive: true });
  const own = `${file}.${process.pid}`;
  const deadline = Date.now() + patienceMs;
  let told = false;
  writeFileSync(own, `${process.pid}\n`);
  try {
    for (;;) {
      if (tryTo(() => linkSync(own, file), "EEXIST")) return () => rmSync(file, { force: true });
      const holder = holderOf(file);
      if (holder !== null && !isAlive(holder)) {
        moveAside(file, holder);
        continue;
      }
      if (Date.now() > deadline)
        throw new StepFailure(
          `another set-up (process ${holder}) has held ${file} for too long`,
          `end process ${holder} if it hangs, then run npm run setup again`,
        );
      if (!told) note(`waiting for another set-up (process ${holder})`);
      told = true;
      await delay(POLL_MS);
    }
  } finally {
    rmSync(own, { force: true });
  }
}

/** @param {string} file @param {number} dead */
function moveAside(file, dead) {
  const aside = `${file}.stale.${process.pid}`;
  if (!tryTo(() => renameSync(file, aside), "ENOENT")) return;
  // Another process may have taken the lock between the check and the rename: give it back.
  if (holderOf(aside) !== dead) tryTo(() => linkSync(aside, file), "EEXIST");
  rmSync(aside, { force: true });
}

/** @param {string} file */
function holderOf(file) {
  let text = "";
  if (!tryTo(() => (text = readFileSync(file, "utf8")), "ENOENT")) return null;
  return Number.parseInt(text, 10);
}

/** A process of another user answers EPERM, and is alive. @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}

/**
 * Runs a file system operation that may fail in expected ways; returns whether it succeeded.
 *
 * @param {() => unknown} action
 * @param {string[]} expected error codes
 */
function tryTo(action, ...expected) {
  try {
    action();
    return true;
  } catch (error) {
    if (expected.includes(/** @type {NodeJS.ErrnoException} */ (error).code ?? "")) return false;
    throw error;
  }
}
