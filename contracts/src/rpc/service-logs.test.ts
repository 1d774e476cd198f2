import { expect, it } from "vitest";
import { serviceLogs } from "./service-logs.ts";

const log = (name: string | null) => ({
  blob: name === null ? null : { bucket: "b", name, digest: "sha256-x", bytes: 1 },
  ...{ bytes: 1, kept: 1, truncated: false, tail: "" },
});

it("names a file for each time that a service was started and said something", () => {
  const outcomes: Parameters<typeof serviceLogs>[0] = [
    { name: "db", log: log("1") },
    { name: "cache", log: log(null) },
    { name: "db", log: log("2") },
  ];
  expect(serviceLogs(outcomes).map(({ path, blob }) => [path, blob.name])).toEqual([
    ["services/db.log", "1"],
    ["services/db.2.log", "2"],
  ]);
});
