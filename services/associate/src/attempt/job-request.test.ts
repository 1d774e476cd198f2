import { expect, test } from "vitest";
import { dispatchOf } from "../testing/dispatch.fixture.ts";
import { NO_CHANGE, type Overlays } from "../ports.ts";
import { jobOf } from "./job-request.ts";

const overlays: Overlays = {
  pack: () => Promise.reject(new Error("nothing is large here")),
  unpack: () => Promise.resolve([]),
};
const plan = { steps: [], collectAfter: null, work: [], checks: [] };

test("what a judge is to write is not there when it starts, so a file of the judged change is not its word", async () => {
  const dispatch = dispatchOf({});
  const task = {
    ...dispatch.task,
    return: { ...dispatch.task.return, artifacts: ["qa.json", "other.json"] },
  };
  const order = { runId: "run_x", epoch: 1, dispatch: { ...dispatch, task }, associate: "as_one" };
  const { workspace } = await jobOf(order, overlays, plan, { ...NO_CHANGE, deletions: ["a"] });
  expect(workspace.deletions).toEqual(["a", "qa.json"]);
});

test("an attempt has checkpoints, and none in a run that records no calls, because they hold the conversation", async () => {
  const dispatch = dispatchOf({});
  const task = { ...dispatch.task, egress_profile: { mode: "git+pkg" as const, allowlist: [] } };
  const grantOf = async (more: object): Promise<unknown> => {
    const order = { runId: "run_x", epoch: 1, dispatch: { ...dispatch, task, ...more }, associate: "as_one" };
    return (await jobOf(order, overlays, plan, NO_CHANGE)).egress;
  };
  expect(await grantOf({})).toMatchObject({ checkpoints: true });
  expect(await grantOf({ record_calls: false })).not.toHaveProperty("checkpoints");
});
