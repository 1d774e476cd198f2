/** Contracts v1.3 through all of Antiphon: the answers to a client's commands. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { SessionEvent } from "@antiphon/contracts";
import { eventually } from "./support/program.ts";
import { BROKEN_CALCULATOR, makeProject, type Project } from "./support/project.ts";
import { startStack, type Stack } from "./support/stack.ts";

let stack: Stack;
let project: Project;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());
afterEach(() => project.remove());

let issued = 0;
async function complete(sessionId: string, command: string, payload: object): Promise<SessionEvent[]> {
  const commandId = `C-${(issued += 1)}`;
  const body = { command, commandId, correlation: { sessionId }, payload };
  const sent = await stack.http("POST", `/sessions/${sessionId}/commands`, body);
  expect(sent.status).toBe(202);
  return eventually(`${command} completed`, async () => {
    const { body: answer } = await stack.http("GET", `/sessions/${sessionId}/events`);
    const own = (answer["events"] as SessionEvent[]).filter((one) => one.correlation.commandId === commandId);
    return own.some((one) => one.event === "CommandCompleted") ? own : null;
  });
}

test("ApplyPatch lands a verified commit, and RunTests reports whether the checks pass", async () => {
  project = makeProject({ ...BROKEN_CALCULATOR, "package.json": '{"scripts":{"test":"node test.js"}}\n' });
  const repo = { name: "app", path: project.path };
  const { body } = await stack.http("POST", "/sessions", { repo });
  const sessionId = String(body["sessionId"]);

  const failing = await complete(sessionId, "RunTests", { repo });
  expect(failing.at(-1)).toMatchObject({
    payload: { outcome: "Failure", errorCode: expect.stringMatching(/^ANT_VERIFY_/) as string },
  });

  project.write("add.js", "module.exports = (a, b) => a + b;\n");
  const patchContent = project.git("diff");
  project.git("checkout", "--", "add.js");
  const applied = await complete(sessionId, "ApplyPatch", { repo, patchContent });
  expect(applied.map(({ event }) => event)).toEqual([
    "CommandAccepted",
    "ArtifactAvailable",
    "CommandCompleted",
  ]);
  expect(applied.at(-1)).toMatchObject({ payload: { outcome: "Success" } });
  const artifact = applied[1]?.payload as { downloadUri: string };
  const evidence = await stack.http("GET", artifact.downloadUri);
  expect(JSON.stringify(evidence.body)).toContain("diff.patch");
  project.git(
    "merge",
    "-q",
    project.git("for-each-ref", "--format=%(refname)", "refs/heads/antiphon").trim(),
  );
  const passing = await complete(sessionId, "RunTests", { repo });
  expect(passing.at(-1)).toMatchObject({ payload: { outcome: "Success" } });
});
