/** A branch that moves by one file between two runs: the second one's base goes as a step through all services. */
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { cleanUpRepos, makeRepo } from "../support/repo.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

const STEPPED = { files: 2_400, bytes: 1_500 };
let stack: Stack;

beforeAll(async () => {
  stack = await startQuickStack();
});

afterAll(async () => {
  await stack.stop();
  cleanUpRepos();
});

interface Landed {
  readonly status: string;
  readonly runId: string;
  readonly commit: string;
}

it("lands on a base that is a step from the one before, whose change the agent and the check see", async () => {
  const many = Object.fromEntries(
    Array.from({ length: STEPPED.files }, (_, at) => [`src/f${at}.txt`, `${at}`.repeat(STEPPED.bytes)]),
  );
  const repo = makeRepo({
    files: { ...many, "value.txt": "0\n", "check.sh": "test $(cat value.txt) = $(cat done.txt)\n" },
  });
  for (const value of ["1", "2", "3"]) {
    repo.commit(`value ${value}`, { "value.txt": `${value}\n` });
    const { document } = await stack.json<Landed>(
      [
        "run",
        "Fix the value of done.txt",
        "--repo",
        repo.path,
        "--check",
        "sh check.sh",
        "--command",
        "cp value.txt done.txt",
      ],
      { timeoutMs: 120_000 },
    );
    expect(document).toMatchObject({ status: "succeeded" });
    expect(repo.git("show", `antiphon/${document.runId}:done.txt`)).toBe(value);
    const objects = execFileSync("find", [`${stack.stateDir}`, "-name", "tree-*.tar"], { encoding: "utf8" });
    expect(objects.trim().split("\n").length).toBe(1); // The steps from it are no archives of their own.
  }
});
