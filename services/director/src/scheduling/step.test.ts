import { describe, expect, test } from "vitest";
import { openRun, outstanding, replay } from "@antiphon/run";
import { RecordLog, commitOf, planned } from "@antiphon/run/testing/record-log";
import type { CachedRun } from "../runs/cached-run.ts";
import { POLICY } from "../testing/directing.ts";
import { nextStep, type Knowledge } from "./step.ts";

/** The run as a Director knows it. `gapless`: each record names the one before it. */
function known({ runId, records }: RecordLog, gapless: boolean): CachedRun {
  const linked = records.map((record, i) =>
    gapless && i > 0 ? { ...record, after: records[i - 1]!.seq } : record,
  );
  return { records: linked, snapshot: replay(openRun(runId, POLICY), linked) };
}

function step(log: RecordLog, knowledge: Knowledge, gapless = true) {
  const run = known(log, gapless);
  const next = nextStep(run, outstanding(run.snapshot), knowledge);
  if (next.kind !== "run") return next.kind;
  return `${next.effects.map(({ kind }) => kind).join(" ")}${next.ifUnmoved ? " if unmoved" : ""}`;
}

const chain = () => new RecordLog().opened([planned("T-001"), planned("T-002", ["T-001"])]);
const reported = (log: RecordLog) => log.dispatched("T-001").claimed("T-001").reported("T-001", 1, "ok");
const judged = (log: RecordLog) => reported(log).judged("T-001", 1, { commit: commitOf(1) });

describe("director/D3: the next step of a run", () => {
  test("leaves a single dispatch of a linear run to the server, if no record can be missing", () => {
    expect(step(chain(), "delivered")).toBe("dispatch if unmoved");
    expect(step(chain(), "delivered", false)).toBe("confirm");
  });

  test("reads the run before it lands, whatever it knows", () => {
    expect(step(judged(chain()), "delivered")).toBe("confirm");
    expect(step(judged(chain()), "confirmed")).toBe("land");
  });

  test("verifies a proposal of a linear run as delivered, and one of overlapping tasks after a read", () => {
    expect(step(reported(chain()), "delivered", false)).toBe("verify");
    const overlapping = new RecordLog().opened([planned("T-001"), planned("T-002")]).dispatched("T-002");
    expect(step(reported(overlapping), "delivered")).toBe("confirm");
    expect(step(reported(overlapping), "confirmed")).toBe("verify");
  });

  test("reads a run that has moved once, so that the Director comes to an end", () => {
    expect(step(chain(), "moved")).toBe("confirm");
    expect(step(chain(), "confirmed")).toBe("dispatch");
  });

  test("waits if there is nothing to start", () => {
    expect(step(chain().dispatched("T-001"), "delivered")).toBe("wait");
  });
});
