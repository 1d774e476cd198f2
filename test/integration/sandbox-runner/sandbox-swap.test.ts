/**
 * Sandboxes that may take swap, on the real engine: what is asked for them, how much code inside can take, and what its neighbours
 * notice. The test makes the swap in a file of its own.
 */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { endingOfDeath, endingOfExit } from "../../../services/sandbox-runner/src/jobs/ending.ts";
import { withSwap } from "../../../services/sandbox-runner/src/pool/swap-grant.ts";
import {
  SandboxDied,
  type ContainerLimits,
  type Sandbox,
} from "../../../services/sandbox-runner/src/ports.ts";
import { shell, SMALL, testEngine, until } from "../../support/docker.ts";
import { patient } from "../../support/patience.ts";
import { freeSwap, openSwap, type TestSwap } from "../../support/swap-file.ts";

const MiB = 2 ** 20;
const MEMORY = 128 * MiB;
const SWAP = 256 * MiB;
const PIECE = 8 * MiB;
/** Other programs of the machine may use its swap meanwhile. */
const NOISE = 32 * MiB;
const test = testEngine("swap");
const { engine, provider } = test;

const NO_SWAP: ContainerLimits = { ...SMALL, memoryBytes: MEMORY, workspaceInodes: 200 };
const GRANTED = withSwap(NO_SWAP, SWAP);
const TREE = Buffer.alloc(1024); // an empty tar
const tree = createHash("sha256").update(TREE).digest("hex");
const LAYERS = { layers: { tree, environment: null } };

let swap: TestSwap;
beforeAll(async () => {
  swap = await openSwap(2 * SWAP);
  await provider.layers?.fill({ kind: "tree", digest: tree }, () => Readable.from([TREE]));
});
afterEach(() => test.expectNoContainers(10_000));
afterAll(async () => {
  await test.removeLayers();
  await swap.close();
});

async function inSandbox<T>(
  limits: ContainerLimits,
  use: (sandbox: Sandbox) => Promise<T>,
  over: Partial<typeof LAYERS> = LAYERS,
): Promise<T> {
  const sandbox = await provider.start({ ...(await test.order(limits)), ...over });
  try {
    return await use(sandbox);
  } finally {
    await sandbox.destroy({ kind: "canceled", reason: "test over" });
  }
}

interface Attempt {
  /** The code that the command's end is reported with; "ok" when there is none. */
  readonly code: string;
  readonly said: string;
}

async function attempt(sandbox: Sandbox, argv: readonly string[]): Promise<Attempt> {
  let said = "";
  const onOutput = (_stream: unknown, piece: Buffer): void => void (said += piece.toString());
  try {
    const exit = await sandbox.run(shell("", { argv, onOutput, timeoutMs: 60_000 }));
    return { code: endingOfExit(exit, "s")?.code ?? "ok", said: exit.stdout.tail };
  } catch (error) {
    if (error instanceof SandboxDied) return { code: endingOfDeath(error.death, "s").code ?? "ok", said };
    throw error;
  }
}

/** A value as text, without the names that every sandbox has for itself. A tree has a copy for each user that a sandbox may get. */
const textOf = (value: unknown): string =>
  JSON.stringify(value ?? null)
    .replaceAll(/-files-[a-z0-9]+/g, "-files-<copy>")
    .replaceAll(/\b6[01]\d{3}\b/g, "<user>")
    .replaceAll(/\b[0-9a-f]{64}\b/g, "<name>");

/** All leaves of a value by their paths. */
function leaves(value: unknown, at = ""): [path: string, leaf: string][] {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return entries.length === 0
    ? [[at, textOf(value)]]
    : entries.flatMap(([key, one]) => leaves(one, `${at}/${key}`));
}

/** What the engine says of the sandbox's settings and mounts. */
async function described(limits: ContainerLimits, over: Partial<typeof LAYERS>) {
  const read = async ({ id }: Sandbox) => {
    const { Image, Config, HostConfig, Mounts } = await engine.inspect(id);
    const mounts = Mounts.map(textOf).sort();
    const named: Record<string, unknown> = { ...Config };
    delete named["Labels"]; // with the time at which it was made
    return leaves({ Image, Config: named, HostConfig, Mounts: mounts });
  };
  return new Map(await inSandbox(limits, read, over));
}

describe("a sandbox that may take swap", () => {
  it.each([
    ["over a layer", LAYERS, {}],
    ["with a streamed tree", {}, { "/HostConfig/Tmpfs//workspace": [64 * MiB, 64 * MiB + SWAP] }],
  ])(
    "sandbox-runner/S1: %s, differs for the engine from one without in these settings alone",
    async (_name, over, room) => {
      const without = await described(NO_SWAP, over);
      const granted = await described(GRANTED, over);
      expect([...granted.keys()]).toEqual([...without.keys()]);
      const changed = [...granted.keys()].filter((path) => granted.get(path) !== without.get(path));
      expect(changed.sort()).toEqual(["/HostConfig/MemorySwap", ...Object.keys(room)]);
      const settings = [without, granted].map((one) =>
        ["Memory", "MemorySwap"].map((name) => Number(one.get(`/HostConfig/${name}`))),
      );
      expect(settings).toEqual([
        [MEMORY, MEMORY],
        [MEMORY, MEMORY + SWAP],
      ]);
      for (const [path, [before, after]] of Object.entries(room)) {
        expect(without.get(path)?.replace(`size=${before}`, `size=${after}`)).toBe(granted.get(path));
      }
    },
  );

  it("is held to memory and swap together by the kernel, and to memory alone where none is granted", async () => {
    const script =
      "cd /sys/fs/cgroup; if [ -e memory.swap.max ]; then echo $(($(cat memory.max) + $(cat memory.swap.max))); " +
      "else cat memory/memory.memsw.limit_in_bytes; fi";
    const limitOf = (limits: ContainerLimits) =>
      inSandbox(limits, async (sandbox) => Number((await sandbox.run(shell(script))).stdout.tail));
    expect([await limitOf(NO_SWAP), await limitOf(GRANTED)]).toEqual([MEMORY, MEMORY + SWAP]);
  });
});

/** Takes memory in pieces that are not alike, and says after each how many bytes it has. */
const HOG = [
  "python3",
  "-c",
  `import os\nx = []\nwhile True:\n  x.append(os.urandom(${PIECE}))\n  print(len(x) * ${PIECE}, flush=True)`,
];
const fill = (bytes: number): string => `head -c ${bytes} /dev/urandom > filled && wc -c < filled`;
const lastNumber = (said: string): number => Number(said.trim().split("\n").at(-1));

describe("a hostile program in a sandbox that may take swap", { timeout: patient(120_000) }, () => {
  const watching = new AbortController();
  let watch: Promise<void>;
  beforeAll(() => {
    watch = provider.watchMemory(test.instance, watching.signal);
  });
  afterAll(() => {
    watching.abort();
    return watch;
  });

  it("takes at most its memory and its swap, or its memory where the machine has no swap", () =>
    inSandbox(GRANTED, async (sandbox) => {
      const { code, said } = await attempt(sandbox, HOG);
      expect(code).toBe("ANT_SANDBOX_OOM");
      expect(lastNumber(said)).toBeLessThanOrEqual(swap.why === null ? MEMORY + SWAP : MEMORY);
      if (swap.why === null) expect(lastNumber(said)).toBeGreaterThan(MEMORY + SWAP / 2);
    }));

  it("takes at most its memory where none is granted, whatever the machine has", () =>
    inSandbox(NO_SWAP, async (sandbox) => {
      const { code, said } = await attempt(sandbox, HOG);
      expect(code).toBe("ANT_SANDBOX_OOM");
      expect(lastNumber(said)).toBeLessThanOrEqual(MEMORY);
    }));

  it("fills its top to its bytes and its files, and not further", async ({ skip }) => {
    if (swap.why !== null) return skip(`unavailable: ${swap.why}`);
    await inSandbox(GRANTED, async (sandbox) => {
      const files = "i=0; while : > f$i; do i=$((i+1)); echo $i; done 2>/dev/null; exit 1";
      const named = await attempt(sandbox, ["sh", "-c", files]);
      expect(named.code).toBe("ANT_SANDBOX_DISK");
      expect(lastNumber(named.said)).toBeLessThan(GRANTED.workspaceInodes);
      expect(lastNumber(named.said)).toBeGreaterThan(GRANTED.workspaceInodes / 2);
      const bytes = "rm f*; head -c 400000000 /dev/urandom > big || { wc -c < big; exit 1; }";
      const written = await attempt(sandbox, ["sh", "-c", bytes]);
      expect(written.code).toBe("ANT_SANDBOX_DISK");
      expect(lastNumber(written.said)).toBeLessThanOrEqual(GRANTED.workspaceBytes);
      expect(lastNumber(written.said)).toBeGreaterThan(GRANTED.workspaceBytes - MiB);
    });
  });

  it("has for its memory only what its files have left of both", async ({ skip }) => {
    if (swap.why !== null) return skip(`unavailable: ${swap.why}`);
    await inSandbox(GRANTED, async (sandbox) => {
      const filled = await attempt(sandbox, ["sh", "-c", fill(SWAP)]);
      expect(filled).toEqual({ code: "ok", said: `${SWAP}\n` });
      const { code, said } = await attempt(sandbox, HOG);
      expect(code).toBe("ANT_SANDBOX_OOM");
      expect(lastNumber(said)).toBeLessThanOrEqual(MEMORY);
    });
  });

  it("leaves its neighbours their memory and their files, and the machine its swap", async () => {
    const before = freeSwap();
    const half = MEMORY / 2;
    const use = ["python3", "-c", `import os\nprint(len(os.urandom(${half})))`];
    const rounds: Attempt[] = [];
    let isOver = false;
    const beside = (limits: ContainerLimits) =>
      inSandbox(limits, async (neighbour) => {
        const kept = await attempt(neighbour, ["sh", "-c", `${fill(8 * MiB)} && sha256sum filled > sum`]);
        do rounds.push(await attempt(neighbour, use));
        while (!isOver);
        return [kept.code, await attempt(neighbour, ["sha256sum", "--quiet", "-c", "sum"])];
      });
    const hostile = inSandbox(GRANTED, async (sandbox) => (await attempt(sandbox, HOG)).code).finally(
      () => (isOver = true),
    );
    const unharmed = ["ok", { code: "ok", said: "" }];
    expect(await Promise.all([hostile, beside(NO_SWAP), beside(GRANTED)])).toEqual([
      "ANT_SANDBOX_OOM",
      unharmed,
      unharmed,
    ]);
    expect(new Set(rounds.map(({ code, said }) => `${code} ${said}`))).toEqual(new Set([`ok ${half}\n`]));
    const freed = (bytes: number): boolean => bytes >= before - NOISE;
    expect(await until(() => Promise.resolve(freeSwap()), freed, 10_000)).toSatisfy(freed);
  });
});
