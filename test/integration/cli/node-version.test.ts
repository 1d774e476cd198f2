/** `antiphon` that is called by its path is started by the Node of the machine, which may be older than the one it needs. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ROOT, run, type Ended } from "../../e2e/support/program.ts";

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "antiphon-node-"));
  cpSync(join(ROOT, "bin"), join(place, "bin"), { recursive: true });
  mkdirSync(join(place, "dist"));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

/** The program as its bundle: the module is what `antiphon` loads. */
function bundle(source: string): void {
  writeFileSync(join(place, "dist/cli.js"), source);
}

function bringNode(): void {
  mkdirSync(join(place, "node_modules/.bin"), { recursive: true });
  symlinkSync(process.execPath, join(place, "node_modules/.bin/node"));
}

/** The options with which a Node says that it is version 20.19. */
function older(): string[] {
  const preload = join(place, "older.mjs");
  const versions = `{ ...process.versions, node: "20.19.0" }`;
  writeFileSync(preload, `Object.defineProperty(process, "versions", { value: ${versions} });`);
  return ["--import", preload, join(place, "bin/antiphon.mjs")];
}

const antiphon = (...args: string[]): Promise<Ended> => run(process.execPath, [...older(), ...args]);

test("without a newer Node it ends with a code and a remedy, before it loads its bundle", async () => {
  bundle("throw new Error('loaded')");
  const { code, stdout, stderr } = await antiphon("version", "--json");
  expect(code).toBe(2);
  expect(stderr).toContain(
    "error ANT_NODE_TOO_OLD: Node 20.19.0 is too old\nremedy: install Node 24 or newer",
  );
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "ANT_NODE_TOO_OLD" } });
});

test("with the Node that a checkout brings it runs there, with its arguments, its input and its exit code", async () => {
  bringNode();
  bundle(`export async function main({ argv }) {
    process.stdin.on("data", (text) => process.stdout.write(process.versions.node + " " + argv + " " + text));
    process.stdin.on("end", () => process.exit(7));
  }`);
  const child = spawn(process.execPath, [...older(), "run", "a b"], { stdio: ["pipe", "pipe", "inherit"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stdin.end("hello");
  const [code] = (await once(child, "close")) as [number];
  expect([code, said]).toEqual([7, `${process.versions.node} run,a b hello`]);
});

test("a signal to it reaches the command, whose end it takes", async () => {
  bringNode();
  bundle(`export async function main() {
    process.on("SIGTERM", () => { console.log("cleaned up"); process.exit(3); });
    setInterval(() => undefined, 1000);
    console.log("ready");
  }`);
  const child = spawn(process.execPath, [...older(), "dev"], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (text === "ready\n") child.kill("SIGTERM");
  });
  const [code] = (await once(child, "close")) as [number];
  expect([code, said]).toEqual([3, "ready\ncleaned up\n"]);
});
