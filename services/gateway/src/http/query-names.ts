// Refuses a query with a parameter that its route does not take: passed over, `?cursro=` would show the first page again. Pure.
import { nearest } from "@antiphon/contracts/validation/problem";
import { invalid } from "./paging.ts";
import { ROUTES, type Route } from "./route-table.ts";

/** By method and path; health probes may bring anything. */
const NAMES: ReadonlyMap<string, readonly string[]> = new Map(
  ROUTES.filter(({ path }) => path !== "/healthz" && path !== "/readyz").map((route) => [
    `${route.method} ${route.path}`,
    namesOf(route),
  ]),
);

function namesOf({ query = [], options = {}, paged = false }: Route): string[] {
  return [...query, ...Object.keys(options), ...(paged ? ["limit", "cursor"] : [])];
}

/**
 * @param route as the server declares it (`/runs/:id`); the page's files are in no table and take anything
 * @param url of the request
 * @throws AntiphonError ANT_CONTRACT_INVALID
 */
export function requireKnownQuery(method: string, route: string, url: string): void {
  const [target = ""] = url.split("#", 1);
  const begin = target.indexOf("?");
  if (begin === -1) return;
  const query = target.slice(begin + 1);
  const verb = method === "HEAD" ? "get" : method.toLowerCase();
  const known = NAMES.get(`${verb} ${route.replaceAll(/:(\w{1,40})/g, "{$1}").replace("*", "{path}")}`);
  const stranger = known && [...new URLSearchParams(query).keys()].find((name) => !known.includes(name));
  if (known === undefined || stranger === undefined) return;
  const meant = nearest(stranger, known);
  const takes = known.length === 0 ? "this route takes none" : `this route takes ${known.join(", ")}`;
  throw invalid(
    stranger.slice(0, 64),
    `unknown query parameter; ${meant === null ? takes : `did you mean ${meant}?`}`,
  );
}
