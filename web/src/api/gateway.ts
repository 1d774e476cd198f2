/**
 * The gateway's HTTP API, as the page uses it. Tokens live in this module's memory only: closing the tab forgets them.
 *
 * With a deployment token, every POST carries the token of a short-lived session (seed 000), which is opened with the
 * first POST and again after it has expired. Without one (loopback), no token is sent at all.
 */
import { urlOf } from "@antiphon/client";
import type {
  GetAnswer,
  GetPath,
  ParamsOf,
  PostAnswer,
  PostBody,
  PostParams,
  PostPath,
} from "@antiphon/client";
import { Refusal, refusalOf, unreachable } from "./refusal.ts";

let deploymentToken: string | null = null;
let session: Promise<string> | null = null;

/** Uses `token` from now on. Empty: none. */
export function signIn(token: string): void {
  deploymentToken = token === "" ? null : token;
  session = null;
}

export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(path, { ...init, cache: "no-store", credentials: "omit" }).catch(
    (error: unknown) => {
      throw init.signal?.aborted === true ? error : unreachable(error);
    },
  );
  if (!response.ok) throw await refusalOf(response);
  return response;
}

export const authorized = (headers: Record<string, string> = {}): Record<string, string> =>
  deploymentToken === null ? headers : { ...headers, authorization: `Bearer ${deploymentToken}` };

export function get<P extends GetPath>(
  path: P,
  params: ParamsOf<P>[0],
  signal?: AbortSignal,
): Promise<GetAnswer<P>> {
  return getJson(urlOf(path, ...([params] as ParamsOf<P>)), signal);
}

/** `url`: made with `urlOf`. */
export async function getJson(url: string, signal?: AbortSignal): Promise<unknown> {
  const init = { headers: authorized({ accept: "application/json" }), ...(signal ? { signal } : {}) };
  return (await send(url, init)).json();
}

/** A file as text, at most `most` bytes of it. The rest is not read. */
export async function getText(path: string, most: number): Promise<{ text: string; cut: boolean }> {
  const response = await send(path, { headers: authorized() });
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let [text, left] = ["", most];
  for (;;) {
    const piece = await reader?.read();
    if (piece === undefined || piece.done) return { text: text + decoder.decode(), cut: false };
    text += decoder.decode(piece.value.subarray(0, left), { stream: true });
    left -= piece.value.length;
    if (left >= 0) continue;
    await reader?.cancel();
    return { text, cut: true };
  }
}

/** `headers`: besides those of every request. */
export async function post<P extends PostPath>(
  path: P,
  params: PostParams<P>,
  body: PostBody<P>,
  headers: Record<string, string> = {},
): Promise<PostAnswer<P>> {
  const url = urlOf(path, params);
  try {
    return (await postJson(url, body, headers)) as PostAnswer<P>;
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "ANT_SESSION_EXPIRED") throw error;
    session = null;
    return (await postJson(url, body, headers)) as PostAnswer<P>;
  }
}

async function postJson(url: string, body: unknown, headers: Record<string, string>): Promise<unknown> {
  const token = deploymentToken === null ? null : await sessionToken();
  const init = {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...headers,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  return (await send(url, init)).json();
}

function sessionToken(): Promise<string> {
  session ??= send("/sessions", { method: "POST", headers: authorized() })
    .then(async (response) => ((await response.json()) as PostAnswer<"/sessions">).token)
    .catch((error: unknown) => {
      session = null;
      throw error;
    });
  return session;
}
