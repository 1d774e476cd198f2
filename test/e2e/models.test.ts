/** Model hosts as an operator sees, adds and tries them, while `antiphon dev` runs. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ModelsReply } from "@antiphon/contracts";
import { startQuickStack, type Stack } from "./support/stack.ts";

type Models = Extract<ModelsReply, { ok: true }>;

const KEY = "the-key-of-the-team";
const HOST = "models.test";
let stack: Stack;
let server: Server;
let base: string;
const heard: (string | undefined)[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    heard.push(request.headers.authorization);
    const known = request.url === "/v1/models";
    response.writeHead(known ? 200 : 404, { "content-type": "application/json" });
    response.end(known ? '{"data":[{"id":"small"},{"id":"large"}]}' : "{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  stack = await startQuickStack({ env: { TEAM_KEY: KEY, OPENAI_API_KEY: "", ANTHROPIC_API_KEY: KEY } });
});
afterAll(async () => {
  await stack.stop();
  await new Promise((resolve) => server.close(resolve));
});

const configuration = (): string => readFileSync(join(stack.stateDir, "egress.json"), "utf8");
const hostOf = (models: Models, name: string): Models["hosts"][number] | undefined =>
  models.hosts.find(({ host }) => host === name);

test("what ships is listed with its prices, and with the variable of a key that is missing", async () => {
  const { document } = await stack.json<Models>(["models", "list"]);
  expect(hostOf(document, "api.anthropic.com")).toMatchObject({ origin: "shipped", key: "set" });
  expect(hostOf(document, "api.openai.com")).toMatchObject({
    ...{ key: "missing", reason: "OPENAI_API_KEY is not set" },
  });
  expect(JSON.stringify(document)).not.toContain(KEY);
  const { stdout } = await stack.antiphon(["models", "list", "api.anthropic.com"]);
  expect(stdout).toMatch(/claude-opus-5-5\* +\$4 in +\$20 out/);
});

test("a server of one's own is added while everything runs, tried, and removed", async () => {
  const added = await stack.antiphon(["models", "add", HOST, "--base-url", base, "--price", "small=0/0"]);
  expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining(`calls go to ${base}`) as string });
  const tried = await stack.antiphon(["models", "test", HOST]);
  expect(tried.code).toBe(0);
  expect(tried.stdout).toContain("works: offers 2 models, of which 1 have a price here");
  const removed = await stack.json<Models>(["models", "remove", HOST]);
  expect(hostOf(removed.document, HOST)).toBeUndefined();
  const gone = await stack.antiphon(["models", "test", HOST]);
  expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining("ANT_EGRESS_HOST") as string });
});

test("a host does not work without its key, and says which variable holds it", async () => {
  const missing = await stack.antiphon(["models", "test", "api.openai.com"]);
  expect(missing).toMatchObject({ code: 1 });
  expect(missing.stdout).toContain("does not work: no key: OPENAI_API_KEY is not set");
});

test("a mistake on the command line changes nothing", async () => {
  const before = configuration();
  for (const [words, why] of [
    [["--price", "small"], "model=input/output"],
    [["--price", "small=1/2", "--base-url", "ftp://a/v1"], "base_url"],
    [["--price", "small=1/2", "--shape", "soap"], "shape"],
    [["--price", "small=1/2", "--max-output", "0"], "--max-output"],
  ] as const) {
    const { code, stderr } = await stack.antiphon(["models", "add", HOST, ...words]);
    expect({ code, names: stderr.includes(why) }, stderr).toEqual({ code: 2, names: true });
  }
  const unfit = await stack.antiphon([
    "models",
    "add",
    "models.local",
    "--base-url",
    base,
    "--price",
    "*=0/0",
  ]);
  expect(unfit.stderr).toMatch(/error ANT_CONFIG_INVALID: models\.local would not be used: .*local network/);
  expect([unfit.code, unfit.stdout]).toEqual([2, ""]);
  expect(configuration()).toBe(before);
});

test("a mistake in the file leaves out its own entry; a file that is no JSON leaves everything as it was", async () => {
  const good = {
    host: HOST,
    shape: "openai",
    base_url: base,
    prices: { small: { input: 1, output: 1, max_output: 9 } },
  };
  const file = join(stack.stateDir, "egress.json");
  writeFileSync(file, JSON.stringify({ models: [{ ...good, host: "bad.local", shape: "soap" }, good] }));
  const mixed = await stack.json<Models>(["models", "list"]);
  expect(hostOf(mixed.document, HOST)).toMatchObject({ origin: "configuration" });
  expect(mixed.document.unusable).toMatchObject([{ entry: "models/bad.local" }]);
  writeFileSync(file, "{");
  const broken = await stack.json<Models>(["models", "list"]);
  expect(hostOf(broken.document, HOST)).toMatchObject({ origin: "configuration" });
  writeFileSync(file, "{}\n");
  const empty = await stack.json<Models>(["models", "list"]);
  expect(hostOf(empty.document, HOST)).toBeUndefined();
});

test("a file that is no JSON does not keep `antiphon dev` from its start: it is named with its line until it is mended", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "antiphon-broken-"));
  const file = join(stateDir, "egress.json");
  writeFileSync(file, '{\n "models": [\n}\n');
  const broken = await startQuickStack({ stateDir, env: { ANTHROPIC_API_KEY: KEY } });
  try {
    const said = broken.events.filter(({ event, name }) => event === "child_log" && name === "egress");
    expect(said.map(({ line }) => line).join("\n")).toContain(`${file}:3 is not JSON`);
    const { document } = await broken.json<Models>(["models", "list"]);
    expect(document.unusable).toMatchObject([{ entry: "all of it" }]);
    expect(hostOf(document, "api.anthropic.com")).toMatchObject({ key: "missing" }); // Never open by mistake.
    const tried = await broken.antiphon(["models", "test", HOST]);
    expect(tried).toMatchObject({ code: 1, stderr: expect.stringContaining(`${file}:3`) as string });
    const doctor = await broken.antiphon(["doctor"], { env: { ANTIPHON_EGRESS_CONFIG: file } });
    expect(doctor.stdout).toContain(`${file}:3 is not JSON`);
    writeFileSync(file, "{}\n");
    const mended = await broken.json<Models>(["models", "list"]);
    expect(mended.document.unusable).toEqual([]);
    expect(hostOf(mended.document, "api.anthropic.com")).toMatchObject({ key: "set" });
  } finally {
    await broken.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
});
