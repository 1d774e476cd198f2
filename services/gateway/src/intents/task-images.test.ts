import { AntiphonError, type SandboxImage, type TaskSpec } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { checkTaskImages } from "./task-images.ts";

const ID = `sha256:${"a".repeat(64)}`;
const row = (ref: string, id: string | null, bytes: number | null): SandboxImage => ({
  ...{ ref, id, bytes, allowed_by: "allowlist", allowed_at: null, sealed: null },
});
const HERE = [row("team/go:1", ID, 10), row("team/gone:1", null, null)];

const task = (id: number, image?: string): TaskSpec => ({
  ...{ id, description: "x", dependencies: [] },
  ...(image === undefined ? {} : { image }),
});

const check = (tasks: TaskSpec[], image?: string) =>
  checkTaskImages(
    { images: () => Promise.resolve({ ok: true, node: "n", images: HERE }) },
    { tasks, ...(image === undefined ? {} : { image }) },
  );

test.each([
  ["is on no list", "team/other:1", "ANT_SANDBOX_IMAGE_NOT_ALLOWED"],
  ["is allowed, but not on the engine", "team/gone:1", "ANT_SANDBOX_IMAGE_MISSING"],
])("a plan with a task whose image %s is refused with the place of the task", async (_what, image, code) => {
  await expect(check([task(1, "team/go:1"), task(2, image)])).rejects.toMatchObject({
    code,
    detail: expect.stringContaining(image) as string,
    data: { path: "/inputs/tasks/1/image" },
  });
});

test("an image passes by its name, its id, as the standard one, and as that of the run", async () => {
  await check([task(1, "team/go:1"), task(2, ID), task(3, "default"), task(4)]);
  await check([task(1, "team/later:1")], "team/later:1"); // As that of the run, the runner judges it.
});

test("a plan is taken while no sandbox-runner answers, because that checks each image itself", async () => {
  const lost = new AntiphonError("ANT_SANDBOX_RUNNER_LOST", "no sandbox-runner answered");
  await checkTaskImages({ images: () => Promise.reject(lost) }, { tasks: [task(1, "team/go:1")] });
});
