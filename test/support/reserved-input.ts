/** What the egress gateway reserves for the body of a model call, beside its real tokens. */
import { routeOf } from "../../services/egress-gateway/src/models/endpoint.ts";
import { readCall } from "../../services/egress-gateway/src/models/model-call.ts";
import { ratioOf } from "../../services/egress-gateway/src/models/real-tokens.fixture.ts";
import { endpointOf } from "./model-shapes.ts";

const PRICE = { input: 1, output: 1, cache_read: 1, cache_write: 1, max_output: 1 };
const SHAPES = { messages: "anthropic", generate: "gemini", chat: "openai", responses: "openai" } as const;

/** How much more than its real tokens a call's body is reserved for; null: it is no call of a model. */
export function reservedRatio({ url, body }: { readonly url: string; readonly body: string }): number | null {
  const endpoint = endpointOf(url);
  if (endpoint === null) return null;
  const [path = "", query = null] = url.split("?");
  const route = routeOf("POST", { path, query }, { shape: SHAPES[endpoint], base: null });
  if (route?.kind !== "call") throw new Error(`${url} is no call`);
  return ratioOf(body, readCall(endpoint, Buffer.from(body), { "*": PRICE }, route).mostWith(0).tokens);
}
