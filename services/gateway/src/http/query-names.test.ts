import { expect, it } from "vitest";
import { requireKnownQuery } from "./query-names.ts";

it.each([
  ["GET", "/runs", { statsu: "failed" }, "statsu: unknown query parameter; this route takes limit, cursor"],
  ["HEAD", "/runs", { limti: "2" }, "limti: unknown query parameter; did you mean limit?"],
  ["GET", "/runs/:id", { token: "x" }, "token: unknown query parameter; this route takes none"],
  ["POST", "/runs/:id/retry", { force: "1" }, "force: unknown query parameter; this route takes none"],
  ["GET", "/runs/:id/evidence/:task/:epoch/files/*", { knd: "verdict" }, "did you mean kind?"],
  ["GET", "/policy", { repository: "/a" }, "this route takes repo"],
])("%s %s refuses %j by its name", (method, url, query, detail) => {
  expect(() => requireKnownQuery(method, url, query)).toThrow(
    expect.objectContaining({
      code: "ANT_CONTRACT_INVALID",
      detail: expect.stringContaining(detail) as string,
      data: { path: Object.keys(query)[0] },
    }) as Error,
  );
});

it.each([
  ["GET", "/runs", { limit: "2", cursor: "x" }],
  ["GET", "/runs/:id/events", { logs: "1" }],
  ["GET", "/runs", undefined],
  ["GET", "/readyz", { verbose: "1" }],
  ["GET", "/assets/*", { v: "2" }],
])("%s %s takes %j", (method, url, query) => {
  requireKnownQuery(method, url, query);
});
