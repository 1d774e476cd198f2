/** Each live sandbox of an engine has a user of its own, with all that the kernel counts by user, on the real engine. */
import { createHash } from "node:crypto";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import {
  DOCKER_ENVIRONMENT,
  DockerProvider,
} from "../../../services/sandbox-runner/src/providers/docker/docker-provider.ts";
import { UidLeases, UidTaken } from "../../../services/sandbox-runner/src/providers/docker/uid-leases.ts";
import { createBody } from "../../../services/sandbox-runner/src/providers/container-spec.ts";
import { freeUids } from "../../../services/sandbox-runner/src/providers/sandbox-uids.ts";
import type { Sandbox, SandboxProvider } from "../../../services/sandbox-runner/src/ports.ts";
import { canonicalTar } from "../../../services/sandbox-runner/src/workspace/tar-writer.ts";
import { sandboxImage, shell, testEngine } from "../../support/docker.ts";

const test = testEngine("uids");
const over = { kind: "canceled", reason: "test over" } as const;

afterEach(() => test.expectNoContainers(10_000));
afterAll(() => test.removeLayers());

const TREE = canonicalTar(
  ["run", "d/file"].map((path) => ({ path, mode: "100644" as const, content: Buffer.from("text\n") })),
);
const DIGEST = createHash("sha256").update(TREE).digest("hex");

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(bytes);
}

/** Another runner's: it shares no memory with the first. */
function anotherProvider(name: string): DockerProvider {
  let serial = 0;
  const { engine, instance, owner } = test;
  return new DockerProvider({
    engine,
    newName: () => `${instance}-${name}-${(serial += 1)}`,
    ownImage: sandboxImage(),
    layers: { instance, owner, slots: 8, order: () => ({ limits: SMALL.limits, labels: SMALL.labels }) },
  });
}
const SMALL = await test.order();

async function startPlain(provider: SandboxProvider): Promise<Sandbox> {
  return provider.start(await test.order());
}

async function startLayered(provider: SandboxProvider): Promise<Sandbox> {
  await provider.layers?.fill({ kind: "tree", digest: DIGEST }, () => once(TREE));
  return provider.start({ ...(await test.order()), layers: { tree: DIGEST, environment: null } });
}

async function said(sandbox: Sandbox, script: string): Promise<string> {
  const { stdout, stderr } = await sandbox.run(shell(script));
  return `${stdout.tail}${stderr.tail}`.trim();
}

/** Takes what there is of both for its user, says how that ended, and keeps it. */
const HOG = `import ctypes, fcntl, os, time
libc, held = ctypes.CDLL(None, use_errno=True), []
while libc.inotify_init1(0) >= 0: pass
error = ctypes.get_errno()
size = 65536
while size == 65536:
    held.append(os.pipe())
    size = fcntl.fcntl(held[-1][1], 1032)
print("inotify", error, "pipe", size, flush=True)
time.sleep(60)`;
/** A check that needs 100 inotify instances and 100 pipes of the usual size. */
const NEEDY = `import ctypes, fcntl, os
libc = ctypes.CDLL(None)
sizes = [fcntl.fcntl(os.pipe()[1], 1032) for _ in range(100)]
print(min(libc.inotify_init1(0) for _ in range(100)) >= 0, min(sizes))`;

async function inTwo(
  start: (provider: SandboxProvider) => Promise<Sandbox>,
  use: (one: Sandbox, other: Sandbox) => Promise<void>,
): Promise<void> {
  const both = await Promise.all([start(test.provider), start(test.provider)]);
  try {
    await use(...both);
  } finally {
    await Promise.all(both.map((one) => one.destroy(over)));
  }
}

describe.each([
  ["streamed", startPlain],
  ["over layers", startLayered],
])("two sandboxes %s", (_kind, start) => {
  it("do not take each other's inotify instances and pipe pages", () =>
    inTwo(start, async (one, other) => {
      let told: (said: string) => void = () => undefined;
      const taken = new Promise<string>((resolve) => (told = resolve));
      const kill = new AbortController();
      const argv = ["python3", "-c", HOG];
      const hog = one.run(
        shell("", { argv, signal: kill.signal, onOutput: (_, piece) => told(piece.toString()) }),
      );
      const EMFILE = 24;
      expect(await taken).toMatch(new RegExp(`^inotify ${EMFILE} pipe (4096|8192)\n$`)); // it met both limits
      const { stdout, stderr } = await other.run(shell("", { argv: ["python3", "-c", NEEDY] }));
      expect(`${stdout.tail}${stderr.tail}`).toBe("True 65536\n");
      const watch = `require("fs").watch("/workspace").close(); console.log("watched")`;
      expect(await said(other, `node -e '${watch}'`)).toBe("watched");
      kill.abort();
      await hog;
    }));

  it("have a user with a name, who owns every file and may change every mode and time", () =>
    inTwo(start, async (one, other) => {
      const script =
        "cd /workspace && echo new > new && for f in $(find . /tmp -type f) . /tmp /dev/shm $HOME; do chmod u+x $f && touch -d @1 $f; done;" +
        "find . $HOME /tmp ! -user $(id -u) -o ! -group $(id -g); id -un; id -u";
      const uids = await Promise.all(
        [one, other].map(async (sandbox) => {
          const [name, uid, ...rest] = (await said(sandbox, script)).split("\n");
          expect([name, rest]).toEqual(["sandbox", []]);
          return Number(uid);
        }),
      );
      const all = [...freeUids("layered", new Set()), ...freeUids("other", new Set())];
      for (const uid of uids) expect(all).toContain(uid);
      expect(new Set(uids).size).toBe(2);
    }));
});

describe("the users of an engine", () => {
  it("all have the name in the default image", async () => {
    const sandbox = await startPlain(test.provider);
    try {
      const all = [...freeUids("layered", new Set()), ...freeUids("other", new Set())];
      const names = await said(sandbox, `getent passwd ${all.join(" ")} | cut -d: -f1,6 | sort | uniq -c`);
      expect(names).toBe(`${all.length} sandbox:/workspace`);
    } finally {
      await sandbox.destroy(over);
    }
  });

  it("sandbox-runner/S11: are each of one sandbox, when runners that know nothing of each other start many", async () => {
    const runners = ["a", "b", "c"].map(anotherProvider);
    const started = await Promise.allSettled(
      runners.flatMap((runner) =>
        [startLayered, startLayered, startPlain, startPlain].map((start) => start(runner)),
      ),
    );
    const sandboxes = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    try {
      expect(started.filter(({ status }) => status === "rejected")).toEqual([]);
      const uids = await Promise.all(sandboxes.map((sandbox) => said(sandbox, "id -u")));
      expect(new Set(uids).size).toBe(12);
      expect(await said(sandboxes[0] as Sandbox, "cat /workspace/run")).toBe("text");
    } finally {
      await Promise.all(sandboxes.map((one) => one.destroy(over)));
    }
  });

  it("sandbox-runner/S11: are not kept by two runners that chose the same at the same time, nor taken from one that has it", async () => {
    const [first, second, third] = [0, 1, 2].map(() => new UidLeases(test.engine));
    const uid = freeUids("other", new Set()).at(-1) ?? 0;
    const made: string[] = [];
    const make = async (): Promise<string> => {
      const body = createBody({ ...SMALL, uid, workspace: { kind: "memory" } }, DOCKER_ENVIRONMENT);
      const id = await test.engine.create(body, `${test.instance}-same-${made.length}`);
      made.push(id);
      return id;
    };
    try {
      const [one, two] = [await make(), await make()]; // both looked before either had a container
      await expect(first?.confirm(uid, one)).rejects.toThrow(UidTaken);
      await expect(second?.confirm(uid, two)).rejects.toThrow(UidTaken);
      await test.engine.remove(two);
      await first?.confirm(uid, one);
      await first?.confirm(uid, await make(), one); // the newcomer of another runner would see the first
      await test.engine.remove(made.at(-1) ?? "");
      const late = await make();
      await expect(second?.confirm(uid, late)).rejects.toThrow(UidTaken);
      await test.engine.remove(late);

      const tried: number[] = [];
      const got = await third?.use(
        "other",
        (free) => (tried.length === 0 ? uid : free.at(-1)),
        async (chosen) => {
          tried.push(chosen);
          if (chosen === uid) await third.confirm(uid, "");
          return Promise.resolve(chosen);
        },
      );
      expect(tried).toEqual([uid, got]); // the container that has it is no longer offered
      expect(got).toBeLessThan(uid);
    } finally {
      for (const id of made) await test.engine.remove(id);
    }
  });

  it("have no more copies of a layer than sandboxes over it at one time, and take up those that are there", async () => {
    const copies = async () =>
      (await test.provider.layers?.copies({ tree: DIGEST, environment: null })) ?? new Map();
    for (const sandbox of await Promise.all([startLayered(test.provider), startLayered(test.provider)]))
      await sandbox.destroy(over);
    const before = await copies();
    expect(before.size).toBeGreaterThanOrEqual(2);
    for (let round = 0; round < 4; round += 1) {
      const sandbox = await startLayered(anotherProvider(`again${round}`));
      expect([...before.keys()]).toContain(Number(await said(sandbox, "id -u")));
      await sandbox.destroy(over);
    }
    expect(await copies()).toEqual(before);
  });
});
