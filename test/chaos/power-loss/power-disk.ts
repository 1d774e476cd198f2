/**
 * A file system whose power can be cut, which loses all unsynced data, and whose operations can be made to fail (disk/ is
 * its program). It needs root and /dev/fuse, and fails with a message without them.
 *
 * Lifecycle: mounted -> (cut -> mounted again)* -> removed. The program ends with its input, and so with its owner.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface PowerDiskOptions {
  /** Whether an fsync also covers all names and sizes, as ext4 does. Default: ordered. */
  readonly ordering?: "ordered" | "strict";
  readonly mebibytes?: number;
}

export interface PowerCut {
  /** Processes that die with the power, with their children. */
  readonly kill?: readonly number[];
  /** The seed for the unsynced data that reached the disk; null: none. */
  readonly seed?: number | null;
}

/** How the disk's operations fail. */
export interface DiskFault {
  readonly with: "EDQUOT" | "EIO" | "ENOSPC" | "EROFS";
  /** Also operations that change nothing. Default: false. */
  readonly reads?: boolean;
  /** Operations that still succeed. Default: 0. */
  readonly after?: number;
}

export interface Loss {
  /** Names, sizes and modes. */
  readonly changes: number;
  readonly writes: number;
  readonly bytes: number;
  /** Unsynced bytes that survived. */
  readonly kept: number;
}

export interface PowerDisk {
  readonly path: string;
  /** Resolves when the disk is mounted again. Files that were open before are dead. */
  cut(how?: PowerCut): Promise<Loss>;
  /** Makes all data written so far durable. */
  sync(): Promise<void>;
  /** From now on operations fail; null: no longer. */
  fail(fault: DiskFault | null): Promise<void>;
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
    async fail(fault) {
      await ask({ do: "fail", ...(fault ?? { with: "" }) });
    },
    async remove() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.stdin?.end();
      await ended;
      rmdirSync(path);
    },
  };
}

/** Each line sent gets one line back; the first line comes without a request, when it is mounted. */
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
