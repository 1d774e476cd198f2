import { fromSeed } from "@nats-io/nkeys";
import { expect, test } from "vitest";
import { makeUserKey, userKeyOf } from "./nkey.ts";

test("a made key is the one that the NATS library reads from its seed", () => {
  for (let i = 0; i < 20; i += 1) {
    const { seed, publicKey } = makeUserKey();
    expect(fromSeed(Buffer.from(seed)).getPublicKey()).toBe(publicKey);
    expect(userKeyOf(seed)).toEqual({ seed, publicKey });
  }
});

test("a text that is no seed of a user is refused", () => {
  const { seed, publicKey } = makeUserKey();
  const other = seed.endsWith("A") ? "B" : "A";
  const damaged = `${seed.slice(0, 20)}${seed[20] === "A" ? "B" : "A"}${seed.slice(21)}`;
  for (const text of [
    "",
    publicKey,
    seed.slice(1),
    `${seed}A`,
    seed.toLowerCase(),
    damaged,
    `SA${seed.slice(2)}`,
  ])
    expect(userKeyOf(text), text).toBeNull();
  expect(userKeyOf(`${seed.slice(0, -1)}${other}`)).toBeNull();
});
