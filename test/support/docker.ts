/**
 * The real container engine for tests: the image, the owner of containers, and the check for leaks. Each test file has
 * its own instance name, so files can run side by side.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  dockerEngine,
  type Engine,
  type ListedContainer,
} from "../../services/sandbox-runner/src/providers/docker/docker-engine.ts";
import { DockerProvider } from "../../services/sandbox-runner/src/providers/docker/docker-provider.ts";
import { ownLabel } from "@antiphon/runtime";
import { containerLabels } from "../../services/sandbox-runner/src/reaper/container-labels.ts";
import type { Command, ContainerLimits, SandboxOrder } from "../../services/sandbox-runner/src/ports.ts";

const MiB = 1024 * 1024;

/** The image that `npm run setup` built. A missing image fails the test with its remedy; it is never skipped. */
export function sandboxImage(): string {
  const chosen = process.env["ANTIPHON_SANDBOX_IMAGE"];
  if (chosen !== undefined && chosen !== "") return chosen;
  const path = fileURLToPath(new URL("../../.antiphon/image.json", import.meta.url));
  try {
    return (JSON.parse(readFileSync(path, "utf8")) as { id: string }).id;
  } catch (error) {
    throw new Error(`no sandbox image (${path}): run "npm run setup"`, { cause: error });
  }
}

export const SMALL: ContainerLimits = {
  memoryBytes: 256 * MiB,
  cpus: 2,
  pids: 64,
  swapBytes: 0,
  workspaceBytes: 64 * MiB,
  workspaceInodes: 20_000,
  tmpBytes: 16 * MiB,
  tmpInodes: 2_000,
  runtime: "runc",
};

export interface TestEngine {
  readonly instance: string;
  readonly owner: string;
  readonly engine: Engine;
  readonly provider: DockerProvider;
  order(limits?: Partial<ContainerLimits>, image?: string): Promise<SandboxOrder>;
  containers(): Promise<ListedContainer[]>;
  /** Removes the layers of this instance. Sandboxes over them must be gone. */
  removeLayers(): Promise<void>;
  /** Fails, and cleans up, if a container of this instance outlives the deadline. */
  expectNoContainers(withinMs?: number): Promise<void>;
}

export function testEngine(area: string): TestEngine {
  const instance = `test-${area}-${process.pid}-${Math.random().toString(36).slice(2, 8)}`;
  const owner = ownLabel();
  const engine = dockerEngine();
  let serial = 0;
  const labels = () => containerLabels({ instance, node: "test", owner }, null, Date.now());
  const provider = new DockerProvider({
    engine,
    newName: () => `${instance}-${(serial += 1)}`,
    ownImage: sandboxImage(),
    layers: { instance, owner, slots: 8, order: () => ({ limits: SMALL, labels: labels() }) },
  });
  const containers = (): Promise<ListedContainer[]> => engine.list(instance);
  return {
    instance,
    owner,
    engine,
    provider,
    containers,
    order: async (limits = {}, reference = sandboxImage()) => {
      const image = await provider.image(reference);
      if (image === null) throw new Error(`image ${reference} is not on the engine: run "npm run setup"`);
      return { imageId: image.id, limits: { ...SMALL, ...limits }, labels: labels() };
    },
    removeLayers: async () => {
      for (const { name } of await engine.volumes(`antiphon-layer-${instance}-`))
        await engine.removeVolume(name);
    },
    expectNoContainers: async (withinMs = 5_000) => {
      const left = await until(containers, (found) => found.length === 0, withinMs);
      for (const one of left) await engine.remove(one.id);
      if (left.length > 0) throw new Error(`left behind: ${left.map((one) => one.name).join(", ")}`);
    },
  };
}

/** Repeats the question until the answer is good or the time is over; returns the last answer. */
export async function until<T>(
  ask: () => Promise<T>,
  good: (answer: T) => boolean,
  withinMs: number,
): Promise<T> {
  const endsAt = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (good(answer) || performance.now() > endsAt) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A shell command in the form of the sandbox port. */
export function shell(script: string, changes: Partial<Command> = {}): Command {
  return {
    argv: ["sh", "-c", script],
    cwd: "/workspace",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/tmp", LANG: "C.UTF-8" },
    stdin: null,
    timeoutMs: 20_000,
    keepBytes: 256 * 1024,
    maxOutputBytes: 64 * MiB,
    ...changes,
  };
}
