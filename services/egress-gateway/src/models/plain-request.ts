/** What every request to a model host shares, whether a model or a record answers it. */
import { limits } from "@antiphon/contracts";
import { bodyInMemory } from "../proxy/body-in-memory.ts";
import type { ModelAnswer, ModelAsk } from "../proxy/exchange.ts";
import { EgressRefusal } from "../policy/refusal.ts";

/** Programs that find no WebSocket at once go on with plain requests. */
export function websocket(): EgressRefusal {
  const why = "model calls are metered as plain requests, not over a WebSocket";
  return new EgressRefusal("ANT_EGRESS_METHOD", "model:websocket", why, 426);
}

/** Programs ask whether the host is there; that is answered here, since nothing of it is the provider's business. */
export function isAlive({ request: { method }, target }: ModelAsk): boolean {
  return (method === "HEAD" || method === "GET") && target.path === "/";
}

export function alive({ response }: ModelAsk): Promise<ModelAnswer> {
  response.writeHead(200, { "content-length": "0" }).end();
  return Promise.resolve({ rule: "model:alive", status: 200, entry: null });
}

export async function bodyOf({ request, signal, up, body: read }: ModelAsk): Promise<Buffer> {
  if (read !== undefined) return read;
  if ((request.headers["content-encoding"] ?? "identity") !== "identity")
    throw new EgressRefusal("ANT_EGRESS_MODEL", "model:body", "an encoded body cannot be priced");
  return bodyInMemory(request, signal, (bytes, all) => {
    up(bytes);
    if (all > limits.modelBodyBytes)
      throw new EgressRefusal("ANT_EGRESS_MODEL", "model:body", `a body over ${limits.modelBodyBytes} bytes`);
  });
}

/** Waits until the sandbox has taken the bytes written so far; throws when the exchange ends first (egress-gateway/E7). */
export async function drained({ response, signal }: ModelAsk): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
    signal.addEventListener("abort", done);
  });
  signal.throwIfAborted();
}
