/** What a request to a model host asks for, by method and path; and the path and query that leave for the upstream. Pure. */
export type ModelShape = "openai" | "anthropic" | "gemini";
/** The four shapes of a metered call. */
export type Endpoint = "chat" | "responses" | "messages" | "generate";

export type Route =
  | {
      readonly kind: "call";
      readonly endpoint: Endpoint;
      readonly path: string;
      readonly query: string | null;
      /** The model that the path names; null: the body names it. */
      readonly model: string | null;
      /** Whether the path asks for a stream; null: the body says so. */
      readonly stream: boolean | null;
    }
  /** Requests that no provider charges: the list of models, counting the tokens of a prompt. */
  | {
      readonly kind: "free";
      readonly rule: "model:list" | "model:count";
      readonly path: string;
      readonly query: string | null;
    };

/** The version segment that clients write when nothing else is configured. */
const VERSIONS: Readonly<Record<ModelShape, readonly string[]>> = {
  openai: ["/v1"],
  anthropic: ["/v1"],
  gemini: ["/v1beta", "/v1"],
};
/** Parameters that select a form of the answer. All others, a key among them, stay here. */
const QUERY = /^(?:beta|alt|api-version)=[\w.-]{0,40}$/;
const GEMINI_CALL = /^\/models\/([\w.:-]{1,128}):(generateContent|streamGenerateContent|countTokens)$/;

/** @param base path of the upstream's base URL, such as `/v1` or `/api/v1`; null: as the client wrote it */
export function routeOf(
  method: string,
  { path, query }: { readonly path: string; readonly query: string | null },
  { shape, base }: { readonly shape: ModelShape; readonly base: string | null },
): Route | null {
  const version = [...(base === null ? [] : [base]), ...VERSIONS[shape]].find((one) =>
    path.startsWith(`${one}/`),
  );
  if (version === undefined) return null;
  const below = path.slice(version.length);
  const to = { path: `${base ?? version}${below}`, query: keptQuery(query) };
  if (method === "GET" && (below === "/models" || /^\/models\/[\w.:-]{1,128}$/.test(below)))
    return { kind: "free", rule: "model:list", ...to };
  if (method !== "POST") return null;
  return shape === "gemini" ? geminiRoute(below, to) : jsonRoute(shape, below, to);
}

type To = Pick<Route, "path" | "query">;

function jsonRoute(shape: "openai" | "anthropic", below: string, to: To): Route | null {
  if (shape === "anthropic" && below === "/messages/count_tokens")
    return { kind: "free", rule: "model:count", ...to };
  const endpoint = endpointAt(shape, below);
  return endpoint === null ? null : { kind: "call", endpoint, ...to, model: null, stream: null };
}

function endpointAt(shape: "openai" | "anthropic", below: string): Endpoint | null {
  if (shape === "anthropic") return below === "/messages" ? "messages" : null;
  if (below === "/chat/completions") return "chat";
  return below === "/responses" ? "responses" : null;
}

function geminiRoute(below: string, to: To): Route | null {
  const [, model, verb] = GEMINI_CALL.exec(below) ?? [];
  if (model === undefined || verb === undefined) return null;
  if (verb === "countTokens") return { kind: "free", rule: "model:count", ...to };
  return { kind: "call", endpoint: "generate", ...to, model, stream: verb === "streamGenerateContent" };
}

function keptQuery(query: string | null): string | null {
  const kept = (query ?? "").split("&").filter((pair) => QUERY.test(pair));
  return kept.length === 0 ? null : kept.join("&");
}
