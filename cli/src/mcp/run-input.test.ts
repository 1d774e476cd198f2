import { RUN_FLAGS } from "@antiphon/contracts/runs/run-options";
import { describe, expect, it } from "vitest";
import { intentOf } from "../runs/run-request.ts";
import { patchIn, runFlagsOf, runShape } from "./run-input.ts";
import { inputOf } from "./tool.ts";

const shape = inputOf(runShape(RUN_FLAGS));
const DIFF = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n";
const files = { patch: null, packs: [], tasks: null, plan: null, recordingSeed: null };

describe("the input of the tool that starts a run", () => {
  it("has every run option by its flag, but not those that name files of the person who types", () => {
    const names = RUN_FLAGS.map(({ flag }) => flag.split(" ")[0]?.slice(2));
    const missing = names.filter((name) => name !== undefined && !(name in shape.shape));
    expect(missing).toEqual(["recording", "tasks"]);
  });

  it("is the same intent as that of the command line", () => {
    const given = {
      command: ["sed -i s/1/2/ x"],
      check: ["make test"],
      attempts: 2,
      "time-budget": 60,
      "model-usd": 0.25,
      "allow-unproven": true,
      "no-record": true,
      "no-setup": true,
      env: ["A=b=c"],
      workflow: "debug",
    };
    const flags = runFlagsOf(RUN_FLAGS, shape.parse(given));
    const typed = {
      command: ["sed -i s/1/2/ x"],
      check: ["make test"],
      attempts: "2",
      timeBudget: "60",
      modelUsd: "0.25",
      allowUnproven: true,
      record: false,
      setup: false,
      env: ["A=b=c"],
      workflow: "debug",
    };
    expect(flags).toEqual(typed);
    expect(intentOf("g", "/r", flags, files)).toEqual(intentOf("g", "/r", typed, files));
  });

  it("takes a switch that is false as not given", () => {
    const off = { "allow-dirty": false, "no-record": false, "no-setup": false };
    expect(runFlagsOf(RUN_FLAGS, off)).toEqual({});
  });

  it.each([
    ["a word for a number", { attempts: "two" }],
    ["a fraction of an attempt", { attempts: 1.5 }],
    ["a check that is no list", { check: "make test" }],
    ["an option that there is not", { tasks: "plan.yaml" }],
  ])("refuses %s", (_name, given) => {
    expect(shape.safeParse(given).success).toBe(false);
  });

  it("takes a patch as text and refuses one that holds no diff", () => {
    expect(patchIn(DIFF)?.files).toHaveLength(1);
    expect(patchIn(undefined)).toBeNull();
    expect(() => patchIn("fix.diff")).toThrow("no unified diff");
  });
});
