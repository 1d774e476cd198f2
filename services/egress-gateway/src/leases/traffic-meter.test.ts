import type { Meter } from "@antiphon/runtime";
import { expect, test } from "vitest";
import type { LogEntry } from "../policy/log-entry.ts";
import { measureTraffic } from "./traffic-meter.ts";

const entry: LogEntry = {
  at: "2026-01-01T00:00:00.000Z",
  method: "POST",
  host: "api.example.com",
  port: 443,
  path: "/v1/messages",
  decision: "allow",
  rule: "model:messages",
  code: null,
  why: null,
  status: 200,
  bytes_up: 10,
  bytes_down: 20,
  ms: 5,
};

/** What was counted, as text. */
function counted(one: LogEntry): string[] {
  const lines: string[] = [];
  const meter: Meter = {
    isOn: true,
    count: (name, labels, by = 1) => void lines.push(`${name} ${Object.values(labels).join(" ")} ${by}`),
    observe: () => undefined,
    read: () => undefined,
  };
  measureTraffic(meter, one);
  return lines;
}

const bytes = ["antiphon_egress_bytes_total up 10", "antiphon_egress_bytes_total down 20"];

test("a refused request counts by its code, and its path is in no label", () => {
  expect(counted({ ...entry, decision: "refuse", code: "ANT_EGRESS_HOST" })).toEqual([
    "antiphon_egress_requests_total refuse ANT_EGRESS_HOST 1",
    ...bytes,
  ]);
});

test("a model call counts its tokens, and its cost in dollars", () => {
  const model = {
    name: "m-1",
    reserved_tokens: 900,
    charged_tokens: 300,
    charged_usd_micro: 2_500_000,
    recording: null,
  };
  expect(counted({ ...entry, model })).toEqual([
    "antiphon_egress_requests_total allow none 1",
    ...bytes,
    "antiphon_model_calls_total api.example.com m-1 1",
    "antiphon_model_tokens_total api.example.com m-1 300",
    "antiphon_model_cost_dollars_total api.example.com m-1 2.5",
  ]);
});
