/**
 * A repository of the largest size that is accepted: exactly limits.treeBytes in 65,536 files. Two runs land on it, and each
 * service says how much memory it took at most.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { limits } from "@antiphon/contracts";
import { dockerEngine } from "../../../services/sandbox-runner/src/providers/docker/docker-engine.ts";
import { startStack, type Stack } from "../../e2e/support/stack.ts";
import { largeRepo } from "../../support/large-repo.ts";
import { cleanUpRepos } from "../../support/repo.ts";
import { landedRun } from "../landed-run.ts";
import { CHECK, FIX } from "./generated.ts";

export interface LargeTree {
  readonly files: number;
  /** Seconds from intent to landed: the first run, and one more. */
  readonly seconds: readonly [first: number, second: number];
  /** The most that was resident, in MiB, without what a file in memory takes. */
  readonly peaks: ReadonlyMap<string, number>;
}

const MiB = 1024 * 1024;
const STATE = fileURLToPath(new URL("../../../.antiphon", import.meta.url));
const FILE_MIB = 1 / 16;
const SERVICES = ["gateway", "router", "director", "associate-1", "sandbox-runner", "nats-server"];

export async function largeTree(): Promise<LargeTree> {
  const repository = ofTheLargestSize();
  const instance = `bench-large-${process.pid}`;
  const stack = await startStack({ env: { ANTIPHON_INSTANCE: instance } });
  try {
    const first = await landed(stack, repository.path, 1);
    const second = await landed(stack, repository.path, 2);
    return { files: repository.files, seconds: [first, second], peaks: peaksOf(stack) };
  } finally {
    await stack.stop();
    await removeCopies(instance, repository.tree);
    cleanUpRepos();
  }
}

async function landed(stack: Stack, repo: string, round: number): Promise<number> {
  const agent = { kind: "scripted", commands: [`${FIX} && echo // ${round} >> app.js`] };
  const inputs = { repo, agent, checks: [CHECK] };
  return (await landedRun(stack, inputs)).seconds;
}

/** Bare, because the benchmark is about what services do with it. */
function ofTheLargestSize(): { readonly path: string; readonly tree: string; readonly files: number } {
  const files = {
    "app.js": "module.exports = (a, b) => a - b;\n",
    "test.js": 'if (require("./app.js")(2, 2) !== 4) throw new Error("2 + 2");\n',
  };
  const mib = limits.treeBytes / MiB - FILE_MIB;
  const rest = FILE_MIB * MiB - Object.values(files).join("").length;
  const repository = largeRepo({ mib, fileMiB: FILE_MIB, files: { ...files, rest: "x".repeat(rest) } });
  const tree = repository.git("rev-parse", "main^{tree}");
  repository.git("config", "core.bare", "true");
  return { path: `${repository.path}/.git`, tree, files: mib / FILE_MIB + 3 };
}

/** A deployment keeps its layers, and a checkout the trees of its services. */
async function removeCopies(instance: string, tree: string): Promise<void> {
  const names = [
    `trees/tree-${tree}.tar`,
    `trees/tree-${tree}.tar.index.json`,
    `cache/associate-trees/${tree}.git`,
  ];
  for (const name of names) rmSync(join(STATE, name), { recursive: true, force: true });
  const engine = dockerEngine();
  for (const { name } of await engine.volumes(`antiphon-layer-${instance}-`)) await engine.removeVolume(name);
}

function peaksOf(stack: Stack): Map<string, number> {
  return new Map(
    SERVICES.map((name) => {
      const status = readFileSync(`/proc/${stack.pid(name)}/status`, "utf8");
      return [name, Math.round(Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024)];
    }),
  );
}
