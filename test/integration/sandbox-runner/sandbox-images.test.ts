/** Images: any image with a POSIX shell works, and its digest decides whether it may be used. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { AllowlistFile } from "../../../services/sandbox-runner/src/images/allowlist-file.ts";
import { DockerProvider } from "../../../services/sandbox-runner/src/providers/docker/docker-provider.ts";
import { Images } from "../../../services/sandbox-runner/src/images/images.ts";
import type { Sandbox } from "../../../services/sandbox-runner/src/ports.ts";
import { sandboxImage, shell, testEngine } from "../../support/docker.ts";
import { makeMinimalImage, type MinimalImage } from "../../support/minimal-image.ts";

const test = testEngine("images");
/** Without an image that gives its perl to others. */
const alone = new DockerProvider({
  engine: test.engine,
  newName: () => `${test.instance}-a${(serial += 1)}`,
});
const over = { kind: "canceled", reason: "test over" } as const;
let minimal: MinimalImage;
let other: MinimalImage;
let withVolume: MinimalImage;
let overWorkspace: MinimalImage;
let directory: string;
let serial = 0;
/** Set up as in a runner: with an image to take the sealed supervisor from. */
let provider: DockerProvider;

beforeAll(async () => {
  minimal = makeMinimalImage("minimal");
  other = makeMinimalImage("other", ["LABEL antiphon.test=other"]);
  withVolume = makeMinimalImage("volume", ["VOLUME /data"]);
  overWorkspace = makeMinimalImage("over", ["VOLUME /workspace"]);
  directory = mkdtempSync(join(tmpdir(), "antiphon-images-"));
  const facts = await test.provider.image(sandboxImage());
  if (facts === null) throw new Error("no sandbox image");
  provider = new DockerProvider({
    engine: test.engine,
    newName: () => `${test.instance}-p${(serial += 1)}`,
    ownImage: facts.id,
  });
});
afterEach(() => test.expectNoContainers());
afterAll(() => {
  for (const image of [minimal, other, withVolume, overWorkspace]) image.remove();
  rmSync(directory, { recursive: true, force: true });
});

async function inMinimal<T>(from: DockerProvider, use: (sandbox: Sandbox) => Promise<T>): Promise<T> {
  const sandbox = await from.start(await test.order({}, minimal.id));
  try {
    return await use(sandbox);
  } finally {
    await sandbox.destroy(over);
  }
}

describe("an image with a shell and no perl", () => {
  it("sandbox-runner/S2: gets the sealed supervisor, whose stream and files no process inside can open", () =>
    inMinimal(provider, async (sandbox) => {
      expect(sandbox.sealed).toBe(true);
      const look = await sandbox.run(
        shell(
          "ls -a /tmp; cat /proc/1/mem; ls -l /proc/1/fd; cat < /proc/1/exe; echo x > /proc/1/fd/1; true",
        ),
      );
      expect(look.stdout.bytes.toString()).toBe(".\n..\n");
      const refusals = look.stderr.bytes.toString().trim().split("\n");
      expect(refusals).toHaveLength(4);
      for (const refusal of refusals) expect(refusal).toContain("Permission denied");
    }));

  it("runs commands, takes files in and gives changes out, as any other image", () =>
    inMinimal(provider, async (sandbox) => {
      const { stdout, exitCode } = await sandbox.run(
        shell("echo one > a; mkdir d; echo two > d/b; chmod +x d/b; sed s/one/three/ a; exit 3"),
      );
      expect([stdout.bytes.toString(), exitCode]).toEqual(["three\n", 3]);
      const { files } = await sandbox.collect(new Map(), { maxEntries: 100, maxFiles: 10, maxBytes: 1e6 });
      expect(files.map(({ path, mode }) => [path, mode])).toEqual([
        ["a", "100644"],
        ["d/b", "100755"],
      ]);
    }));

  it("works for attempts without a sealed supervisor, and reports that it is not sealed", () =>
    inMinimal(alone, async (sandbox) => {
      expect(sandbox.sealed).toBe(false);
      const { stdout } = await sandbox.run(shell("echo hello; cat", { stdin: Buffer.from("you\n") }));
      expect(stdout.bytes.toString()).toBe("hello\nyou\n");
    }));
});

it("the standard image has the programs that Makefiles and test scripts call without a manifest", async () => {
  const sandbox = await provider.start(await test.order({}));
  try {
    const { exitCode, stderr } = await sandbox.run(
      shell(
        "python -c 'import unittest'; for one in bc column curl file hexdump jq less logger patch which xxd; do command -v $one || echo $one >&2; done",
      ),
    );
    expect({ exitCode, lacks: stderr.bytes.toString() }).toEqual({ exitCode: 0, lacks: "" });
  } finally {
    await sandbox.destroy(over);
  }
});

describe("the allowlist", () => {
  const open = (): Images =>
    new Images({
      node: "test",
      provider,
      allowlist: new AllowlistFile(join(directory, `images-${(serial += 1)}.json`)),
      standard: () => sandboxImage(),
      configured: [other.id],
      start: async ({ id, volumes }) => provider.start({ ...(await test.order({}, id)), tmpfs: volumes }),
      now: () => new Date(0),
    });

  it("sandbox-runner/S9: refuses an image with a remedy, allows it by its digest, and refuses it again", async () => {
    const images = open();
    await expect(images.resolve(minimal.ref)).rejects.toMatchObject({
      code: "ANT_SANDBOX_IMAGE_NOT_ALLOWED",
      remedy: expect.stringContaining("antiphon images allow") as string,
    });
    const { images: list } = await images.answer({ op: "allow", ref: minimal.ref });
    expect(list.at(-1)).toMatchObject({
      ref: minimal.ref,
      id: minimal.id,
      allowed_by: "allowlist",
      sealed: true,
    });
    expect((await images.resolve(minimal.ref)).id).toBe(minimal.id);
    expect((await images.resolve(minimal.id)).id).toBe(minimal.id);
    await images.answer({ op: "disallow", ref: minimal.ref });
    await expect(images.resolve(minimal.id)).rejects.toMatchObject({ code: "ANT_SANDBOX_IMAGE_NOT_ALLOWED" });
  });

  it("sandbox-runner/S9: refuses a name that has moved to other content, and says so", async () => {
    const path = join(directory, `images-${(serial += 1)}.json`);
    const elsewhere = {
      ref: minimal.ref,
      id: `sha256:${"0".repeat(64)}`,
      allowedAt: "2026-01-01T00:00:00.000Z",
    };
    writeFileSync(path, JSON.stringify({ version: 1, images: [elsewhere] }));
    const images = new Images({ ...optionsOf(path), configured: [] });
    await expect(images.resolve(minimal.ref)).rejects.toThrow(/the allowed image was sha256:0000/);
  });

  it("allows only the default image when its list cannot be read", async () => {
    const path = join(directory, `images-${(serial += 1)}.json`);
    writeFileSync(path, '{"version":1,"images":"all"}');
    const images = new Images({ ...optionsOf(path), configured: [] });
    expect((await images.resolve(null)).id).toBe((await images.resolve("default")).id);
    await expect(images.resolve(minimal.ref)).rejects.toMatchObject({ code: "ANT_STATE_CORRUPT" });
  });

  it("allows the images that the configuration names", async () => {
    expect((await open().resolve(other.ref)).id).toBe(other.id);
  });

  it("takes no image that cannot become a sandbox, and none that does not exist", async () => {
    const images = open();
    await expect(images.answer({ op: "allow", ref: overWorkspace.ref })).rejects.toMatchObject({
      code: "ANT_SANDBOX_IMAGE_UNUSABLE",
    });
    await expect(images.answer({ op: "allow", ref: "antiphon-test-nowhere:1" })).rejects.toMatchObject({
      code: "ANT_SANDBOX_IMAGE_MISSING",
    });
  });

  it("takes an image with volumes, which can be a service's and no sandbox's", async () => {
    const images = open();
    await images.answer({ op: "allow", ref: withVolume.ref });
    expect((await images.resolve(withVolume.ref)).volumes).toEqual(["/data"]);
    await expect(provider.start(await test.order({}, withVolume.id))).rejects.toThrow(/for services only/);
  });

  function optionsOf(path: string): ConstructorParameters<typeof Images>[0] {
    return {
      node: "test",
      provider,
      allowlist: new AllowlistFile(path),
      standard: () => sandboxImage(),
      configured: [],
      start: () => Promise.reject(new Error("nothing is started here")),
      now: () => new Date(0),
    };
  }
});

it("an invalid image name is reported as such, not as a fault of the engine", async () => {
  for (const name of ["Upper/Case", "a:b:c", "name:"])
    await expect(test.provider.image(name)).rejects.toMatchObject({
      code: "ANT_SANDBOX_IMAGE_INVALID",
      httpStatus: 422,
    });
});
