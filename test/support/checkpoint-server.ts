/** A store of checkpoints on loopback that speaks as the egress gateway does. It may end its client at a place that it is told. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export interface CheckpointServer {
  readonly url: string;
  /** The states that were stored, oldest first. */
  readonly states: readonly unknown[];
  /** From now on nobody may leave one. */
  fence(): void;
  close(): Promise<void>;
}

/** @param at is called before (`put`) and after (`stored`) each state is stored, with its number from 1 */
export async function startCheckpointServer(
  at: (place: "put" | "stored", number: number) => boolean | void = () => undefined,
): Promise<CheckpointServer> {
  const states: unknown[] = [];
  const stored = new Map<string, Buffer>();
  let tree: Buffer | undefined;
  let isFenced = false;
  let puts = 0;
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const name = request.url ?? "";
      if (request.method === "GET") {
        const found = stored.get(name);
        return response.writeHead(found === undefined ? 404 : 200).end(found);
      }
      if (isFenced) return response.writeHead(409).end();
      if (name === "/tree") tree = body;
      else {
        // A client that ended before its state was stored has left none.
        if (at("put", (puts += 1)) === false) return response.destroy();
        stored.set(name, body);
        if (tree !== undefined) stored.set("/tree", tree);
        states.push(JSON.parse(body.toString("utf8")));
        at("stored", puts);
      }
      return response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    states,
    fence: () => (isFenced = true),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
