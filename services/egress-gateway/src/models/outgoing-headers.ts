/** The headers with which a request leaves for a model host: the program's own, without what names or prices it anew. Pure. */
import type { Headers } from "../proxy/headers.ts";

/** Headers with which the sandbox would name itself to the provider; a credential takes their place. */
const NAMING = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];
/** What costs more than the price list says: long contexts, faster answers, tools that the provider runs. */
const PRICED_BETA =
  /^(context-1m|fast-mode|mcp-client|code-execution|web-fetch|web-search|files-api|skills|compact|advisor|server-side)/;

/** @param asked the program's headers @param bytes the length of the body that leaves */
export function outgoingHeaders(
  asked: Headers,
  credentials: Readonly<Record<string, string>>,
  bytes: number,
): Headers {
  const { "anthropic-beta": betas, "content-encoding": _coded, ...headers } = asked;
  const free = [betas ?? []]
    .flat()
    .flatMap((list) => list.split(","))
    .map((beta) => beta.trim())
    .filter((beta) => beta !== "" && !PRICED_BETA.test(beta));
  return {
    ...named(headers, credentials),
    ...(free.length === 0 ? {} : { "anthropic-beta": free.join(",") }),
    "content-type": "application/json",
    "content-length": String(bytes),
  };
}

/** The program's own key is a placeholder. Where the gateway adds one, no other leaves. */
function named(headers: Headers, credentials: Readonly<Record<string, string>>): Headers {
  if (!NAMING.some((name) => name in credentials)) return headers;
  const others = Object.entries(headers).filter(([name]) => !NAMING.includes(name));
  return { ...Object.fromEntries(others), ...credentials };
}
