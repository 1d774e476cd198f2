/**
 * The mistakes of a newcomer, each with what was typed, what was seen, and the exit code, as one golden text:
 * newcomer.txt. Every mistake ends in one coded error with a remedy, without a stack.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ANTIPHON, run, type Ended } from "./support/program.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

/** Typed where a program that is no gateway answers at the address of the gateway. */
const WITHOUT_SERVICES: readonly string[] = [
  "rns",
  "list",
  "status run_abc",
  "evidence list",
  "run",
  'run ""',
  "run Fix --repo app --command true",
  "run Fix --repo file.txt --command true",
  "run Fix --repo https://me:password@git.example.com/app --command true",
  "run Fix --repo ssh://git.example.com/a/../b --command true",
  "run Fix --repo repo --time-budget ten --command true",
  "run Fix --repo repo --time-budget 5x --command true",
  "run Fix --repo repo --attempts many --command true",
  "run Fix --repo repo --patch missing.diff",
  "run Fix --repo repo --patch file.txt",
  "run Fix --repo repo --tasks file.txt",
  "run Fix --repo repo --plan missing.yaml",
  "run Fix --repo repo --nonsense",
  "run Fix --repo repo --comand true",
  "run Fix --repo repo --command",
  "run Fix --repo repo --env NAME --command true",
  "run Fix --repo repo --memory lots --command true",
  "run Fix --repo repo --command true",
  "run Fix --repo repo --patch place",
  "get",
  "get 4f0c2k9s",
  "get run_abc",
  "runs --since yesterday",
  "runs --limit none",
  "runs --status done",
  "logs",
  "logs T-001",
  "wait",
  "changes run_abc",
  "answer run_abc",
  "answer run_abc --approve --reject",
  "evidence export run_abc",
  "prune --repo good --older-than soon",
  "prune --repo place",
  "explain ANT_NOPE",
  "explain Intnt",
  "validate missing.yaml",
  "validate file.txt",
  "validate file.txt --schema Nope",
  "agents show nobody",
  "agents add place",
  "dev --port abc",
  "dev --associates 0",
  "dev --status --stop",
  "dev --sandbox nothing",
  "dev --metrics-port x",
  "dev --state-dir file.txt --port 0 --nats-port 0",
  "serve --role janitor",
  "serve",
  "doctor --rebuild",
  "check --repo repo --time-budget soon",
  "check --repo place",
  "check --repo app",
  "check --repo file.txt",
  "init --repo app",
  "prune --repo app",
  "check --repo good --time-budget soon",
  "init --repo place",
  "init --repo declared",
  "check --repo unknown-key",
  "check --repo wrong-type",
  "check --repo tab",
  "completion tcsh",
  "decode --nonsense",
];

/** Typed with services that run. {succeeded}, {failed} and {waiting} are the ids of such runs. */
const WITH_SERVICES: readonly string[] = [
  "get run_abc",
  "logs run_abc",
  "diff {failed}",
  "diff {succeeded} T-009",
  "findings {succeeded}",
  "evidence get {succeeded} T-009",
  "evidence get {succeeded} T-001 1 nothing.txt",
  "cancel {succeeded}",
  "pause {succeeded}",
  "retry {succeeded}",
  "answer {succeeded} yes",
  "approve {succeeded}",
  "approve {waiting}",
  "replay {failed} --attempt T-001:7",
  "run Fix --repo good --plan {succeeded} --command true",
  "run Fix --repo repo --command true",
  "run Fix --repo place --command true",
  "run Fix --repo file.txt --command true",
  "run Fix --repo dirty --command true",
  "run Fix --repo good --base nope --command true",
  "run Fix --repo good --land nope --command true --check true",
  "run Fix --repo good --agent nobody",
  "run Fix --repo good",
  "run Fix --repo good --workflow FIX --command true",
  "run Fix --repo good --require-approval 5 --command true --check true",
  "run Fix --repo good --egress all --command true",
  "run Fix --repo good --image ubuntu:99 --command true --check true",
  "run Fix --repo good --attempts 999 --command true",
  'run Fix --repo good --command "touch new" --end-without-check',
  'run Fix --repo good --attempts 1 --command "touch new" --check no-such-program',
  'run Fix --repo good --attempts 1 --command "touch new" --check ./check.sh',
  'run Fix --repo good --attempts 1 --command "touch new" --check "python3 -m pytest"',
  'run Fix --repo good --workflow REVIEW --command "touch new" --check true',
  "run Fix --repo good --attempts 1 --command no-such-program --check true",
  "run Fix --repo unknown-key --command true",
  "run Fix --repo wrong-type --command true",
  "run Fix --repo tab --command true",
  "check --repo good -- no-such-program",
  "check --repo good -- ./check.sh",
  "check --repo good -- python3 -m pytest",
  "check --repo good",
  "check --repo good --image ubuntu:99 -- true",
  "images allow nope:1",
  "dlq show nope",
  "dlq requeue nope",
];

const ANN = "ann-s-own-s3cret";
const BOB = "bob-s-own-s3cret";

let dir: string;
let deaf: ReturnType<typeof createServer>;
let port: number;
let stack: Stack;
/** What is in the directory before any mistake. */
let before: string[];
const ids: Record<string, string> = {};

/** A repository at a short relative path. */
function repository(name: string, files: Record<string, string>): void {
  const path = join(dir, name);
  execFileSync("git", ["init", "--quiet", "--initial-branch=main", path]);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
  const git = ["-C", path, "-c", "user.name=Test", "-c", "user.email=test@localhost"];
  execFileSync("git", [...git, "add", "--all"]);
  execFileSync("git", [...git, "commit", "--quiet", "--message", "Begin"]);
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "antiphon-newcomer-"));
  writeFileSync(join(dir, "file.txt"), "not what was meant\n");
  mkdirSync(join(dir, "place"));
  execFileSync("git", ["init", "--quiet", join(dir, "repo")]);
  repository("good", { "check.sh": "true\n" });
  repository("dirty", { "a.txt": "a\n" });
  writeFileSync(join(dir, "dirty/a.txt"), "b\n");
  repository("declared", { "antiphon.yaml": 'checks: ["true"]\n' });
  repository("unknown-key", { "antiphon.yaml": 'cheks: ["true"]\n' });
  repository("wrong-type", { "antiphon.yaml": "checks: true\n" });
  repository("tab", { "antiphon.yaml": "checks:\n\t- true\n" });
  // A program that answers nothing, on a port of our own.
  deaf = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => deaf.listen(0, "127.0.0.1", resolve));
  ({ port } = deaf.address() as AddressInfo);
  stack = await startQuickStack({
    env: { ANTIPHON_TOKEN: "deployment-s3cret", ANTIPHON_TOKENS: `ann:${ANN},bob:${BOB}` },
  });
  before = places();
  ids.succeeded = await ended("--check", "test -f new", "--command", "touch new");
  ids.failed = await ended("--attempts", "1", "--check", "true", "--command", "false");
  ids.waiting = await ended("--check", "test -f new", "--command", "touch new", "--require-approval");
});
afterAll(async () => {
  await new Promise((resolve) => deaf.close(resolve));
  await stack.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** Every file of the directory, and every branch of its repositories that is no run's. */
function places(): string[] {
  const files = readdirSync(dir, { recursive: true }).map(String);
  const repositories = files.filter((file) => file.endsWith("/.git")).map((file) => join(dir, file));
  const branches = repositories.flatMap((at) =>
    execFileSync("git", ["--git-dir", at, "for-each-ref", "--format=%(refname) %(objectname)"])
      .toString()
      .split("\n")
      .filter((line) => line !== "" && !line.includes("/antiphon/"))
      .map((line) => `${at} ${line}`),
  );
  return [
    ...files.filter((file) => !/\/\.git(\/|$)/.test(file) && !file.startsWith("state")),
    ...branches,
  ].sort();
}

/** The id of a run that has ended or waits. */
async function ended(...options: string[]): Promise<string> {
  const words = ["run", "Fix", "--repo", join(dir, "good"), ...options];
  const { document } = await stack.json<{ runId?: string }>(words, { env: { ANTIPHON_TOKEN: ANN } });
  if (document.runId === undefined) throw new Error(JSON.stringify(document));
  return document.runId;
}

const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => {
    return quoted ?? word.replace(/^\{(\w+)\}$/, (_, name: string) => ids[name] ?? "");
  });

const typed = (line: string, env: Record<string, string>): Promise<Ended> =>
  run(process.execPath, [ANTIPHON, ...wordsOf(line)], {
    cwd: dir,
    env: { ANTIPHON_STATE_DIR: join(dir, "state"), ...env },
  });

const deafPort = (): Record<string, string> => ({ ANTIPHON_GATEWAY_URL: `http://127.0.0.1:${port}` });
const services = (more: Record<string, string> = {}): Record<string, string> => {
  return { ANTIPHON_GATEWAY_URL: stack.ready.gateway, ANTIPHON_TOKEN: ANN, ...more };
};

/** The text without what differs from one time to the next. */
function lasting(text: string): string {
  const named = Object.entries(ids).reduce((all, [name, id]) => all.replaceAll(id, `<${name}>`), text);
  return named
    .replaceAll(/^.* sandbox started in .*\n/gm, "") // Told only of a start that takes a while.
    .replaceAll(/^.* taken by associate_.*\n/gm, "") // Told only if it is heard before the record of the claim.
    .replaceAll(/^in the clean room \(.*\n/gm, "") // Told only after 2 s of silence.
    .replaceAll(dir, "<dir>")
    .replaceAll(stack.ready.gateway, "<gateway>")
    .replaceAll(String(port), "<port>")
    .replaceAll(/\brun_[a-z0-9]{16,}/g, "<run>")
    .replaceAll(/\b[0-9a-f]{40}\b|\b[0-9a-f]{10}\b/g, "<commit>")
    .replaceAll(/sha256-[\w-]+/g, "<digest>")
    .replaceAll(/ *\d+(\.\d+)? m?s\b/g, " <time>")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<when>")
    .replaceAll(/\d+ of \d+ trials/g, "<trials>")
    .replaceAll(/(claimed by|director) [\w-]+/g, "$1 <name>")
    .trimEnd();
}

/** Each mistake by its place in the table. */
const seen = new Map<string, string>();

function examine(title: string, line: string, { code, stdout, stderr }: Ended): void {
  expect([1, 2, 3, 4], stdout).toContain(code);
  expect(stderr.match(/^error ANT_[A-Z_]+: /gm), stdout + stderr).toHaveLength(1);
  expect(stderr).toMatch(/^remedy: \S/m);
  expect(`${stdout}${stderr}`).not.toMatch(/^\s+at .*[:(]\d+/m);
  expect(`${stdout}${stderr}`).not.toContain("me:password");
  seen.set(`${title} ${line}`, `$ antiphon ${line}\n${lasting(`${stdout}${stderr}`)}\nexit ${code}\n`);
}

describe("what a newcomer gets wrong ends with one coded error, a remedy and no stack", () => {
  test.concurrent.each(WITHOUT_SERVICES)("`antiphon %s`, without a gateway", async (line) => {
    examine("without services", line, await typed(line, deafPort()));
  });

  test.concurrent.each(WITH_SERVICES)("`antiphon %s`", async (line) => {
    examine("with services", line, await typed(line, services()));
  });

  test("a wrong token, and none", async () => {
    examine("wrong token", "runs", await typed("runs", services({ ANTIPHON_TOKEN: "guess" })));
    examine("no token", "runs", await typed("runs", services({ ANTIPHON_TOKEN: "" })));
  });

  test("an address where nothing listens, one that is no address, and a server that is no gateway", async () => {
    examine("nobody", "runs", await typed("runs", { ANTIPHON_GATEWAY_URL: "http://127.0.0.1:9" }));
    examine("no address", "runs", await typed("runs", { ANTIPHON_GATEWAY_URL: "localhost:3001" }));
  });

  test("NATS that does not answer", async () => {
    const nats = stack.pid("nats-server");
    process.kill(nats, "SIGSTOP");
    try {
      examine("NATS is down", "get run_abc", await typed("get run_abc", services()));
      const line = "run Fix --repo good --command true";
      examine("NATS is down", line, await typed(line, services()));
    } finally {
      process.kill(nats, "SIGCONT");
    }
  });

  test("a refused command starts no run and changes no file and no branch", async () => {
    const begun = [...seen.values()].filter((text) => /^<run> /m.test(text)).length;
    const { document } = await stack.json<{ runs: unknown[] }>(["runs", "--limit", "1000"], {
      env: { ANTIPHON_TOKEN: ANN },
    });
    expect(document.runs).toHaveLength(Object.keys(ids).length + begun);
    expect(begun).toBe(6);
    expect(places()).toEqual(before);
  });

  test("is answered as in the table", async () => {
    const table = [
      ...WITHOUT_SERVICES.map((line) => `without services ${line}`),
      ...WITH_SERVICES.map((line) => `with services ${line}`),
    ];
    const others = [...seen.keys()].filter((key) => !table.includes(key));
    const text = [...table, ...others].map((key) => seen.get(key) ?? `${key}: not tried\n`).join("\n");
    await expect(text).toMatchFileSnapshot("newcomer.txt");
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
        expect(stderr).toContain(`error ANT_STATE_DISK_FULL: ${disk}`);
        expect(stderr).toContain("df -h");
        expect(stderr).not.toMatch(/^\s+at .*[:(]\d+/m);
        expect(code).toBe(1);
        execFileSync("flock", ["-n", join(disk, "lock"), "true"]); // The file stays, and is free.
        const behind = await run(process.execPath, [ANTIPHON, ...args, "--background"], { cwd: dir });
        expect([behind.code, behind.stderr]).toEqual([
          1,
          expect.stringContaining(`error ANT_STATE_DISK_FULL: ${disk}`),
        ]);
      } finally {
        execFileSync("umount", [disk]);
      }
    },
  );
});
