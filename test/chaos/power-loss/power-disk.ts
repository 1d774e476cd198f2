/**
 * A file system whose power can be cut: what no fsync covered is then gone (disk/, a program of its own). Needs root
 * and /dev/fuse; where one is missing it says so and fails.
 *
 * Lifecycle: mounted -> (cut -> mounted again)* -> removed. It goes with its owner: the program ends with its input.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface PowerDiskOptions {
  /** What an fsync covers besides its own file: all names and sizes, as ext4 does, or none. Default: ordered. */
  readonly ordering?: "ordered" | "strict";
  readonly mebibytes?: number;
}

export interface PowerCut {
  /** Processes that die with the power, and all they started. */
  readonly kill?: readonly number[];
  /** What got to the disk by itself before; null: nothing of what no fsync covered. */
  readonly seed?: number | null;
}

export interface Loss {
  /** Names, sizes and modes. */
  readonly changes: number;
  readonly writes: number;
  readonly bytes: number;
  /** Bytes that no fsync covered and that are there all the same. */
  readonly kept: number;
}

export interface PowerDisk {
  readonly path: string;
  /** Comes back when the disk is mounted again. Whoever has a file open from before holds a dead one. */
  cut(how?: PowerCut): Promise<Loss>;
  /** All that was written until now is safe. */
  sync(): Promise<void>;
  remove(): Promise<void>;
}

interface Answer {
  readonly error?: string;
  readonly lost?: Loss;
}

const DEFAULT_MIB = 512;

export async function mountPowerDisk({
  ordering = "ordered",
  mebibytes = DEFAULT_MIB,
}: PowerDiskOptions = {}): Promise<PowerDisk> {
  const path = mkdtempSync(join(tmpdir(), "antiphon-power-"));
  const capacity = String(mebibytes * 1024 * 1024);
  const program = await powerDiskProgram();
  const child = spawn(program, ["-ordering", ordering, "-capacity", capacity, path], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ask = conversation(child);
  await ask(null);
  return {
    path,
    async cut({ kill = [], seed = null } = {}) {
      const { lost } = await ask({ do: "cut", seed, kill });
      if (lost === undefined) throw new Error("the power cut did not say what it took");
      return lost;
    },
    async sync() {
      await ask({ do: "sync" });
    },
    async remove() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.stdin?.end();
      await ended;
      rmdirSync(path);
    },
  };
}

/** One line out, one line back; the first answer comes unasked, when it is mounted. */
function conversation(child: ChildProcess): (command: object | null) => Promise<Answer> {
  let said = "";
  child.stderr?.on("data", (data: Buffer) => (said = (said + data.toString()).slice(-2_000)));
  const waiting: ((line: string | null) => void)[] = [];
  if (child.stdout === null) throw new Error("power-disk has no output");
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()?.(line));
  const gone = (): void => waiting.splice(0).forEach((settle) => settle(null));
  child.once("error", gone);
  child.once("close", gone);
  return async (command) => {
    const line = await new Promise<string | null>((settle) => {
      waiting.push(settle);
      if (command !== null) child.stdin?.write(`${JSON.stringify(command)}\n`);
    });
    if (line === null) throw new Error(`power-disk unavailable: ${said.trim() || "it ended"}`);
    const answer = JSON.parse(line) as Answer;
    if (answer.error !== undefined) throw new Error(`power-disk: ${answer.error}`);
    return answer;
  };
}

async function powerDiskProgram(): Promise<string> {
  const setup = fileURLToPath(new URL("../../../setup/power-disk.mjs", import.meta.url));
  const { ensurePowerDisk } = (await import(setup)) as {
    ensurePowerDisk: (context: { note: (text: string) => void }) => Promise<{ program: string }>;
  };
  try {
    return (await ensurePowerDisk({ note: () => undefined })).program;
  } catch (error) {
    throw new Error(`power-disk unavailable: ${(error as Error).message}`, { cause: error });
  }
}
