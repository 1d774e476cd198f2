import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { INBOX_TEXT } from "./inbox.ts";

let folder: string;
let program: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "antiphon-inbox-"));
  program = join(folder, "inbox.sh");
  writeFileSync(program, INBOX_TEXT.replaceAll("/tmp/", `${folder}/`));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const lock = (): string => join(folder, ".antiphon-reading");
const put = (number: number, text: string): void =>
  writeFileSync(join(folder, `.antiphon-message.${number}`), `0\n${text}`);
const look = () => spawnSync("sh", [program], { encoding: "utf8" });

test("antiphon-inbox prints each message once, and exits with 1 when there is none", () => {
  put(1, "keep the name");
  expect(look()).toMatchObject({ status: 0, stdout: "keep the name" });
  expect(look()).toMatchObject({ status: 1, stdout: "" });
  expect(existsSync(lock())).toBe(false);
});

test("antiphon-inbox reads on after a reader that was killed", async () => {
  const killed = spawn("sh", [program, "--wait"]);
  const gone = new Promise((over) => killed.once("exit", over));
  const reader = (): string | null => {
    try {
      return readlinkSync(lock());
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    }
  };
  await expect.poll(reader).toBe(String(killed.pid));
  killed.kill("SIGKILL");
  await gone;
  put(1, "keep the name");
  expect(look()).toMatchObject({ status: 0, stdout: "keep the name" });
  expect(existsSync(lock())).toBe(false);
});
