/** The server inside a machine of the stand-in, like E2B's envd: files over HTTP, terminals over Connect-RPC. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { answer, bodyOf, connectStream, openEnvelope } from "./connect-wire.ts";
import { writeAll, type Machine, type ProcessOrder, type Terminal } from "./machine.ts";

export interface EnvdMachine {
  readonly machine: Machine;
  /** Access token that every request must carry. */
  readonly token: string;
  readonly terminals: Map<number, Terminal>;
  readonly heard: (path: string, body: string) => void;
}

interface StartRequest {
  readonly process: Partial<Omit<ProcessOrder, "user">>;
  readonly pty?: { readonly size: { readonly cols: number; readonly rows: number } };
}

interface InputRequest {
  readonly process: { readonly pid: number };
  readonly input: { readonly pty?: string };
}

export async function answerEnvd(
  at: EnvdMachine,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const body = await bodyOf(request);
  at.heard(url.pathname, body.toString("latin1"));
  if (request.headers["x-access-token"] !== at.token)
    return answer(response, 401, { code: "unauthenticated", message: "no such token" });
  switch (`${request.method ?? ""} ${url.pathname}`) {
    case "GET /health":
      return answer(response, 204);
    case "POST /files":
      return takeFiles(at, request, response, url, body);
    case "POST /process.Process/Start":
      return start(at, openEnvelope(body) as StartRequest, userOf(request), response);
    case "POST /process.Process/SendInput": {
      const { process: chosen, input } = JSON.parse(body.toString("utf8")) as InputRequest;
      const terminal = at.terminals.get(chosen.pid);
      if (terminal === undefined || input.pty === undefined)
        return answer(response, 404, { code: "not_found", message: `no terminal of process ${chosen.pid}` });
      await writeAll(terminal.stream, Buffer.from(input.pty, "base64"));
      return answer(response, 200, {});
    }
    default:
      return answer(response, 501, { code: "unimplemented", message: url.pathname });
  }
}

/** envd takes the user from Basic credentials without a password. */
function userOf(request: IncomingMessage): string {
  const [, encoded = ""] = /^Basic (.+)$/.exec(request.headers.authorization ?? "") ?? [];
  const [user = ""] = Buffer.from(encoded, "base64").toString("utf8").split(":");
  return user === "" ? "user" : user;
}

async function takeFiles(
  { machine }: EnvdMachine,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  body: Buffer,
): Promise<void> {
  const headers = { "content-type": request.headers["content-type"] ?? "" };
  const form = await new Response(new Uint8Array(body), { headers }).formData();
  const written: object[] = [];
  for (const file of form.getAll("file")) {
    if (typeof file === "string") throw new Error("a part that is no file");
    const path = url.searchParams.get("path") ?? file.name;
    await machine.write(path, Buffer.from(await file.arrayBuffer()));
    written.push({ name: path.split("/").at(-1), path, type: "file" });
  }
  answer(response, 200, written);
}

async function start(
  at: EnvdMachine,
  { process: order, pty }: StartRequest,
  user: string,
  response: ServerResponse,
): Promise<void> {
  if (pty === undefined)
    return answer(response, 501, { code: "unimplemented", message: "a process without a terminal" });
  const { cmd = "/bin/sh", args = [], envs = {}, cwd = "/" } = order;
  const terminal = await at.machine.terminal({ cmd, args, envs, cwd, user });
  at.terminals.set(terminal.pid, terminal);
  const calls = connectStream(response);
  calls.send({ event: { start: { pid: terminal.pid } } });
  const { stream } = terminal;
  stream.on("data", (bytes: Buffer) => {
    if (calls.send({ event: { data: { pty: bytes.toString("base64") } } })) return;
    stream.pause();
    calls.drained(() => void stream.resume());
  });
  calls.onHangUp(() => void stream.resume()); // envd keeps reading, so the process keeps running
  stream.once("error", () => stream.destroy());
  stream.once("close", () => {
    at.terminals.delete(terminal.pid);
    void terminal
      .exitCode()
      .catch(() => -1)
      .then((exitCode) => {
        calls.send({ event: { end: { exitCode, exited: true, status: `exit status ${exitCode}` } } });
        calls.end();
      });
  });
}
