import { describe, expect, it } from "vitest";
import type { SandboxImage } from "@antiphon/contracts";
import { chooseImage } from "./image-choice.ts";

const image = (
  ref: string,
  programs: string[] | undefined,
  more: Partial<SandboxImage> = {},
): SandboxImage => ({
  ref,
  id: `sha256:${"a".repeat(64)}`,
  allowed_by: "allowlist",
  allowed_at: null,
  bytes: 100,
  sealed: true,
  ...(programs === undefined ? {} : { programs }),
  ...more,
});
const STANDARD = image("standard", undefined, { allowed_by: "setup" });
const GO = { needs: ["go"], because: ["go.mod"] };

describe("the image for a repository that names none", () => {
  it("is the standard one if the repository needs nothing beside it", () => {
    const none = { needs: [], because: [] };
    expect(chooseImage(none, [STANDARD, image("go", ["go"])])).toEqual({ ref: null, note: null });
  });

  it("is the smallest allowed one that has every program", () => {
    const images = [STANDARD, image("all", ["cargo", "go"], { id: null, bytes: 300 }), image("go", ["go"])];
    expect(chooseImage(GO, images).ref).toBe(images[2]?.id);
    const both = chooseImage({ needs: ["cargo", "go"], because: ["Cargo.toml", "go.mod"] }, images);
    expect(both).toEqual({ ref: "all", note: "Cargo.toml, go.mod ask for cargo, go; all has it" });
  });

  it.each<[string, SandboxImage]>([
    ["is not on the engine", image("go", ["go"], { bytes: null })],
    ["cannot run a verification", image("go", ["go"], { sealed: false })],
    ["lacks it", image("rust", ["cargo"])],
    ["was allowed before its programs were looked for", image("old", undefined)],
  ])("is the standard one, with the command that makes another, if the only other %s", (_name, other) => {
    const { ref, note } = chooseImage(GO, [STANDARD, other]);
    expect(ref).toBeNull();
    expect(note).toContain("`antiphon images build --with go` makes one");
  });

  it("is the standard one if that has the program", () => {
    const own = image("team", ["go"], { allowed_by: "setup" });
    expect(chooseImage(GO, [own, image("go", ["go"], { bytes: 200 })]).ref).toBeNull();
  });
});
