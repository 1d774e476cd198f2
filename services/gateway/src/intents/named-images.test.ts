import { AntiphonError, type NamedImage, type SandboxImage, type TaskSpec } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { checkNamedImages } from "./named-images.ts";
import type { Backend } from "../ports.ts";

const ID = `sha256:${"a".repeat(64)}`;
const row = (ref: string, id: string | null, bytes: number | null): SandboxImage => ({
  ...{ ref, id, bytes, allowed_by: "allowlist", allowed_at: null, sealed: null },
});
const HERE = [row("team/go:1", ID, 10), row("team/gone:1", null, null)];

const task = (id: number, image?: string): TaskSpec => ({
  ...{ id, description: "x", dependencies: [] },
  ...(image === undefined ? {} : { image }),
});

/** The runner knows an allowed image under other names, too. */
const ALIAS = "docker.io/team/go:1";

const images: Backend["images"] = (request) => {
  const asked = request.op === "list" ? request.look_into : undefined;
  if (asked !== undefined && asked !== ALIAS)
    return Promise.reject(new AntiphonError("ANT_SANDBOX_IMAGE_NOT_ALLOWED", "not on the allowlist"));
  return Promise.resolve({ ok: true, node: "n", images: HERE });
};

const check = (tasks: TaskSpec[], image?: string, ofRepository: NamedImage | null = null) =>
  checkNamedImages({ images }, { tasks, ...(image === undefined ? {} : { image }) }, ofRepository);

const ofFile = (ref: string): NamedImage => ({ ref, from: "antiphon.yaml" });

test("a run whose antiphon.yaml names an image that is not allowed is refused with the name of the file", async () => {
  await expect(check([], undefined, ofFile("team/other:1"))).rejects.toMatchObject({
    code: "ANT_SANDBOX_IMAGE_NOT_ALLOWED",
    detail: "antiphon.yaml: the image team/other:1 is not on this deployment's allowlist",
  });
});

test("a run that names such an image itself is refused with the place of the option", async () => {
  await expect(check([task(1, "team/other:1")], "team/other:1")).rejects.toMatchObject({
    code: "ANT_SANDBOX_IMAGE_NOT_ALLOWED",
    data: { path: "/inputs/image" },
  });
});

test.each(["team/go:1", ID, ALIAS, "default", "team/gone:1"])(
  "a run may name the image %s",
  async (image) => {
    await check([], image);
    await check([task(1, image)], undefined, ofFile(image));
  },
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

test("the image of a task passes by its name, its id, and as the standard one", async () => {
  await check([task(1, "team/go:1"), task(2, ID), task(3, "default"), task(4)]);
});

test("a plan is taken while no sandbox-runner answers, because that checks each image itself", async () => {
  const lost = new AntiphonError("ANT_SANDBOX_RUNNER_LOST", "no sandbox-runner answered");
  const backend = { images: () => Promise.reject(lost) };
  await checkNamedImages(backend, { tasks: [task(1, "team/go:1")] }, ofFile("team/other:1"));
});
