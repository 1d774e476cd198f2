/** The public conformance suite of sandbox providers, on each provider that can run here without a stand-in. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { Readable } from "node:stream";
import { afterAll, describe, expect, it } from "vitest";
import { BubblewrapProvider } from "../../../services/sandbox-runner/src/providers/bubblewrap/bubblewrap-provider.ts";
import { makeCgroup } from "../../../services/sandbox-runner/src/providers/bubblewrap/cgroup.ts";
import { sandboxConformance } from "../../../services/sandbox-runner/src/testing/conformance.ts";
import { SMALL, testEngine } from "../../support/docker.ts";
import { isNight } from "../../support/night.ts";

const docker = testEngine("conformance");

sandboxConformance("docker", {
  provider: () => docker.provider,
  order: (limits) => docker.order(limits),
  leftovers: async () => (await docker.containers()).map(({ name }) => name),
});

const layered = testEngine("conformance-layers");
const EMPTY = Buffer.alloc(1024);
const empty = { kind: "tree", digest: createHash("sha256").update(EMPTY).digest("hex") } as const;

if (isNight)
  sandboxConformance("docker, over a layer", {
    provider: () => layered.provider,
    order: async (limits) => {
      await layered.provider.layers?.fill(empty, () => Readable.from([EMPTY]));
      return { ...(await layered.order(limits)), layers: { tree: empty.digest, environment: null } };
    },
    leftovers: async () => (await layered.containers()).map(({ name }) => name),
  });

afterAll(() => layered.removeLayers());

const instance = `test-${process.pid}`;
let serial = 0;
const bubblewrap = new BubblewrapProvider({
  instance,
  path: process.env["PATH"] ?? "",
  newName: () => `sandbox-${(serial += 1)}`,
});

sandboxConformance("bubblewrap", {
  provider: () => bubblewrap,
  order: (limits) => Promise.resolve({ imageId: "host", limits: { ...SMALL, ...limits }, labels: {} }),
  leftovers: () => Promise.resolve(cgroups()),
});

describe("bubblewrap", () => {
  it("can make a sandbox here, and gives the reason where it cannot", async () => {
    await bubblewrap.ping();
    const none = new BubblewrapProvider({ instance, path: "/nowhere", newName: () => "none" });
    await expect(none.ping()).rejects.toMatchObject({
      code: "ANT_SANDBOX_PROVIDER",
      message: expect.stringContaining("not installed") as string,
    });
  });

  it("reports that it enforces limits exactly where a cgroup can be made", async () => {
    const sandbox = await bubblewrap.start({ imageId: "host", limits: SMALL, labels: {} });
    await sandbox.destroy({ kind: "canceled", reason: "test over" });
    const limited = canLimit();
    expect(bubblewrap.enforces).toEqual({ memory: limited, processes: limited });
  });

  it("shows only the programs of this host", async () => {
    const sandbox = await bubblewrap.start({ imageId: "host", limits: SMALL, labels: {} });
    try {
      expect(sandbox.sealed).toBe(true);
      const script = "ls /; ls /etc; ls -d /root /home /run /var /srv /mnt 2>/dev/null; true";
      const exit = await sandbox.run({
        argv: ["sh", "-c", script],
        cwd: "/workspace",
        env: { PATH: "/usr/bin:/bin" },
        stdin: null,
        timeoutMs: 10_000,
        keepBytes: 65536,
        maxOutputBytes: 65536,
      });
      const seen = new Set(String(exit.stdout.bytes).split("\n"));
      for (const name of ["root", "home", "run", "var", "passwd", "shadow", "hosts", "ssh"])
        expect([name, seen.has(name)]).toEqual([name, false]);
    } finally {
      await sandbox.destroy({ kind: "canceled", reason: "test over" });
    }
  });

  it.each([
    ["unshare", "unshare --user --map-root-user true"],
    ["mount", "mount -t tmpfs none /tmp"],
    ["keyctl", "perl -e 'exit(syscall(250, 0, 0, 0) >= 0 ? 0 : 1)'"],
    ["a packet socket", "perl -e 'socket(my $s, 17, 3, 768) and exit 0; exit 1'"],
    ["AF_ALG", "perl -e 'socket(my $s, 38, 5, 0) and exit 0; exit 1'"],
  ])("refuses %s", async (_name, script) => {
    const sandbox = await bubblewrap.start({ imageId: "host", limits: SMALL, labels: {} });
    try {
      const { exitCode } = await sandbox.run({
        argv: ["sh", "-c", script],
        cwd: "/workspace",
        env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
        stdin: null,
        timeoutMs: 10_000,
        keepBytes: 4096,
        maxOutputBytes: 65536,
      });
      expect(exitCode).not.toBe(0);
    } finally {
      await sandbox.destroy({ kind: "canceled", reason: "test over" });
    }
  });
});

function canLimit(): boolean {
  const trial = makeCgroup(`antiphon-${instance}`, "trial", SMALL);
  void trial?.remove();
  return trial !== null;
}

/** The cgroups that are left. A sandbox's cgroup is removed with its last process. */
function cgroups(): string[] {
  const places = [`/sys/fs/cgroup/memory/antiphon-${instance}`, `/sys/fs/cgroup/antiphon-${instance}`];
  return places.flatMap((place) =>
    existsSync(place)
      ? readdirSync(place, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [one.name] : []))
      : [],
  );
}
