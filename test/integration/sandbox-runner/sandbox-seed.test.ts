/**
 * SandboxJob -> SandboxResult (seed 002) on the docker provider, and an image that has only a shell and a few tools.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { DockerProvider } from "../../../services/sandbox-runner/src/providers/docker/docker-provider.ts";
import { validate, type SandboxJobV1 } from "@antiphon/contracts";
import { seedClient } from "../../../services/sandbox-runner/src/jobs/seed-client.ts";
import { SandboxDied } from "../../../services/sandbox-runner/src/ports.ts";
import { SMALL, sandboxImage, shell, testEngine } from "../../support/docker.ts";

const test = testEngine("seed");
/** Without an image that gives its perl to others. */
const alone = new DockerProvider({ engine: test.engine, newName: () => `${test.instance}-alone` });
afterEach(() => test.expectNoContainers());

describe("SandboxClient.run", () => {
  const client = seedClient({
    provider: test.provider,
    limits: SMALL,
    labels: () => ({ "antiphon.instance": test.instance }),
  });
  const job = (cmd: string, more: Partial<SandboxJobV1> = {}): SandboxJobV1 => ({
    imageOrTemplate: sandboxImage(),
    cmd,
    files: {},
    env: {},
    timeoutMs: 10_000,
    ...more,
  });

  it("runs a command over files and returns a result of the contract's form", async () => {
    const result = await client.run(
      job('cat a/in.txt; echo "$WHO" >&2; echo out > z.txt; printf "\\377" > binary; exit 3', {
        files: {
          "b.txt": { content: "Yg==", encoding: "base64", mode: "100755" },
          "a/in.txt": { content: "in\n", encoding: "utf8", mode: "100644" },
        },
        env: { WHO: "me" },
      }),
    );
    expect(result).toMatchObject({
      exitCode: 3,
      stdout: "in\n",
      stderr: "me\n",
      meta: { provider: "docker" },
    });
    expect(Object.entries(result.files)).toEqual([
      ["a/in.txt", { content: "in\n", encoding: "utf8", mode: "100644" }],
      ["b.txt", { content: "b", encoding: "utf8", mode: "100755" }],
      ["binary", { content: "/w==", encoding: "base64", mode: "100644" }],
      ["z.txt", { content: "out\n", encoding: "utf8", mode: "100644" }],
    ]);
    expect(validate("SandboxResultV1", result)).toMatchObject({ ok: true });
  });

  it("reports a timeout as a shell does", async () => {
    const result = await client.run(job("echo begun; sleep 30", { timeoutMs: 2_000 }));
    expect(result).toMatchObject({ exitCode: 124, stdout: "begun\n", files: {} });
  });

  it("fails for an image that does not exist", async () => {
    await expect(client.run(job("true", { imageOrTemplate: "antiphon-none:none" }))).rejects.toMatchObject({
      code: "ANT_SANDBOX_IMAGE_MISSING",
    });
  });
});

describe("an image with a POSIX shell and few tools", () => {
  const image = `antiphon-test-plain:${process.pid}`;
  const volumes = `antiphon-test-volumes:${process.pid}`;

  beforeAll(() => {
    const root = mkdtempSync(join(tmpdir(), "antiphon-image-"));
    const programs = ["dash", "tar", "head", "cat", "wc", "rm", "mkdir", "env", "sleep", "xargs", "ls", "id"];
    for (const program of programs) addWithLibraries(root, program);
    for (const directory of ["tmp", "workspace", "proc", "sys", "dev"])
      mkdirSync(join(root, directory), { recursive: true });
    const tar = execFileSync("tar", ["-cf", "-", "-C", root, "."], { maxBuffer: 1 << 28 });
    rmSync(root, { recursive: true, force: true });
    for (const [name, change] of [
      [image, []],
      [volumes, ["--change", "VOLUME /data"]],
    ] as const) {
      const made = spawnSync("docker", ["import", ...change, "-", name], { input: tar });
      if (made.status !== 0) throw new Error(String(made.stderr));
    }
  });
  afterAll(() => {
    spawnSync("docker", ["image", "rm", image, volumes]);
  });

  function addWithLibraries(root: string, program: string): void {
    const [path = ""] = execFileSync("sh", ["-c", `readlink -f "$(command -v ${program})"`])
      .toString()
      .trim()
      .split("\n");
    const place = join(root, "bin", program === "dash" ? "sh" : program);
    mkdirSync(dirname(place), { recursive: true });
    copyFileSync(path, place);
    const libraries = execFileSync("ldd", [path]).toString().match(/\/\S+/g) ?? [];
    for (const library of libraries) {
      mkdirSync(join(root, dirname(library)), { recursive: true });
      copyFileSync(library, join(root, library));
    }
  }

  it("works unchanged: files, arguments, environment, input, output, exit codes", async () => {
    const sandbox = await alone.start(await test.order({}, image));
    try {
      expect(sandbox.sealed).toBe(false);
      const script = 'echo "$0 $1 $A"; cat; test $(id -u) -ge 60720 && echo own >&2; exit 7';
      const env = { PATH: "/bin", A: "it's" };
      const exit = await sandbox.run(
        shell("", { argv: ["sh", "-c", script, "a b", "$x"], env, stdin: Buffer.from("in\n\0") }),
      );
      expect([exit.exitCode, String(exit.stdout.bytes), String(exit.stderr.bytes)]).toEqual([
        7,
        "a b $x it's\nin\n\0",
        "own\n",
      ]);
      await sandbox.run(shell("head -c 200000 /dev/zero > zeros; mkdir d; echo x > d/f", { env }));
      const { files } = await sandbox.collect(new Map(), { maxEntries: 100, maxFiles: 10, maxBytes: 1e6 });
      expect(files.map(({ path, content }) => [path, content.length])).toEqual([
        ["d/f", 2],
        ["zeros", 200_000],
      ]);
      const again = await sandbox.run(shell("sleep 60 & sleep 60 & echo begun", { env }));
      expect(again.stdout.tail).toBe("begun\n");
      await expect(sandbox.run(shell("sleep 60", { env, timeoutMs: 300 }))).rejects.toThrow(SandboxDied);
    } finally {
      await sandbox.destroy({ kind: "canceled", reason: "test over" });
    }
  });

  it("is refused when it declares a volume, which would be a writable directory of the host", async () => {
    await expect(test.provider.start(await test.order({}, volumes))).rejects.toMatchObject({
      code: "ANT_SANDBOX_REFUSED",
    });
  });
});
