import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Inbox, INBOX_TEXT } from "./inbox.ts";

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

test("a message is acknowledged when the supervisor says that it is there, and told again until then", () => {
  const given: number[] = [];
  const acknowledged: unknown[] = [];
  const tell = ({ number }: { number: number }): boolean => given.push(number) > 0;
  const inbox = new Inbox({ sandbox: { tell }, emit: (event) => acknowledged.push(event), first: [] });
  const message = { number: 1, look: 0, text: "keep the name" };
  inbox.open();
  inbox.tell(message);
  inbox.tell(message);
  expect([given, acknowledged]).toEqual([[1, 1], []]);
  expect(inbox.read({ number: 1, look: 0 })).toBe(false);
  expect(acknowledged).toEqual([{ kind: "told", number: 1 }]);
  expect(inbox.read({ number: 1, look: 3 })).toBe(true);
  expect(inbox.heard).toEqual([{ number: 1, look: 3 }]);
});

test("the supervisor says that a message is there only if all of it was written", () => {
  const source = readFileSync(new URL("../supervisor/sealed/inbox.pl", import.meta.url), "utf8");
  const prelude =
    "my ($O_WRONLY, $O_CREAT, $O_EXCL, $O_NOFOLLOW, $O_NONBLOCK) = (1, 0x40, 0x80, 0x20000, 0x800);" +
    "$SIG{XFSZ} = 'IGNORE'; sub send_frame { print \"@_\\n\" }";
  const script = `${prelude}\n${source.replaceAll("/tmp/", `${folder}/`)}\ntake_message("1 0\\n" . 'x' x 4000); take_message("2 0\\nshort"); carry_heard();`;
  const perl = join(folder, "inbox.pl");
  writeFileSync(perl, script);
  const { stdout, stderr } = spawnSync("sh", ["-c", `ulimit -f 1; perl ${perl}`], { encoding: "utf8" });
  expect([stdout, stderr]).toEqual(["b 2 0\n", ""]);
  expect(readdirSync(folder).filter((name) => name.includes("message"))).toEqual([".antiphon-message.2"]);
});
