/** The trees that jobs find in warm sandboxes, whatever tree was in them before, over real NATS and the real engine. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { BUCKETS, type SandboxOutcome, type SandboxRequest } from "@antiphon/contracts";
import {
  createLogger,
  openBlobs,
  readRuntimeConfig,
  sandboxClient,
  startService,
  type Bus,
  type RunningService,
} from "@antiphon/runtime";
import { readSandboxConfig } from "../../../services/sandbox-runner/src/config.ts";
import { startSandboxRunner, type Runner } from "../../../services/sandbox-runner/src/wiring.ts";
import { canonicalTar } from "../../../services/sandbox-runner/src/workspace/tar-writer.ts";
import { sandboxImage, testEngine, until } from "../../support/docker.ts";
import { startNats, type NatsServer } from "../../support/nats.ts";
import { rawEntry } from "../../support/raw-tar.ts";

const test = testEngine("trees");
const TREE = "tree-0123456789abcdef.tar";
const NOTHING = { tree: null, files: [], overlay: null, deletions: [] };
const file = (path: string, content: string, mode: "100644" | "100755" = "100644") => ({
  path,
  mode,
  content: Buffer.from(content),
});

let nats: NatsServer;
let service: RunningService;
let runner: Runner;
let bus: Bus;
let directory: string;
let serial = 0;

beforeAll(async () => {
  nats = await startNats();
  directory = mkdtempSync(join(tmpdir(), "antiphon-trees-"));
  const settings = {
    ANTIPHON_INSTANCE: test.instance,
    ANTIPHON_STATE_DIR: directory,
    ANTIPHON_SANDBOX_IMAGE: sandboxImage(),
    ANTIPHON_SANDBOX_WARM: "2",
  };
  service = await startService(
    {
      name: "sandbox-runner",
      start: async (context) => {
        runner = await startSandboxRunner(context, () => readSandboxConfig(settings));
        return runner;
      },
    },
    { ...readRuntimeConfig({ ANTIPHON_UNSAFE_TRUST: "1" }), natsUrl: nats.url, drainMs: 5_000 },
    createLogger("test", { level: "silent" }),
  );
  bus = await nats.connect();
  const tree = [
    file("README.md", "hello\n"),
    file("bin/run", "#!/bin/sh\necho ran\n", "100755"),
    file("src/a.txt", "a\n"),
    file("src/b.txt", "b\n"),
  ];
  await openBlobs(bus, BUCKETS.repos).put(TREE, canonicalTar(tree));
});

afterAll(async () => {
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
  await nats.close();
  await test.expectNoContainers();
});

/** A job in a warm sandbox. */
async function look(
  workspace: SandboxRequest["workspace"],
  script: string,
  collect = false,
): Promise<SandboxOutcome> {
  await until(
    () => Promise.resolve(runner.pool.counts.ready),
    (ready) => ready === 2,
    20_000,
  );
  const request: SandboxRequest = {
    jobId: `job_${process.pid}_t${(serial += 1)}`,
    ...{ run: "run_aaaaaaaaaaaaaaaaaaaa", task: "T-001", epoch: 1, purpose: "attempt", image: null },
    ...{ budgetMs: 30_000, workspace, collect },
    steps: [{ id: "look", argv: ["sh", "-c", script], env: {}, timeoutMs: 20_000, continueOnFailure: false }],
  };
  return sandboxClient(bus, { requester: "test" }).run(request, { signal: new AbortController().signal });
}

it("sandbox-runner/S3: finds exactly the tree that it asks for, whichever tree the sandbox held before", async () => {
  const other = "tree-fedcba9876543210.tar";
  const tar = Buffer.concat([
    rawEntry({ name: "module", type: "5", mode: 0o755 }), // as a submodule is exported
    canonicalTar([file("src/z/deep.txt", "z\n"), file("only", "o\n")]),
  ]);
  await openBlobs(bus, BUCKETS.repos).put(other, tar);
  const seen: string[] = [];
  for (const tree of [TREE, TREE, TREE, other, null, other, TREE]) {
    const workspace = { ...NOTHING, tree, deletions: tree === other ? ["only"] : [] };
    const outcome = await look(workspace, "find . -mindepth 1 | sort | tr '\\n' ' '; echo new > new", true);
    expect(outcome.changes).toMatchObject({ files: [{ path: "new" }], deletions: [] });
    seen.push(outcome.steps[0]?.stdout.tail ?? "");
  }
  const first = "./README.md ./bin ./bin/run ./src ./src/a.txt ./src/b.txt ";
  const second = "./module ./src ./src/z ./src/z/deep.txt ";
  expect(seen).toEqual([first, first, first, second, "", second, first]);
});

it("sandbox-runner/S3: finds exactly the tree of the next commit in a sandbox that held the one before", async () => {
  const kept = ["a", "b", "c", "d", "e", "f", "g", "h"].map((name) => file(`kept/${name}`, name));
  const before = [file("x/gone", "g"), file("y", "a file"), file("z/run", "1"), file("w/deep/er", "w")];
  const after = [file("y/now", "a directory"), file("z/run", "1", "100755"), file("w/deep", "a file")];
  const trees = { before: [...kept, ...before], after: [...kept, ...after] };
  const seen: Record<string, Set<string>> = { before: new Set(), after: new Set() };
  for (const [name, files] of Object.entries(trees))
    await openBlobs(bus, BUCKETS.repos).put(`tree-${name}.tar`, canonicalTar(files));
  for (const name of ["before", "before", "before", "after", "after", "after", "before", "after"] as const) {
    const script = "find . -mindepth 1 -printf '%p %y %m %s\\n' | sed 's/ d .*/ d/' | sort; cat y/now w/deep";
    const outcome = await look({ ...NOTHING, tree: `tree-${name}.tar` }, `${script} 2>/dev/null; true`);
    seen[name]?.add(outcome.steps[0]?.stdout.tail ?? "");
  }
  expect(
    [...(seen["before"] ?? [])].map((text) => text.includes("./w/deep d\n./w/deep/er f 644 1\n")),
  ).toEqual([true]);
  expect([...(seen["after"] ?? [])].map((text) => /y\/now f.*z\/run f 755/s.test(text))).toEqual([true]);
});
