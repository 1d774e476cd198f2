import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { limits, type BlobRef } from "@antiphon/contracts";
import { MemoryKv } from "@antiphon/runtime/testing/memory-kv";
import { EgressRefusal } from "../policy/refusal.ts";
import { CheckpointExchange } from "./checkpoint-exchange.ts";
import { Checkpoints } from "./checkpoints.ts";

/** Asks the checkpoints of one sandbox over loopback. */
async function sandbox(
  mostBytes: number,
): Promise<(method: string, name: string, body?: Buffer) => Promise<number>> {
  const stored = new Map<string, Buffer>();
  const exchange = new CheckpointExchange({
    begin: () => new Checkpoints(new MemoryKv()).begin({ run: "run_x", task: "T-001", epoch: 1 }, null),
    store: (bytes) => {
      const blob: BlobRef = { bucket: "b", name: `${stored.size}`, digest: "d", bytes: bytes.length };
      stored.set(blob.name, bytes);
      return Promise.resolve(blob);
    },
    read: ({ name }) => Promise.resolve(stored.get(name) ?? Buffer.alloc(0)),
    mostBytes,
    secrets: [],
    calls: () => [],
    onRestored: () => undefined,
  });
  const server = createServer((request, response) => {
    const target = { scheme: "https" as const, host: "h", port: 443, path: request.url ?? "", query: null };
    const moved = (): void => undefined;
    const ask = { target, request, response, signal: new AbortController().signal, up: moved, down: moved };
    exchange.answer(ask).catch((error: unknown) => {
      response.writeHead(error instanceof EgressRefusal ? error.status : 500, { connection: "close" }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return async (method, name, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}/${name}`, {
      method,
      ...(body && { body: new Uint8Array(body) }),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
}

test("what is refused or read again counts among the bytes of a sandbox, so it has an end", async () => {
  const tree = Buffer.alloc(100_000, "x");
  const ask = await sandbox(limits.checkpointStateBytes + 3 * tree.length + 100);
  expect([await ask("PUT", "tree", tree), await ask("PUT", "state", Buffer.from("{}"))]).toEqual([204, 204]);
  expect([await ask("GET", "tree"), await ask("GET", "tree"), await ask("GET", "state")]).toEqual([
    200, 200, 200,
  ]);
  expect(await ask("PUT", "state", Buffer.alloc(limits.checkpointStateBytes + 1))).toBe(413);
  expect([await ask("GET", "tree"), await ask("PUT", "tree", tree)]).toEqual([413, 413]);
});
