import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { localProblem } from "./repository-place.ts";
import { loadFiles } from "./run-files.ts";

const dir = mkdtempSync(join(tmpdir(), "antiphon-run-files-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function file(name: string, content: string): string {
  writeFileSync(join(dir, name), content);
  return join(dir, name);
}

const DIFF = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";

describe("the files that options of `antiphon run` name", () => {
  it("hold a patch as a diff or as Patch.v0", async () => {
    const patch = { files: [{ path: "x", diff: DIFF }] };
    expect((await loadFiles({ patch: file("p.diff", DIFF) })).patch).toEqual(patch);
    expect((await loadFiles({ patch: file("p.json", JSON.stringify(patch)) })).patch).toEqual(patch);
  });

  it.each([
    ["a list", "- { id: 1, description: a }"],
    ["under `tasks`", "tasks:\n  - { id: 1, description: a }"],
    [
      "a router contract",
      "router_contract:\n  tasks:\n    - { id: 1, description: a, status: PENDING, dependencies: [] }",
    ],
  ])("hold a task graph as %s", async (_what, text) => {
    const { tasks } = await loadFiles({ tasks: file("graph.yaml", text) });
    expect(tasks).toEqual([{ id: 1, description: "a", dependencies: [] }]);
  });

  it("hold tasks whose patch is a file next to them", async () => {
    file("own.diff", DIFF);
    const graph = file("g.yaml", "- { id: 1, description: a, agent: { kind: scripted, patch: own.diff } }");
    const { tasks } = await loadFiles({ tasks: graph });
    expect(tasks?.[0]?.agent).toEqual({ kind: "scripted", patch: { files: [{ path: "x", diff: DIFF }] } });
  });

  it("hold a recording, whose seed the replay uses", async () => {
    const recording = { input: { intent: {}, schemaVersion: 0, seed: "s1" }, output: {} };
    const loaded = await loadFiles({ recording: file("r.json", JSON.stringify(recording)) });
    expect([loaded.recordingSeed, loaded.recording]).toEqual(["s1", recording]);
  });

  it.each([
    ["is not there", { patch: join(dir, "nope") }, "ANT_USAGE"],
    ["holds no diff", { patch: file("text.txt", "hello\n") }, "ANT_PATCH_MALFORMED"],
    ["is no YAML", { tasks: file("bad.yaml", "a: [") }, "ANT_USAGE"],
    ["holds no tasks", { tasks: file("none.yaml", "a: 1") }, "ANT_USAGE"],
    ["is no JSON", { recording: file("bad.json", "{") }, "ANT_USAGE"],
  ])("are refused as usage when one %s", async (_what, flags, code) => {
    await expect(loadFiles(flags)).rejects.toMatchObject({ code, exitCode: 2 });
  });

  it("are looked for here only by a relative path, and only if the gateway seems to be on this machine", () => {
    const place = "/nowhere/at/all";
    expect(localProblem("http://127.0.0.1:3001", place, "at/all")?.code).toBe("ANT_REPO_NOT_FOUND");
    expect(localProblem("https://ant.example", place, "at/all")).toBeNull();
    // A forwarded port: the path is one of the Director's machine.
    expect(localProblem("http://127.0.0.1:3001", place, place)).toBeNull();
  });
});
