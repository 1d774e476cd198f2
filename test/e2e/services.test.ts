/** A repository whose checks need a server beside them. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeProject, type Project } from "./support/project.ts";
import { startStack, type Stack } from "./support/stack.ts";

interface Summary {
  runId: string;
  status: string;
  code: string | null;
  message: string;
}

/** Keeps what it is told until it ends, as a database does. */
const SERVER = `import socketserver
kept = set()
class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        name = self.rfile.readline()
        known = name in kept
        kept.add(name)
        self.wfile.write(b"known" if known else b"new")
socketserver.TCPServer.allow_reuse_address = True
print("serving", flush=True)
socketserver.TCPServer(("127.0.0.1", 6400), Handler).serve_forever()
`;
const CHECK = `import socket
from app import NAME
peer = socket.create_connection(("127.0.0.1", 6400))
peer.sendall(NAME.encode() + b"\\n")
answer = peer.recv(9).decode()
assert answer == "new", f"{NAME} is {answer} already"
assert NAME == "good", NAME
`;

const FILES = {
  "app.py": 'NAME = "bad"\n',
  "check.py": CHECK,
  "antiphon.yaml": `check: python3 check.py
setup: []
services:
  store:
    command: |
      exec python3 -c '${SERVER.trim().split("\n").join("\n      ")}'
    port: 6400
`,
};

let stack: Stack;
const projects: Project[] = [];

beforeAll(async () => {
  stack = await startStack();
});
afterAll(async () => {
  for (const project of projects) project.remove();
  await stack.stop();
});

function project(files: Record<string, string>): Project {
  const made = makeProject(files);
  projects.push(made);
  return made;
}

const run = (repo: Project, fix: string, ...more: string[]) =>
  stack.json<Summary>(["run", "Name it well", "--repo", repo.path, "--command", fix, ...more]);

test("a service that never starts ends the run once, by name, with what the service said", async () => {
  const repo = project({
    ...FILES,
    "antiphon.yaml":
      "check: 'true'\nsetup: []\nservices:\n  db: {command: echo no such program; exit 3, port: 1}\n",
  });
  const { document } = await run(repo, "echo x > x", "--attempts", "3");
  expect(document).toMatchObject({ status: "failed", code: "ANT_SERVICE_FAILED" });
  expect(document.message).toContain("no such program");
  const { body } = await stack.http("GET", `/runs/${document.runId}`);
  expect(JSON.stringify(body)).not.toContain('"attempt":2');
});

test("antiphon.yaml is refused with its reason when nothing tells that a service is ready", async () => {
  const repo = project({ ...FILES, "antiphon.yaml": "services:\n  db: {command: exec sleep 9}\n" });
  const { stdout, stderr } = await stack.antiphon(["run", "x", "--repo", repo.path, "--command", "true"]);
  expect(stdout + stderr).toContain("services.db needs `port` or `ready`");
});

test("the agent's own check and each trial of the clean room find a fresh service, so a fix lands and a wrong one does not", async () => {
  const repo = project(FILES);
  const wrong = await run(repo, "echo 'NAME = \"worse\"' > app.py", "--attempts", "1");
  expect(wrong.document).toMatchObject({ status: "failed", code: "ANT_VERIFY_SELF_FAILED" });
  expect(repo.landed(wrong.document.runId)).toEqual([]);
  const { document } = await run(repo, "echo 'NAME = \"good\"' > app.py");
  expect(document).toMatchObject({ status: "succeeded", code: null });
  expect(repo.landed(document.runId)).toHaveLength(1);
  const paths = JSON.stringify((await stack.http("GET", `/runs/${document.runId}/evidence`)).body);
  expect(paths).toContain("services/store.log");
  expect(paths).toContain("services/store.2.log");
});
