import { limits } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { CallerRates } from "./caller-rates.ts";

const times = (count: number, act: () => void): void => {
  for (let at = 0; at < count; at += 1) act();
};

test("a caller who asks too often within a minute is told when to ask again, and nobody else is", () => {
  const rates = new CallerRates();
  times(limits.callerRequests, () => rates.admitCaller("alice", 0));
  expect(() => rates.admitCaller("alice", 30_000)).toThrowError(
    expect.objectContaining({ code: "ANT_GATEWAY_BUSY", httpStatus: 429, data: { retryAfterS: 31 } }),
  );
  rates.admitCaller("bob", 30_000);
  rates.admitCaller("alice", 61_000);
});

test("an address that guessed too often is refused whatever it sends, until its guesses are a minute old", () => {
  const rates = new CallerRates();
  times(limits.wrongTokens, () => {
    rates.admitAddress("192.0.2.1", 0);
    rates.guessed("192.0.2.1", 0);
  });
  expect(() => rates.admitAddress("192.0.2.1", 1_000)).toThrowError(
    expect.objectContaining({ code: "ANT_GATEWAY_BUSY", httpStatus: 429 }),
  );
  rates.admitAddress("192.0.2.2", 1_000);
  rates.admitAddress("192.0.2.1", 61_000);
});

test("remembers a bounded number of callers, and forgets first whom it has not heard of for longest", () => {
  const rates = new CallerRates();
  times(limits.wrongTokens, () => rates.guessed("first", 0));
  let other = 0;
  times(limits.rateWindows, () => rates.guessed(`other-${other++}`, 0));
  rates.admitAddress("first", 0);
});
