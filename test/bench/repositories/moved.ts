/**
 * A branch that moves by one file before each run, on a repository of many files, in turn with runs on a base that was there
 * before: from intent to the agent's first command, and to the landing. The repository is packed, as a clone is.
 */
import { execFileSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { startStack, type Stack } from "../../e2e/support/stack.ts";
import { pooled } from "../gate-world.ts";
import { landedRun, type SeenRecord } from "../landed-run.ts";
import { CHECK, FIX, generate, type Size } from "./generated.ts";

export interface MovedRun {
  /** Seconds since the intent. */
  readonly dispatched: number;
  readonly command: number;
  readonly landed: number;
  /** Bytes that the store of base trees grew by. */
  readonly stored: number;
}

const ROUNDS = 4;

export async function movedBases(size: Size): Promise<{ moved: MovedRun[]; same: MovedRun[] }> {
  const instance = `bench-moved-${process.pid}`;
  const repository = generate(size);
  const git = (...args: string[]): string =>
    execFileSync(
      "git",
      ["-C", repository.path, "-c", "user.name=Bench", "-c", "user.email=b@localhost", ...args],
      {
        encoding: "utf8",
      },
    );
  git("config", "gc.auto", "0");
  git("repack", "-a", "-d", "--quiet");
  const stack = await startStack({ env: { ANTIPHON_INSTANCE: instance } });
  const moved: MovedRun[] = [];
  const same: MovedRun[] = [];
  try {
    for (let round = -1; round < ROUNDS; round += 1) {
      appendFileSync(join(repository.path, "src/part0/file0.js"), `// ${round}\n`);
      git("commit", "--quiet", "--all", "--message", `Move ${round}`);
      for (const runs of [moved, same]) {
        await pooled(instance);
        const run = await oneRun(stack, repository.path, round);
        if (round >= 0) runs.push(run); // The first ones fill the caches that a used installation has.
      }
    }
  } finally {
    await stack.stop();
    repository.remove();
  }
  return { moved, same };
}

async function oneRun(stack: Stack, repo: string, round: number): Promise<MovedRun> {
  const commands = ["date +%s%3N > started.txt", `${FIX} && echo // ${round} >> app.js`];
  const before = storedBytes(stack);
  const begun = Date.now();
  const { seconds, records } = await landedRun(stack, {
    repo,
    agent: { kind: "scripted", commands },
    checks: [CHECK],
  });
  const commit = String(records.findLast(({ type }) => type === "landing")?.body["commit"]);
  const started = execFileSync("git", ["-C", repo, "show", `${commit}:started.txt`], { encoding: "utf8" });
  return {
    dispatched: (timeOf(records, "dispatch") - begun) / 1000,
    command: (Number(started) - begun) / 1000,
    landed: seconds,
    stored: storedBytes(stack) - before,
  };
}

function timeOf(records: readonly SeenRecord[], type: string): number {
  return Date.parse(records.find((record) => record.type === type)?.at ?? "");
}

function storedBytes({ stateDir }: Stack): number {
  const directory = join(stateDir, "nats");
  const found = execFileSync(
    "sh",
    ["-c", `find ${directory} -path '*OBJ_ANT_REPOS*' -name '*.blk' -printf '%s\\n'`],
    {
      encoding: "utf8",
    },
  );
  return found.split("\n").reduce((sum, line) => sum + Number(line), 0);
}
