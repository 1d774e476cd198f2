import { expect, it } from "vitest";
import { requireKnownQuery } from "./query-names.ts";

it.each([
  ["GET", "/runs", "statsu=failed", "statsu: unknown query parameter; this route takes limit, cursor"],
  ["HEAD", "/runs", "limit=1&limti=2", "limti: unknown query parameter; did you mean limit?"],
  ["GET", "/runs/:id", "token=x#y", "token: unknown query parameter; this route takes none"],
  ["POST", "/runs/:id/retry", "force", "force: unknown query parameter; this route takes none"],
  [
    "GET",
    "/runs/:id/evidence/:task/:epoch/files/*",
    "k%6Ed=verdict",
    "knd: unknown query parameter; did you mean kind?",
  ],
  ["GET", "/policy", "repo=/a&repository=/b", "repository: unknown query parameter; this route takes repo"],
])("%s %s refuses ?%s by its name", (method, route, query, detail) => {
  expect(() => requireKnownQuery(method, route, `/path?${query}`)).toThrow(
    expect.objectContaining({
      code: "ANT_CONTRACT_INVALID",
      detail,
      data: { path: detail.split(":")[0] },
    }) as Error,
  );
});

it.each([
  ["GET", "/runs", "/runs?limit=2&cursor=x"],
  ["GET", "/runs/:id/events", "/runs/run_1/events?logs=1"],
  ["GET", "/runs", "/runs?#statsu=1"],
  ["POST", "/sessions", "/sessions#x"],
  ["GET", "/readyz", "/readyz?verbose=1"],
  ["GET", "/assets/*", "/assets/a.js?v=2"],
])("%s %s takes %s", (method, route, url) => {
  requireKnownQuery(method, route, url);
});
