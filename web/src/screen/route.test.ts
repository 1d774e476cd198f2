import { expect, it } from "vitest";
import { routeOf } from "./route.ts";

it.each([
  ["", { page: "runs" }],
  ["#/", { page: "runs" }],
  ["#/runs/run_a1", { page: "run", runId: "run_a1" }],
  ["#/runs/../keys", { page: "runs" }],
  ["#/runs/run_<b>", { page: "runs" }],
  ["#/sessions/ses_a1", { page: "session", sessionId: "ses_a1" }],
  ["#/sessions/ses_<b>", { page: "runs" }],
  ["#/operations", { page: "operations" }],
])("%s", (hash, route) => expect(routeOf(hash)).toEqual(route));
