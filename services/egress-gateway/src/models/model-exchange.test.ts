import { once } from "node:events";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import type { Charge } from "./ledger.ts";
import type { ModelPrice } from "./pricing.ts";
import { modelExchange } from "./model-exchange.ts";

const HOST = "models.example";
const PRICE: ModelPrice = { input: 1, output: 1, cache_read: 1, cache_write: 1, max_output: 8 };

function message(body: string, more: object): IncomingMessage {
  const made = Object.assign(new IncomingMessage(new Socket()), more);
  made.push(body);
  made.push(null);
  return made;
}

/** A call whose sandbox hangs up while the first bytes of its answer are on their way. */
async function hungUp(method: "GET" | "POST", path: string) {
  const ask = { model: "small", max_tokens: 8, messages: [{ role: "user", content: "hello" }] };
  const request = message(method === "POST" ? JSON.stringify(ask) : "", { method, headers: {} });
  const response = new ServerResponse(request);
  const socket = new Socket();
  response.assignSocket(socket);
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const settled: { most: Charge; charged: Charge }[] = [];
  const call = modelExchange(
    {
      target: { scheme: "https", host: HOST, port: 443, path, query: null },
      request,
      response,
      headers: {},
      signal: gone.signal,
      up: () => undefined,
      down: () => undefined,
    },
    {
      run: "run_a",
      budget: { tokens: 1_000_000, usd_micro: 1_000_000 },
      budgets: {
        reserve: (_run, _budget, { answer, mostWith }) => Promise.resolve({ answer, most: mostWith(answer) }),
        settle: (_run, most, charged) => Promise.resolve(void settled.push({ most, charged })),
      },
      hosts: new Map([
        [
          HOST,
          {
            shape: "openai" as const,
            upstream: null,
            base: null,
            prices: { small: PRICE },
            noKey: null,
            isShipped: false,
          },
        ],
      ]),
      upstream: {
        async send({ onLeave }) {
          onLeave?.();
          socket.destroy();
          await once(response, "close");
          return message('{"data":[]}', { statusCode: 200, headers: {} });
        },
      },
      secrets: [],
      mask: (text) => text,
      record: true,
      store: () => Promise.reject(new Error("nothing to record")),
      onCall: () => undefined,
      onSpent: () => undefined,
      onFailure: () => undefined,
    },
  );
  return { call, settled };
}

test("egress-gateway/E7: a call whose sandbox hung up before its answer began ends, and its reservation is settled", async () => {
  const { call, settled } = await hungUp("POST", "/v1/chat/completions");
  await expect(call).rejects.toMatchObject({ name: "AbortError" });
  expect(settled).toHaveLength(1);
  expect(settled[0]?.charged).toEqual(settled[0]?.most); // The answer stated no usage.
});

test("a list of models ends when its sandbox hung up", async () => {
  const { call } = await hungUp("GET", "/v1/models");
  await expect(call).rejects.toMatchObject({ name: "AbortError" });
});
