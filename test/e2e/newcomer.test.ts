/**
 * The mistakes of a newcomer, each with what was typed, what was seen, and the exit code, as one golden text:
 * newcomer.txt. Every mistake ends in one coded error with a remedy, without a stack.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ANTIPHON, run, type Ended } from "./support/program.ts";

const MISTAKES: readonly string[] = [
  "rns",
  "run",
  "run Fix --repo app --command true",
  "run Fix --repo file.txt --command true",
  "run Fix --repo https://me:password@git.example.com/app --command true",
  "run Fix --repo ssh://git.example.com/a/../b --command true",
  "run Fix --repo repo --time-budget ten --command true",
  "run Fix --repo repo --attempts many --command true",
  "run Fix --repo repo --patch missing.diff",
  "run Fix --repo repo --patch file.txt",
  "run Fix --repo repo --tasks file.txt",
  "run Fix --repo repo --nonsense",
  "run Fix --repo repo --command true",
  "get",
  "get run_abc",
  "runs --since yesterday",
  "runs --limit none",
  "logs",
  "wait",
  "explain ANT_NOPE",
  "validate missing.yaml",
  "dev --port abc",
  "dev --associates 0",
  "dev --status --stop",
  "dev --sandbox nothing",
  "dev --metrics-port x",
  "dev --state-dir file.txt --port 0 --nats-port 0",
  "check --repo repo --time-budget soon",
  "completion tcsh",
  "decode --nonsense",
];

let dir: string;
let deaf: ReturnType<typeof createServer>;
let port: number;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "antiphon-newcomer-"));
  writeFileSync(join(dir, "file.txt"), "not what was meant\n");
  execFileSync("git", ["init", "--quiet", join(dir, "repo")]);
  // A program that answers nothing, on a port of our own.
  deaf = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => deaf.listen(0, "127.0.0.1", resolve));
  ({ port } = deaf.address() as AddressInfo);
});
afterAll(async () => {
  await new Promise((resolve) => deaf.close(resolve));
  rmSync(dir, { recursive: true, force: true });
});

const typed = (line: string): Promise<Ended> =>
  run(process.execPath, [ANTIPHON, ...line.split(" ")], {
    cwd: dir,
    env: { ANTIPHON_GATEWAY_URL: `http://127.0.0.1:${port}`, ANTIPHON_STATE_DIR: join(dir, "state") },
  });

const plain = (text: string): string =>
  text.replaceAll(dir, "<dir>").replaceAll(String(port), "<port>").trimEnd();

describe("what a newcomer gets wrong", () => {
  const ends = new Map<string, Ended>();

  test.each(MISTAKES)("`antiphon %s` ends with one coded error, a remedy and no stack", async (line) => {
    const ended = await typed(line);
    ends.set(line, ended);
    const { code, stderr, stdout } = ended;
    expect([1, 2, 4], stdout).toContain(code);
    expect(stderr.match(/^error ANT_[A-Z_]+: /gm), stderr).toHaveLength(1);
    expect(stderr).toMatch(/^remedy: \S/m);
    expect(`${stdout}${stderr}`).not.toMatch(/^\s+at .*[:(]\d+/m);
    expect(`${stdout}${stderr}`).not.toContain("me:password");
  });

  test("is answered as in the table", async () => {
    const rows = [...ends].map(([line, { code, stdout, stderr }]) => {
      return `$ antiphon ${line}\n${plain(`${stdout}${stderr}`)}\nexit ${code}\n`;
    });
    await expect(rows.join("\n")).toMatchFileSnapshot("newcomer.txt");
  });
});

describe("antiphon dev on a full disk", () => {
  test.each(["4k", "64k"])(
    "of %s ends with the code of a full disk, and unlocks the directory",
    async (size) => {
      const disk = join(dir, `disk-${size}`);
      mkdirSync(disk);
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", disk]);
      try {
        const args = ["dev", "--port", "0", "--nats-port", "0", "--state-dir", disk];
        const { code, stderr } = await run(process.execPath, [ANTIPHON, ...args], { cwd: dir });
        expect(stderr).toContain("error ANT_STATE_DISK_FULL: ");
        expect(stderr).toContain("df -h");
        expect(stderr).not.toMatch(/^\s+at .*[:(]\d+/m);
        expect(code).toBe(1);
        execFileSync("flock", ["-n", join(disk, "lock"), "true"]); // The file stays, and is free.
      } finally {
        execFileSync("umount", [disk]);
      }
    },
  );
});
