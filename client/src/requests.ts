/**
 * The typed client of the gateway: which routes there are, what each takes and answers (api.ts, generated from the OpenAPI
 * document), and the URL of a request. The page and the command line send requests each in their own way, because they keep
 * tokens, retry and read files differently; both are typed by this. Pure.
 */
import type { GetRoutes, PostRoutes, UrlValue } from "./api.ts";

export type * from "./api.ts";

export type GetPath = keyof GetRoutes;
export type PostPath = keyof PostRoutes;
export type GetAnswer<P extends GetPath> = GetRoutes[P]["answer"];
export type PostAnswer<P extends PostPath> = PostRoutes[P]["answer"];
export type PostParams<P extends PostPath> = PostRoutes[P]["params"];
export type PostBody<P extends PostPath> = PostRoutes[P]["body"];

/** The fields of a path and of its query, together. Nothing if the route needs none. */
export type ParamsOf<P extends GetPath> = object extends GetRoutes[P]["params"]
  ? [params?: GetRoutes[P]["params"]]
  : [params: GetRoutes[P]["params"]];

/**
 * The URL below the gateway's address: parameters that the path names go into it, the others into the query. Those that are
 * undefined are left out. Only a file's path, `{path}`, keeps its slashes.
 */
export function urlOf<P extends GetPath>(path: P, ...params: ParamsOf<P>): string;
export function urlOf<P extends PostPath>(path: P, params: PostParams<P>): string;
export function urlOf(path: string, params: Readonly<Record<string, UrlValue>> = {}): string {
  const names = new Set<string>();
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    names.add(name);
    const value = String(params[name]);
    return name === "path" ? value.split("/").map(encodeURIComponent).join("/") : encodeURIComponent(value);
  });
  const rest = Object.entries(params).filter(([name, value]) => !names.has(name) && value !== undefined);
  const query = new URLSearchParams(Object.fromEntries(rest.map(([name, value]) => [name, String(value)])));
  return query.size === 0 ? filled : `${filled}?${query.toString()}`;
}
