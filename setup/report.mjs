/**
 * Prints the progress of set-up: one line per step with its time, notes during long steps, and for a failure the reason and
 * the remedy; or one JSON object for programs.
 */
import { IS_CHECKOUT } from "./checkout.mjs";
import { StepFailure } from "./step-failure.mjs";

/**
 * @typedef {{name: string, outcome: "present" | "made" | "failed", detail: string, remedy?: string, ms: number}} StepReport
 * @typedef {{note: (text: string) => void}} StepContext
 */

/** @param {{json: boolean, write?: (line: string) => void, now?: () => number}} options */
export function createReport({ json, write = console.log, now = () => performance.now() }) {
  const started = now();
  /** @type {StepReport[]} */
  const steps = [];
  const say = json ? () => undefined : (/** @type {string} */ line) => write(visible(line));

  /** @param {StepReport} step */
  const add = (step) => {
    steps.push(step);
    const mark = step.outcome === "failed" ? "FAIL" : "ok  ";
    say(`${mark} ${step.name.padEnd(18)} ${seconds(step.ms)}  ${step.detail}`);
    if (step.remedy !== undefined) say(`     remedy: ${step.remedy}`);
  };

  return {
    /**
     * Runs one step. A failure is printed and returned as `ok: false`, so that the other steps continue.
     *
     * @template T
     * @param {string} name
     * @param {(context: StepContext) => Promise<T>} work
     * @param {{silent?: boolean}} [options] silent: no line for success
     * @returns {Promise<{ok: true, value: T} | {ok: false}>}
     */
    async step(name, work, { silent = false } = {}) {
      const begun = now();
      try {
        const value = await work({ note: (text) => say(`     ${name}: ${text}`) });
        if (!silent) {
          const { outcome, detail } = /** @type {any} */ (value);
          add({ name, outcome, detail, ms: Math.round(now() - begun) });
        }
        return { ok: true, value };
      } catch (error) {
        const { message, remedy } = error instanceof StepFailure ? error : defect(error);
        const ms = Math.round(now() - begun);
        add({ name, outcome: "failed", detail: message, remedy: forThisInstallation(remedy), ms });
        return { ok: false };
      }
    },
    /** Prints the closing line and returns the exit code. */
    finish() {
      const failed = steps.filter((step) => step.outcome === "failed");
      const ms = Math.round(now() - started);
      if (json) write(JSON.stringify({ ok: failed.length === 0, ms, steps }, null, 2));
      else if (failed.length === 0) say(`done in ${seconds(ms).trim()}`);
      else say(`not complete: ${failed.map((step) => step.name).join(", ")}`);
      return failed.length === 0 ? 0 : 1;
    },
  };
}

/**
 * A line may quote a package manager, a container engine or a server: what would control a terminal is shown as an escape.
 *
 * @param {string} line
 */
function visible(line) {
  const escape = (/** @type {string} */ char) =>
    `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
  return line.replace(/(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escape);
}

/** The steps name the command of a checkout. @param {string} remedy */
function forThisInstallation(remedy) {
  return IS_CHECKOUT ? remedy : remedy.replaceAll("npm run setup", "antiphon setup");
}

/** Reports an unexpected error like any failure, with its stack on standard error. @param {unknown} error */
function defect(error) {
  console.error(error);
  const message = error instanceof Error ? error.message : String(error);
  return { message, remedy: "run npm run setup again; if it stays, this is a fault of set-up: report it" };
}

/** @param {number} ms */
const seconds = (ms) => `${(ms / 1000).toFixed(1).padStart(5)} s`;
