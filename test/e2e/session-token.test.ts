/** The fate of the token that forwards prompts; a listener between CLI and gateway learns it. */
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BROKEN_CALCULATOR, fixing, makeProject, type Project } from "./support/project.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

interface Seen {
  method: string;
  path: string;
  authorization: string;
}

let stack: Stack;
let project: Project;
let listener: Server;
const home = mkdtempSync(join(tmpdir(), "antiphon-home-"));
const seen: Seen[] = [];
const answers: string[] = [];

beforeAll(async () => {
  stack = await startQuickStack({ env: { ANTIPHON_TOKEN: "deployment-s3cret" } });
  project = makeProject(BROKEN_CALCULATOR);
  listener = createServer((incoming, outgoing) => {
    const { method = "", url = "", headers } = incoming;
    seen.push({ method, path: url, authorization: headers.authorization ?? "" });
    const onward = request(new URL(url, stack.ready.gateway), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      if (url === "/sessions") answer.on("data", (chunk: Buffer) => answers.push(chunk.toString()));
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  listener.closeAllConnections();
  await new Promise((resolve) => listener.close(resolve));
  project.remove();
  rmSync(home, { recursive: true, force: true });
  await stack.stop();
});

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

test("the session token is injected at session start, forwards the prompt, and is stored nowhere", async () => {
  const { port } = listener.address() as AddressInfo;
  const env = {
    ANTIPHON_GATEWAY_URL: `http://127.0.0.1:${port}`,
    ANTIPHON_TOKEN: "deployment-s3cret",
    HOME: home,
    TMPDIR: home,
  };
  const { document } = await stack.json<{ status: string }>(fixing(project), { env, cwd: home });
  expect(document.status).toBe("succeeded");

  const { token } = JSON.parse(answers.join("")) as { token: string };
  const prompts = seen.filter(({ method, path }) => method === "POST" && path !== "/sessions");
  expect(prompts.map(({ path }) => path.replace(/it_\w+/, "it"))).toEqual(["/intents", "/intents/it/run"]);
  for (const { authorization } of prompts) expect(authorization).toBe(`Bearer ${token}`);
  expect(seen.filter(({ path }) => path === "/sessions")).toHaveLength(1);

  const files = [home, stack.stateDir, project.path].flatMap(filesBelow);
  expect(files.length).toBeGreaterThan(20); // The journal, the buckets and all logs are among them.
  const holding = files.filter((file) => readFileSync(file).includes(token));
  expect(holding).toEqual([]);
});
