import { limits } from "@antiphon/contracts";
import { expect, it } from "vitest";
import { Quota } from "./quota.ts";

const over = expect.objectContaining({ code: "ANT_EGRESS_QUOTA" }) as Error;

it("the last byte within the quota passes and the next one is refused, in either direction", () => {
  const quota = new Quota();
  quota.up(limits.egressUpBytes - 1);
  quota.up(1);
  expect(() => quota.up(1)).toThrow(over);
  quota.down(limits.egressDownBytes);
  expect(() => quota.down(1)).toThrow(over);
});

it("the last request within the quota passes and the next one is refused", () => {
  const quota = new Quota();
  for (let i = 0; i < limits.egressRequests; i += 1) quota.request();
  expect(() => quota.request()).toThrow(over);
});
