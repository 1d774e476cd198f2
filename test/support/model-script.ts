/**
 * A model server on loopback that gives the answers of a script, one for each call, in the API and the form that the call asked
 * for. A line of the script is a turn of the model, or what goes wrong in its place (model-trouble.ts).
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { endpointOf, isStreamed, type Json, type Turn } from "./model-shapes.ts";
import { makeTrouble, say, type Trouble } from "./model-trouble.ts";

export type Line = Turn | Trouble;

export interface ModelScript {
  readonly port: number;
  /** The bodies of the calls so far. */
  readonly heard: readonly Readonly<Record<string, unknown>>[];
  close(): Promise<void>;
}

interface Place {
  /** Default: loopback. */
  readonly address?: string;
  /** Below which all of its calls are; others are answered 404. Default: all are its calls. */
  readonly path?: string;
}

/**
 * The last line is repeated. A function makes each line of what the model was sent.
 * @param before what happens between a call, counted from 1, and its answer, which waits for it
 */
export async function startModelScript(
  lines: readonly Line[] | ((body: Json) => Line),
  before: (call: number) => unknown = () => undefined,
  { address = "127.0.0.1", path = "" }: Place = {},
): Promise<ModelScript> {
  const heard: Json[] = [];
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      const { url = "" } = request;
      if (!url.startsWith(path)) return response.writeHead(404).end();
      // Some programs first ask whether anyone is there.
      if (body === "") return response.end();
      const asked = JSON.parse(body) as Json;
      heard.push(asked);
      const number = heard.length;
      await before(number);
      const line = typeof lines === "function" ? lines(asked) : lines[Math.min(number, lines.length) - 1];
      const to = { endpoint: endpointOf(url) ?? "chat", isStream: isStreamed(url, asked), response };
      if (typeof line === "object") say(to, { ...line, number });
      else if (line !== undefined) makeTrouble(line, to);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    heard,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
