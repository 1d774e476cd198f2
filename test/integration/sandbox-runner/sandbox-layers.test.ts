/** Sandboxes over read-only layers, on the real engine: what they share, what they cannot reach, and what stays behind. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { collectBounds } from "../../../services/sandbox-runner/src/job-limits.ts";
import type { LayerName, Layers } from "../../../services/sandbox-runner/src/layers/layer-store.ts";
import { Layering } from "../../../services/sandbox-runner/src/layers/layering.ts";
import { partLabels, partName } from "../../../services/sandbox-runner/src/layers/layer-volumes.ts";
import { DockerProvider } from "../../../services/sandbox-runner/src/providers/docker/docker-provider.ts";
import type { Sandbox } from "../../../services/sandbox-runner/src/ports.ts";
import type { Baseline } from "../../../services/sandbox-runner/src/workspace/collected.ts";
import { canonicalTar } from "../../../services/sandbox-runner/src/workspace/tar-writer.ts";
import { sandboxImage, shell, testEngine } from "../../support/docker.ts";

const MiB = 2 ** 20;
const test = testEngine("layers");
const { provider, engine, instance } = test;
const over = { kind: "canceled", reason: "test over" } as const;

function store() {
  if (provider.layers === undefined) throw new Error("the provider has no layers");
  return provider.layers;
}

const digestOf = (tar: Buffer): string => createHash("sha256").update(tar).digest("hex");
const files = (contents: Readonly<Record<string, string>>) =>
  Object.entries(contents).map(([path, text]) => ({
    path,
    mode: "100644" as const,
    content: Buffer.from(text),
  }));

async function* pieces(tar: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < tar.length; at += 1000) yield await Promise.resolve(tar.subarray(at, at + 1000));
}

async function filled(kind: LayerName["kind"], tar: Buffer): Promise<string> {
  const digest = digestOf(tar);
  await store().fill({ kind, digest }, () => pieces(tar));
  return digest;
}

function baselineOf(contents: Readonly<Record<string, string>>): Baseline {
  const entries = files(contents).map(({ path, mode, content }) => {
    const sha256 = createHash("sha256").update(content).digest("hex");
    return [path, { kind: "file" as const, mode, size: content.length, sha256 }] as const;
  });
  return new Map(entries);
}

async function inSandbox<T>(
  layers: Layers,
  use: (sandbox: Sandbox) => Promise<T>,
  limits: Parameters<typeof test.order>[0] = {},
): Promise<T> {
  const sandbox = await provider.start({ ...(await test.order(limits)), layers });
  try {
    return await use(sandbox);
  } finally {
    await sandbox.destroy(over);
  }
}

async function said(sandbox: Sandbox, script: string): Promise<string> {
  const { stdout, stderr } = await sandbox.run(
    shell(script, { env: { PATH: "/usr/bin:/bin", HOME: sandbox.home } }),
  );
  return `${stdout.tail}${stderr.tail}`;
}

/** A volume of 1 MiB, which is full as a disk is. That of the probe is one too. */
async function smallVolume(name: string, labels: Readonly<Record<string, string>>) {
  const options = ["type=tmpfs", "device=tmpfs", "o=size=1m,mode=1777"].flatMap((one) => ["--opt", one]);
  const labelled = Object.entries(labels).flatMap(([label, value]) => ["--label", `${label}=${value}`]);
  execFileSync("docker", ["volume", "create", ...options, ...labelled, name]);
  const made = await engine.volume(name);
  if (made === null) throw new Error(`no volume ${name}`);
  return made;
}

/** A tar that the host's own program makes of these files and links. */
function tarOf(
  contents: Readonly<Record<string, string>>,
  links: Readonly<Record<string, string>> = {},
): Buffer {
  const directory = mkdtempSync(join(tmpdir(), "antiphon-layer-"));
  try {
    const at = (path: string): string => {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      return join(directory, path);
    };
    for (const [path, text] of Object.entries(contents)) writeFileSync(at(path), text);
    for (const [path, target] of Object.entries(links)) symlinkSync(target, at(path));
    const names = new Set(
      [...Object.keys(contents), ...Object.keys(links)].map((path) => path.split("/")[0] ?? ""),
    );
    return execFileSync("tar", ["-cf", "-", "-C", directory, ...names]);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const TREE = { "a/b/f": "f", "a/g": "g", "c/d/h": "h", "c/i": "i", top: "t", "same/x": "x" };
const environment = (): Buffer =>
  tarOf(
    {
      "workspace/node_modules/tool/index.js": "good\n",
      "workspace/top": "hidden",
      "home/.cache/one": "cached\n",
    },
    { "workspace/node_modules/.bin/tool": "../tool/index.js", "workspace/node_modules/out": "/etc/passwd" },
  );

afterEach(() => test.expectNoContainers(10_000));
afterAll(() => test.removeLayers());

describe("a sandbox over layers", () => {
  it("tells which of the traced files a command read, and of others nothing", async () => {
    const tree = await filled("tree", canonicalTar(files(TREE)));
    await inSandbox({ tree, environment: null }, async (sandbox) => {
      await sandbox.remember?.(baselineOf(TREE), ["a/b/f", "c/i", "not/there", "../../etc/passwd"]);
      await said(sandbox, "cat a/b/f a/g; ls -l c/i");
      const survey = await sandbox.written?.(false);
      expect(survey?.written).toEqual({ made: [], changed: [], restored: [], read: ["a/b/f"] });
    });
  });

  it("can be made on this engine", async () => {
    expect(await store().fault()).toBeNull();
  });

  it("has the tree over the environment, a home, and room to write in both", async () => {
    const layers = {
      tree: await filled("tree", canonicalTar(files(TREE))),
      environment: await filled("environment", environment()),
    };
    await inSandbox(layers, async (sandbox) => {
      const script =
        "cat top a/g node_modules/.bin/tool $HOME/.cache/one; echo $HOME; echo new > $HOME/new; ls -A $HOME";
      expect(await said(sandbox, script)).toBe("tggood\ncached\n/home/sandbox\n.cache\nnew\n");
      expect(sandbox.sealed).toBe(true);
    });
  });

  it("reports the same changes as a sandbox whose files were streamed", async () => {
    const edits = [
      "echo changed > a/b/f",
      "rm a/g",
      "rm -rf c && mkdir c && echo again > c/i",
      "chmod +x top",
      "touch same/x",
      "mkdir -p new/deep && echo n > new/deep/n",
      "rm -rf a && mkdir -p a/g && echo dir > a/g/now",
      "rm -rf same && echo file > same",
      "mv top moved && mv moved top",
      "rm -rf * && echo all > gone",
    ];
    const tree = await filled("tree", canonicalTar(files(TREE)));
    const baseline = baselineOf(TREE);
    for (let count = 1; count <= edits.length; count += 3) {
      const script = edits.slice(0, count).join(" && ");
      const mounted = await inSandbox({ tree, environment: null }, async (sandbox) => {
        sandbox.compareWith?.(baseline);
        expect(await said(sandbox, script)).toBe("");
        return sandbox.collect(baseline, collectBounds());
      });
      const streamed = await inSandbox({ tree: null, environment: null }, async (sandbox) => {
        await sandbox.putTar(canonicalTar(files(TREE)));
        await sandbox.remember?.(baseline);
        await said(sandbox, script);
        return sandbox.collect(baseline, collectBounds());
      });
      expect([script, mounted]).toEqual([script, streamed]);
    }
  });

  it("reports that a file is gone which the job had put over the layer", async () => {
    const tree = await filled("tree", canonicalTar(files(TREE)));
    const over = { ...TREE, put: "p", top: "other" };
    await inSandbox({ tree, environment: null }, async (sandbox) => {
      sandbox.compareWith?.(baselineOf(TREE));
      await sandbox.putTar(canonicalTar(files({ put: "p", top: "other" })));
      expect(await sandbox.collect(baselineOf(over), collectBounds())).toEqual({ files: [], deletions: [] });
      await said(sandbox, "rm put; printf t > top");
      const { files: changed, deletions } = await sandbox.collect(baselineOf(over), collectBounds());
      expect([changed.map(({ path }) => path), deletions]).toEqual([["top"], ["put"]]);
    });
  });

  it("never shows what another one wrote: a poisoned package is gone with its sandbox", async () => {
    const layers = { tree: null, environment: await filled("environment", environment()) };
    await inSandbox(layers, async (poisoned) => {
      await inSandbox(layers, async (beside) => {
        const script =
          "echo evil > node_modules/tool/index.js; echo evil > $HOME/.cache/one; rm -rf node_modules/.bin";
        expect(await said(poisoned, `${script}; cat node_modules/tool/index.js`)).toBe("evil\n");
        expect(await said(beside, "cat node_modules/.bin/tool $HOME/.cache/one")).toBe("good\ncached\n");
      });
    });
    await inSandbox(layers, async (next) => {
      expect(await said(next, "cat node_modules/.bin/tool $HOME/.cache/one")).toBe("good\ncached\n");
    });
  });

  it("shares the one copy of its environment with all others, and may do everything but set modes and times", async () => {
    const tar = environment();
    const layers = { tree: null, environment: await filled("environment", tar) };
    const free =
      "cat >> node_modules/tool/index.js < /dev/null && touch node_modules/tool/index.js && mv top moved";
    const owned = "chmod 600 node_modules/tool/index.js && touch -d 2001-01-01 node_modules/tool/index.js";
    const tried = async (sandbox: Sandbox, script: string): Promise<boolean> =>
      (await sandbox.run(shell(script))).exitCode === 0;
    const many = await Promise.all(
      [1, 2, 3].map(async () => provider.start({ ...(await test.order()), layers })),
    );
    try {
      for (const sandbox of many)
        expect([await tried(sandbox, free), await tried(sandbox, owned)]).toEqual([true, false]);
      const digest = layers.environment;
      const own = (await store().list()).filter((one) => one.digest === digest);
      expect(own.map(({ kind }) => kind)).toEqual(["environment"]);
    } finally {
      await Promise.all(many.map((sandbox) => sandbox.destroy(over)));
    }
    await filled("owned", tar);
    await inSandbox({ ...layers, owned: true }, async (sandbox) => {
      expect([await tried(sandbox, free), await tried(sandbox, owned)]).toEqual([true, true]);
    });
  });

  it("can read and replace every file of its environment, and nothing there is setuid, sticky or closed", async () => {
    const directory = mkdtempSync(join(tmpdir(), "antiphon-layer-"));
    const script =
      "mkdir -p workspace/m/shut workspace/m/sticky home && cd workspace/m && echo s > suid && cp suid none && " +
      "ln suid hard && echo i > shut/in && touch sticky/f && " +
      "chmod 6755 suid && chmod 000 none shut && chmod 1777 sticky && cd ../.. && tar -cf - workspace home";
    let tar: Buffer;
    try {
      tar = execFileSync("sh", ["-c", script], { cwd: directory });
    } finally {
      execFileSync("chmod", ["-R", "u+rwX", directory]);
      rmSync(directory, { recursive: true });
    }
    await inSandbox({ tree: null, environment: await filled("environment", tar) }, async (sandbox) => {
      const seen = "cd m && find . -perm /7000 && cat suid hard none shut/in";
      expect(await said(sandbox, seen)).toBe("s\ns\ns\ni\n");
      expect(
        await said(
          sandbox,
          "rm m/sticky/f && echo x > m/hard && cat m/suid && rm -r m/suid m/none m/hard && ls m",
        ),
      ).toBe("s\nshut\nsticky\n");
    });
  });

  it("stays within its bytes and its number of files, home and workspace together", async () => {
    const layers = { tree: await filled("tree", canonicalTar(files(TREE))), environment: null };
    const room = { workspaceBytes: 8 * MiB, workspaceInodes: 200 };
    await inSandbox(
      layers,
      async (sandbox) => {
        const script =
          "head -c 5000000 /dev/zero > $HOME/a; head -c 5000000 /dev/zero > b; cat $HOME/a b | wc -c; rm $HOME/a b; " +
          "for i in $(seq 300); do touch f$i; done 2>/dev/null; ls | wc -l";
        const [bytes, names] = (await said(sandbox, script)).match(/^\d+$/gm)?.map(Number) ?? [];
        expect(bytes).toBeLessThanOrEqual(8 * MiB);
        expect(bytes).toBeGreaterThan(5_000_000);
        expect(names).toBeGreaterThan(100);
        expect(names).toBeLessThan(200);
      },
      room,
    );
  });

  it("cannot reach a layer or its own top by another way, and leads nowhere out by a link", async () => {
    const layers = { tree: null, environment: await filled("environment", environment()) };
    await inSandbox(layers, async (sandbox) => {
      const attempts = [
        "ls /run/antiphon/layers",
        "cat /run/antiphon/layers/0/node_modules/tool/index.js",
        "echo x > /run/antiphon/upper/x",
        "rm -r /run/antiphon/upper/node_modules",
        "chmod 777 /run/antiphon/layers",
        "mount -o remount,rw /run/antiphon/upper",
        "umount /workspace",
        "mount -t overlay overlay -o lowerdir=/etc,upperdir=/tmp,workdir=/tmp /workspace",
        'setfattr -n trusted.overlay.opaque -v y node_modules || python3 -c \'import os; os.setxattr("node_modules", "trusted.overlay.opaque", b"y")\'',
        "mknod node_modules/white c 0 0 && test -c node_modules/white",
        "grep -q root:.*:0:0 node_modules/out && ! cmp -s node_modules/out /etc/passwd",
        "cat /proc/mounts | grep -E ' /workspace | /home/sandbox ' | grep -vE '^overlay .*nosuid,nodev'",
        "ls $(sed -n 's/.*upperdir=\\([^,]*\\).*/\\1/p' /proc/mounts)",
      ];
      for (const attempt of attempts) {
        const { exitCode } = await sandbox.run(shell(attempt));
        expect([attempt, exitCode === 0]).toEqual([attempt, false]);
      }
    });
  });

  it("is not made when the layer does not exist", async () => {
    const layers = { tree: "0".repeat(64), environment: null };
    await expect(inSandbox(layers, () => Promise.resolve())).rejects.toMatchObject({
      code: "ANT_SANDBOX_FAILED",
    });
  });
});

describe("a layer", () => {
  const volumes = async (): Promise<string[]> =>
    (await engine.volumes(`antiphon-layer-${instance}-files-`)).map(({ name }) => name).sort();

  it("is made once by a runner, however many ask for it, and by no other runner that finds it", async () => {
    const tar = canonicalTar(files({ once: `${Math.random()}` }));
    const before = await volumes();
    const own = await test.order();
    const other = new DockerProvider({
      engine,
      newName: () => `other-${Math.random().toString(36).slice(2)}`,
      ownImage: sandboxImage(),
      layers: { instance, owner: test.owner, slots: 8, order: () => own },
    }).layers;
    const name = { kind: "tree", digest: digestOf(tar) } as const;
    await Promise.all([filled("tree", tar), filled("tree", tar), filled("tree", tar)]);
    expect(await volumes()).toHaveLength(before.length + 1);
    await Promise.all([filled("tree", tar), other?.fill(name, () => pieces(tar))]);
    expect(await volumes()).toHaveLength(before.length + 1);
    expect(await store().has({ kind: "tree", digest: digestOf(tar) })).toBe(true);
    expect(await store().has({ kind: "environment", digest: digestOf(tar) })).toBe(false);
  });

  it("has a copy of its own from each of two runners that make it at the same time, and both are whole", async () => {
    const tar = canonicalTar(files({ twice: `${Math.random()}` }));
    const own = await test.order();
    const other = new DockerProvider({
      engine,
      newName: () => `other-${Math.random().toString(36).slice(2)}`,
      ownImage: sandboxImage(),
      layers: { instance, owner: test.owner, slots: 8, order: () => own },
    }).layers;
    const name = { kind: "tree", digest: digestOf(tar) } as const;
    await Promise.all([filled("tree", tar), other?.fill(name, () => pieces(tar))]);
    const layers = { tree: name.digest, environment: null };
    const copies = [...(await store().copies(layers))];
    expect(copies.map(([, count]) => count)).toEqual(copies.map(() => 1));
    const { length } = copies;
    expect(length === 1 || length === 2).toBe(true);
    await Promise.all(
      copies.map(() =>
        inSandbox(layers, async (sandbox) => expect(await said(sandbox, "ls")).toBe("twice\n")),
      ),
    );
  });

  const whole = canonicalTar(files({ file: "content" }));
  const device = execFileSync("tar", ["-cf", "-", "-C", "/dev", "null"]);
  it.each([
    ["has other bytes than its name says", whole, "0".repeat(64), /digest/],
    ["stops early", whole.subarray(0, 700), digestOf(whole.subarray(0, 700)), /tar/],
    ["holds a device", device, digestOf(device), /device/],
    ["is no archive", Buffer.alloc(5000, "x"), digestOf(Buffer.alloc(5000, "x")), /tar/],
  ])("is not there afterwards when it %s", async (_name, tar, digest, message) => {
    const before = await volumes();
    const name = { kind: "tree", digest } as const;
    const failed = await store()
      .fill(name, () => pieces(tar))
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: "ANT_LAYER_INVALID" });
    expect(String(failed)).toMatch(message);
    expect([await store().has(name), await volumes()]).toEqual([false, before]);
  });

  it.each(["environment", "tree"] as const)(
    "(%s) for which the engine's disk has no room ends with one line that says so, and nothing of it stays",
    async (kind) => {
      const own = await test.order();
      const small = new DockerProvider({
        engine: { ...engine, createVolume: smallVolume },
        newName: () => `small-${Math.random().toString(36).slice(2)}`,
        ownImage: sandboxImage(),
        layers: { instance, owner: test.owner, slots: 8, order: () => own },
      }).layers;
      const contents = Object.fromEntries(
        Array.from({ length: 24 }, (_, at) => [`workspace/f${at}`, "x".repeat(MiB / 8)]),
      );
      const tar = canonicalTar(files({ "home/x": "x", ...contents }));
      expect(await small?.fault()).toBe(null); // leaves the layer that it tries
      const before = await volumes();
      let waited = 0;
      const name = { kind, digest: digestOf(tar) } as const;
      const layering = new Layering({ store: small, onStreamed: (why) => expect.unreachable(why) });
      const laid = { tar: () => pieces(tar), drop: () => Promise.reject(new Error("it is whole")) };
      const what = kind === "tree" ? "repository" : "environment";
      const isTree = kind === "tree";
      const tree = { ...laid, digest: name.digest, baseline: new Map(), contentBytes: 2 ** 40 };
      const telling = (text: string): void => {
        expect(text).toBe(`laying out the ${what}`);
        waited += 1;
      };
      await expect(
        layering.layersOf(isTree ? tree : null, isTree ? null : { ...laid, digest: name.digest }, telling),
      ).rejects.toMatchObject({
        code: "ANT_SANDBOX_NO_SPACE",
        detail: `the container engine's disk has no space left to lay out the ${what}`,
      });
      expect([waited, await small?.has(name), await volumes()]).toEqual([1, false, before]);
    },
  );

  it("whose directory is a link leads nowhere: the link is not followed on the engine's host", async () => {
    const tar = tarOf({ "home/x": "x" }, { workspace: "/etc" });
    const layer = await filled("environment", tar).catch((error: unknown) => error);
    if (typeof layer !== "string") return expect(layer).toMatchObject({ code: "ANT_SANDBOX_FAILED" });
    await inSandbox({ tree: null, environment: layer }, async (sandbox) => {
      expect(await said(sandbox, "ls")).toBe("");
    });
  });

  it("is not removed while a sandbox is mounted over it, and then it is", async () => {
    const tar = canonicalTar(files({ used: "here\n" }));
    const name = { kind: "tree", digest: await filled("tree", tar) } as const;
    await inSandbox({ tree: name.digest, environment: null }, async (sandbox) => {
      expect(await store().remove(name)).toBe("in-use");
      expect(await store().has(name)).toBe(true);
      expect(await said(sandbox, "cat used")).toBe("here\n");
    });
    await test.expectNoContainers(10_000);
    expect(await store().remove(name)).toBe("removed");
    expect(await store().has(name)).toBe(false);
  });

  it("is made anew for the next sandbox when another runner has removed it", async () => {
    const tar = canonicalTar(files({ again: `${Math.random()}` }));
    const own = await test.order();
    const other = new DockerProvider({
      engine,
      newName: () => `other-${Math.random().toString(36).slice(2)}`,
      ownImage: sandboxImage(),
      layers: { instance, owner: test.owner, slots: 8, order: () => own },
    }).layers;
    const name = { kind: "tree", digest: await filled("tree", tar) } as const;
    expect(await other?.remove(name)).toBe("removed");
    await filled("tree", tar);
    await inSandbox({ tree: name.digest, environment: null }, async (sandbox) => {
      expect(await said(sandbox, "test -s again && echo there")).toBe("there\n");
    });
  });

  it("that a killed runner left half made is never mounted, and is removed", async () => {
    const before = await volumes();
    const left = partName(instance, "left");
    await engine.createVolume(left, partLabels(instance, "boot/1/999999999/0"));
    const mine = partName(instance, "mine");
    await engine.createVolume(mine, partLabels(instance, test.owner));
    expect((await store().tidy()).filter((name) => name === left || name === mine)).toEqual([mine]);
    expect(await volumes()).toEqual([...before, left].sort());
    await engine.removeVolume(left);
  });
});
