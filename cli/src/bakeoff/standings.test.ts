import { expect, test } from "vitest";
import { END_UNKNOWN, exitCodeOf, NOT_STARTED, standingRows, standingsOf, STOPPED } from "./standings.ts";
import type { Entry } from "./standings.ts";

const entry = (status: string, more: Partial<Entry> = {}): Entry => ({
  ...{ agent: "a", runId: "run_b", of: "run_a", status, code: null, seconds: 2, usdMicro: 1_000_000 },
  ...more,
});
const unmeasured = { seconds: null, usdMicro: null };
const refused = entry(NOT_STARTED, { ...unmeasured, runId: null, code: "ANT_REPO_NOT_FOUND" });

test("a run that was not started, was stopped or went out of sight is counted apart, and is in no figure", () => {
  const lost = entry(END_UNKNOWN, unmeasured);
  const entries = [entry("succeeded"), entry("failed"), refused, lost, entry(STOPPED)];
  const [standing] = standingsOf(entries, ["a"]);
  expect(standing).toMatchObject({ runs: 2, notStarted: 1, notEnded: 2, accepted: 1 });
  expect(standing).toMatchObject({
    share: { estimate: 0.5 },
    usd: { estimate: 1 },
    seconds: { estimate: 2 },
  });
  expect(standingRows(standing === undefined ? [] : [standing])[0]?.slice(0, 2)).toEqual([
    "a",
    "2, 1 not started, 2 not ended",
  ]);
});

test("an agent whose runs were all refused has no figures", () => {
  const standings = standingsOf([refused], ["a"]);
  expect(standings).toMatchObject([{ runs: 0, notStarted: 1, share: null, usd: null, seconds: null }]);
  expect(standingRows(standings)).toEqual([["a", "0, 1 not started", "0 of 0: -", "-", "-"]]);
});

test("the exit code tells whether anything was measured, or the bake-off was broken off", () => {
  const failures = [{ exitCode: 2 }];
  const ended = { entries: [entry("failed"), refused], failures, stoppedBy: null };
  expect(exitCodeOf(ended)).toBe(0);
  expect(exitCodeOf({ ...ended, entries: [refused] })).toBe(2);
  expect(exitCodeOf({ ...ended, stoppedBy: { exitCode: 4 } })).toBe(4);
});
