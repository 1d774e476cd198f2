import { AntiphonError, type SandboxOutcome } from "@antiphon/contracts";
import { expect, it } from "vitest";
import { withoutContainer } from "./job-service.ts";

const ended = (outcome: SandboxOutcome["outcome"]): SandboxOutcome => ({
  outcome,
  code: null,
  message: "it ended",
  steps: [],
  changes: null,
  meta: { bootMs: 1, provider: "docker", node: "n", image: "i", containerId: "c" },
});
const stuck = (): Promise<void> => Promise.reject(new AntiphonError("ANT_DOCKER_UNREACHABLE", "no answer"));

it.each(["error", "timeout", "oom", "canceled"] as const)(
  "a job that ends as %s says so when its container could not be removed",
  async (outcome) => {
    expect(await withoutContainer(ended(outcome), [stuck()])).toMatchObject({
      outcome: "error",
      code: "ANT_SANDBOX_LEFT",
      message: "it ended; its container could not be removed: no answer",
    });
  },
);

it("every outcome but a completed one waits until the container is gone", async () => {
  let remove = (): void => undefined;
  const gone = new Promise<void>((resolve) => (remove = resolve));
  let told: SandboxOutcome | null = null;
  const telling = withoutContainer(ended("error"), [gone]).then((outcome) => (told = outcome));
  expect(await withoutContainer(ended("completed"), [gone])).toEqual(ended("completed"));
  expect(told).toBeNull();
  remove();
  await telling;
  expect(told).toEqual(ended("error"));
});
