import { AntiphonError, type NamedImage, type RepoInspectRequest } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import { inspectWithFallback } from "./standard-image.ts";

const REQUEST: RepoInspectRequest = { repo: { name: "app", path: "/app" } };
const FOUND = {
  ok: true as const,
  base: { repo: REQUEST.repo, ref: "refs/heads/main", commit: "a".repeat(40) },
  branch: "main",
  dirty: false,
  files: 1,
};
const allowed = (ref: string, bytes: number | null) => ({
  ref,
  id: null,
  allowed_by: "allowlist" as const,
  allowed_at: null,
  bytes,
  sealed: null,
});

const over = (image: NamedImage | null, here: [string, number | null][] = []) =>
  inspectWithFallback(
    {
      inspect: () => Promise.resolve({ ...FOUND, image }),
      images: () => Promise.resolve({ ok: true, node: "n", images: here.map((one) => allowed(...one)) }),
    },
    REQUEST,
  );

describe("the image of a devcontainer.json", () => {
  const image: NamedImage = { ref: "team/dev:1", from: ".devcontainer/devcontainer.json" };

  it("is used if it is allowed and present", async () => {
    expect(await over(image, [["team/dev:1", 10]])).toEqual({ ...FOUND, image });
  });

  it.each([
    ["is not allowed", []],
    ["is allowed but not on the engine", [["team/dev:1", null]]],
  ] as [string, [string, number | null][]][])(
    "is replaced by the standard image if it %s",
    async (_name, here) => {
      const found = await over(image, here);
      expect(found.image).toBeNull();
      expect(found.image_note).toContain("team/dev:1, which is not allowed here");
    },
  );

  it("is replaced by the standard image if it must be built first", async () => {
    const asked: (boolean | undefined)[] = [];
    const found = await inspectWithFallback(
      {
        inspect: ({ image_named }) => {
          asked.push(image_named);
          if (image_named !== true)
            return Promise.reject(new AntiphonError("ANT_REPO_DEVCONTAINER", "its image is built first"));
          return Promise.resolve({ ...FOUND, image: null });
        },
        images: () => Promise.reject(new Error("not asked for here")),
      },
      REQUEST,
    );
    expect(found).toEqual({ ...FOUND, image: null, image_note: "its image is built first" });
    expect(asked).toEqual([undefined, true]);
  });

  it("is kept while no sandbox-runner answers", async () => {
    const inspect = () => Promise.resolve({ ...FOUND, image });
    const images = () => Promise.reject(new AntiphonError("ANT_SANDBOX_RUNNER_LOST", "nobody there"));
    expect(await inspectWithFallback({ inspect, images }, REQUEST)).toEqual({ ...FOUND, image });
  });

  it("differs from an image of antiphon.yaml, which is never replaced", async () => {
    const own: NamedImage = { ref: "team/dev:1", from: "antiphon.yaml" };
    expect(await over(own)).toEqual({ ...FOUND, image: own });
  });
});
