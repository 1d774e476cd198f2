import { expect, test } from "vitest";
import { urlOf } from "./requests.ts";

test("parameters go where the route has them, and those left out are nowhere", () => {
  expect(urlOf("/keys")).toBe("/keys");
  expect(urlOf("/runs", { limit: 20, cursor: undefined })).toBe("/runs?limit=20");
  expect(urlOf("/runs/{id}", { id: "run_1" })).toBe("/runs/run_1");
  expect(urlOf("/policy", { repo: "/srv/a b" })).toBe("/policy?repo=%2Fsrv%2Fa+b");
});

test("a value stays one part of the path, whatever it holds; a file keeps its slashes", () => {
  expect(urlOf("/dead-letters/{id}", { id: "../runs?x#y" })).toBe("/dead-letters/..%2Fruns%3Fx%23y");
  const file = { id: "run_1", task: "T-001", epoch: 2, path: "checks/1 ?.txt", kind: "verdict" };
  expect(urlOf("/runs/{id}/evidence/{task}/{epoch}/files/{path}", file)).toBe(
    "/runs/run_1/evidence/T-001/2/files/checks/1%20%3F.txt?kind=verdict",
  );
});
