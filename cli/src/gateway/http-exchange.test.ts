import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { http } from "./http-exchange.ts";
import { ToldAnswer } from "./told-answer.ts";

test("cli/C1: a part of an answer that cannot be read fails the request, not the process", async () => {
  const server = createServer((_asked, answer) => answer.end("event: log\ndata: {no JSON\n\n"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const told = new ToldAnswer(() => expect.unreachable());
  const asked = { method: "GET", headers: {}, timeoutMs: 5_000, heard: (part: Buffer) => told.push(part) };
  await expect(http.exchange(`http://127.0.0.1:${port}/`, asked)).rejects.toThrow(SyntaxError);
  server.close();
});
