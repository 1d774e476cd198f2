/**
 * Hostile programs at full size under the limits of production. Each ends with a named result within its time bound, and the
 * host's memory and disk return to their values. It takes minutes and runs at night.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endingOfDeath, endingOfExit } from "../../../services/sandbox-runner/src/jobs/ending.ts";
import {
  collectBounds,
  defaultLimits,
  MAX_OUTPUT_BYTES,
} from "../../../services/sandbox-runner/src/job-limits.ts";
import { withSwap } from "../../../services/sandbox-runner/src/pool/swap-grant.ts";
import { Refusal } from "../../../services/sandbox-runner/src/workspace/refusal.ts";
import { SandboxDied, type Sandbox } from "../../../services/sandbox-runner/src/ports.ts";
import { shell, testEngine } from "../../support/docker.ts";
import { patient } from "../../support/patience.ts";
import { openSwap, type TestSwap } from "../../support/swap-file.ts";
import { watchHost } from "./host.ts";

const test = testEngine("matrix");
const GiB = 2 ** 30;
const MiB = 2 ** 20;
/** The change that other work on the host may cause meanwhile. */
const NOISE_BYTES = 2 * GiB;
const SWAP_NOISE_BYTES = 128 * MiB;

interface Cell {
  readonly name: string;
  readonly argv: readonly string[];
  readonly timeoutMs: number;
  /** The code of the command's end, or its output if it succeeds. */
  readonly ends: string;
  /** The rule by which its files are refused, or their modes. */
  readonly files?: string;
  readonly withinMs: number;
  /** It may take swap. */
  readonly hasSwap?: true;
}

const python = (...lines: string[]): readonly string[] => ["python3", "-c", lines.join("\n")];
const sh = (script: string): readonly string[] => ["sh", "-c", script];
const TIMEOUT = { ends: "ANT_SANDBOX_TIMEOUT", timeoutMs: 3_000, withinMs: 8_000 } as const;

/** What a sandbox may take of swap. */
const SWAP = GiB;

const CELLS: readonly Cell[] = [
  {
    name: "64 GiB of memory",
    argv: python("x = [bytearray(64 << 20) for _ in range(1024)]"),
    ends: "ANT_SANDBOX_OOM",
    timeoutMs: 60_000,
    withinMs: 60_000,
  },
  {
    name: "64 GiB of memory, with swap",
    argv: python("import os", "x = [os.urandom(1 << 20) * 64 for _ in range(1024)]"),
    ends: "ANT_SANDBOX_OOM",
    timeoutMs: 120_000,
    withinMs: 120_000,
    hasSwap: true,
  },
  {
    name: "a file of 64 GiB, with swap",
    argv: sh("head -c 64G /dev/urandom > big"),
    ends: "ANT_SANDBOX_DISK",
    timeoutMs: 120_000,
    withinMs: 120_000,
    hasSwap: true,
  },
  {
    name: "a fork bomb",
    argv: python("import os", "while True:", "  try: os.fork()", "  except OSError: pass"),
    ...TIMEOUT,
  },
  {
    name: "CPU spin in 64 processes",
    argv: sh("for i in $(seq 64); do while :; do :; done & done; wait"),
    ...TIMEOUT,
  },
  { name: "sleep past the timeout", argv: sh("sleep 600"), ...TIMEOUT },
  {
    name: "SIGTERM ignored",
    argv: python(
      "import signal, time",
      "for s in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}: signal.signal(s, signal.SIG_IGN)",
      "while True: time.sleep(1)",
    ),
    ...TIMEOUT,
  },
  {
    name: "double forks that hold the output",
    argv: sh("for i in $(seq 50); do (setsid sh -c 'trap \"\" TERM; sleep 600' &); done; sleep 600"),
    ...TIMEOUT,
  },
  {
    name: "10 GB of output without newline",
    argv: sh("head -c 10G /dev/zero"),
    ends: "ANT_SANDBOX_OUTPUT",
    timeoutMs: 120_000,
    withinMs: 60_000,
  },
  {
    name: "1,000,000 files",
    argv: python("for i in range(1000000): open(f'{i}', 'w').close()"),
    ends: "ANT_SANDBOX_DISK",
    files: "too-many-files",
    timeoutMs: 120_000,
    withinMs: 180_000,
  },
  {
    name: "directories 20,000 deep",
    argv: python(
      "import os",
      "for i in range(20000):",
      "  os.mkdir('deep'); os.chdir('deep')",
      "open('f', 'w').close()",
    ),
    ends: "ok",
    files: "path-length",
    timeoutMs: 60_000,
    withinMs: 60_000,
  },
  {
    name: "a sparse file of 1 TB",
    argv: sh("truncate -s 1T sparse"),
    ends: "ok",
    files: "too-many-bytes",
    timeoutMs: 60_000,
    withinMs: 20_000,
  },
  {
    name: "setuid",
    argv: sh(
      "cp /bin/sh s && chmod 6755 s && ./s -p -c 'test $(id -u) -ge 60600 && chown 0:0 s 2>/dev/null'; test $? = 1",
    ),
    ends: "ok",
    files: "s 100755",
    timeoutMs: 20_000,
    withinMs: 20_000,
  },
];

let swap: TestSwap;
beforeAll(async () => {
  swap = await openSwap(2 * SWAP); // more than the sandbox may take
}, patient(60_000));
afterAll(async () => {
  await test.expectNoContainers(20_000);
  await swap.close();
}, patient(60_000));

async function endOf(sandbox: Sandbox, cell: Cell): Promise<string> {
  const { argv, timeoutMs } = cell;
  try {
    const command = shell("", { argv, timeoutMs, maxOutputBytes: MAX_OUTPUT_BYTES });
    const exit = await sandbox.run(command);
    return endingOfExit(exit, "s")?.code ?? (exit.exitCode === 0 ? "ok" : `exit code ${exit.exitCode}`);
  } catch (error) {
    if (error instanceof SandboxDied) return endingOfDeath(error.death, "s").code ?? "ok";
    throw error;
  }
}

async function filesOf(sandbox: Sandbox): Promise<string> {
  try {
    const { files } = await sandbox.collect(new Map(), collectBounds());
    return files.map(({ path, mode }) => `${path} ${mode}`).join(", ");
  } catch (error) {
    if (error instanceof Refusal) return error.rule;
    throw error;
  }
}

describe("a hostile program", { timeout: patient(240_000) }, () => {
  it.each(CELLS)("$name ends by name, within its bound, and the host is unharmed", async (cell) => {
    const most = cell.hasSwap === true ? SWAP : 0;
    const order = { ...(await test.order()), limits: withSwap(defaultLimits("runc"), most) };
    const started = performance.now();
    const { result, host } = await watchHost(async () => {
      const sandbox = await test.provider.start(order);
      try {
        const ended = await endOf(sandbox, cell);
        const endedMs = performance.now() - started;
        return { ended, endedMs, files: cell.files === undefined ? undefined : await filesOf(sandbox) };
      } finally {
        await sandbox.destroy({ kind: "canceled", reason: "the cell is over" });
      }
    });
    const took = performance.now() - started;
    const mb = (bytes: number): string => (bytes / MiB).toFixed(0);
    const { before, during, after } = host;
    console.log(
      [
        cell.name,
        `${result.ended}${result.files === undefined ? "" : `, files: ${result.files}`}`,
        `${(result.endedMs / 1000).toFixed(1)} s, gone after ${(took / 1000).toFixed(1)} s`,
        `memory free MiB ${mb(before.memoryBytes)} / ${mb(during.memoryBytes)} / ${mb(after.memoryBytes)}`,
        `disk free MiB ${mb(before.diskBytes)} / ${mb(during.diskBytes)} / ${mb(after.diskBytes)}`,
        `swap free MiB ${mb(before.swapBytes)} / ${mb(during.swapBytes)} / ${mb(after.swapBytes)}`,
      ].join(" | "),
    );
    expect({ ended: result.ended, files: result.files }).toEqual({ ended: cell.ends, files: cell.files });
    expect(took).toBeLessThan(cell.withinMs);
    expect(during.memoryBytes).toBeGreaterThan(before.memoryBytes - order.limits.memoryBytes - NOISE_BYTES);
    expect(after.memoryBytes).toBeGreaterThan(before.memoryBytes - NOISE_BYTES);
    expect(during.swapBytes).toBeGreaterThanOrEqual(before.swapBytes - most - SWAP_NOISE_BYTES);
    expect(after.swapBytes).toBeGreaterThanOrEqual(before.swapBytes - SWAP_NOISE_BYTES);
    expect(during.diskBytes).toBeGreaterThan(before.diskBytes - NOISE_BYTES);
  });
});
