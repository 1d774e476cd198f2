/** The CLI against peers that hang up: it always reports how it ended. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { ANTIPHON, ROOT, run, type Ended } from "../../e2e/support/program.ts";

const opened: Server[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => new Promise((done) => server.close(done))));
});

/** Listens on loopback and calls `meet` for each connection; returns the URL and the number of connections. */
async function peer(
  meet: (socket: Socket, nth: number) => void,
): Promise<{ url: string; met: () => number }> {
  let met = 0;
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    meet(socket, (met += 1));
  });
  opened.push(server);
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, met: () => met };
}

const antiphon = (url: string, ...args: string[]): Promise<Ended> =>
  run(process.execPath, [ANTIPHON, ...args], { env: { ANTIPHON_GATEWAY_URL: url } });

function answer(status: string, body: string, length = body.length): string {
  return `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${body}`;
}

describe("a peer that hangs up causes an error with a code and a remedy, never a silent end", () => {
  const hangUps: [string, (socket: Socket) => void][] = [
    ["right after the connection", (socket) => socket.destroy()],
    ["with a reset", (socket) => socket.resetAndDestroy()],
    ["cleanly, without an answer", (socket) => socket.resume().end()],
    ["after the request", (socket) => socket.once("data", () => socket.destroy())],
    [
      "in the middle of its answer",
      (socket) => socket.once("data", () => socket.end(answer("200 OK", "{", 99))),
    ],
  ];
  const verbs = [["get", "run_a"], ["runs"], ["cancel", "run_a"]];
  test.each(hangUps)("%s", async (_how, hangUp) => {
    const { url } = await peer(hangUp);
    const ended = await Promise.all(verbs.map((verb) => antiphon(url, ...verb)));
    for (const { code, stderr } of ended) {
      expect(stderr).toMatch(/^error ANT_GATEWAY_UNREACHABLE: .+\nremedy: .+\n$/);
      expect(code).toBe(4);
    }
  });

  test("the doctor reports it and continues", async () => {
    const { url } = await peer((socket) => socket.destroy());
    const { code, stdout } = await antiphon(url, "doctor", "--json");
    expect(code).not.toBe(13);
    const { findings } = JSON.parse(stdout) as { findings: { name: string; state: string }[] };
    expect(findings.find(({ name }) => name === "gateway")).toMatchObject({ state: "off" });
  });
});

test("a GET is retried while the gateway restarts behind a proxy", async () => {
  const { url, met } = await peer((socket, nth) => {
    if (nth === 1) socket.destroy();
    else if (nth === 2) socket.once("data", () => socket.end(answer("502 Bad Gateway", "<html>")));
    else socket.once("data", () => socket.end(answer("200 OK", '{"runs":[]}')));
  });
  const { code, stdout } = await antiphon(url, "runs", "--json");
  expect({ code, stdout: stdout.trim(), met: met() }).toEqual({ code: 0, stdout: '{"runs":[]}', met: 3 });
});

test("a POST without a key is not sent twice", async () => {
  const { url, met } = await peer((socket, nth) => {
    if (nth === 1) socket.once("data", () => socket.end(answer("201 Created", '{"token":"t"}')));
    else socket.once("data", () => socket.destroy());
  });
  const { code, stderr } = await antiphon(url, "cancel", "run_a");
  expect(stderr).toContain("may have been carried out");
  expect({ code, met: met() }).toEqual({ code: 4, met: 2 });
});

test("`wait` says at once that it has no connection, and goes on when the gateway is back", async () => {
  const gone = { code: "ANT_RUN_NOT_FOUND", message: "there is no such run", remedy: "List them." };
  const { url } = await peer((socket, nth) => {
    if (nth === 1) socket.destroy();
    else socket.once("data", () => socket.end(answer("404 Not Found", JSON.stringify({ error: gone }))));
  });
  const { code, stdout, stderr } = await antiphon(url, "wait", "run_a");
  expect(stderr).toMatch(/^no connection to the gateway; trying again .+\nerror ANT_RUN_NOT_FOUND: /);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
});

test("an answer that is not JSON is reported as such", async () => {
  const { url } = await peer((socket) => socket.once("data", () => socket.end(answer("200 OK", "<html>"))));
  const { code, stderr } = await antiphon(url, "runs");
  expect(stderr).toMatch(/^error ANT_GATEWAY_UNREACHABLE: .*is it the gateway\?\nremedy: /);
  expect(code).toBe(4);
});

test("a command that waits for something impossible reports that and exits with 1, also as JSON", async () => {
  const root = mkdtempSync(join(tmpdir(), "antiphon-stalled-"));
  mkdirSync(join(root, "dist"));
  cpSync(join(ROOT, "bin"), join(root, "bin"), { recursive: true });
  writeFileSync(join(root, "package.json"), '{"type":"module"}');
  writeFileSync(join(root, "dist/cli.js"), "export const main = () => new Promise(() => {});");
  const ended = await run(process.execPath, [join(root, "bin/antiphon.mjs"), "get", "--json"]);
  rmSync(root, { recursive: true });
  expect(ended.code).toBe(1);
  expect(ended.stderr).toMatch(/error ANT_COMMAND_STALLED: .+\nremedy: .+/);
  expect(JSON.parse(ended.stdout)).toMatchObject({ error: { code: "ANT_COMMAND_STALLED" } });
});

test.each([
  [["runs", "--limit", "0"], "antiphon runs --help"],
  [["runs", "--since", "yesterday"], "antiphon runs --help"],
  [["images", "allow", "x", "--bad"], "antiphon images allow --help"],
  [["prune", "--older-than", "soon"], "antiphon prune --help"],
  [["check", "--time-budget", "1m"], "antiphon check --help"],
])("%j points to the help of its own command", async (args, help) => {
  const { code, stderr } = await run(process.execPath, [ANTIPHON, ...args], { cwd: ROOT });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^error ANT_USAGE: /);
  expect(stderr).toContain(`remedy: ${help}`);
});
