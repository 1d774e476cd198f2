import { limits } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import { StreamPlaces } from "./stream-places.ts";

/** Takes places until one is refused. */
function most(places: StreamPlaces, watcher: (i: number) => { principal: string; address: string }): number {
  for (let i = 0; i <= limits.sseClients; i += 1) if (places.take(watcher(i)) !== null) return i;
  return Infinity;
}

describe("places for event streams", () => {
  it("gateway/G7: are limited in all, per principal and per address", () => {
    expect(most(new StreamPlaces(), (i) => ({ principal: `p${i}`, address: `a${i}` }))).toBe(
      limits.sseClients,
    );
    expect(most(new StreamPlaces(), (i) => ({ principal: "p", address: `a${i}` }))).toBe(
      limits.sseClientsPerPrincipal,
    );
    expect(most(new StreamPlaces(), (i) => ({ principal: `p${i}`, address: "a" }))).toBe(
      limits.sseClientsPerAddress,
    );
  });

  it("stay available to others when one address has used up its own, and are free again when a stream ends", () => {
    const places = new StreamPlaces();
    const greedy = { principal: "p", address: "a" };
    most(places, () => greedy);
    expect(places.take({ principal: "p", address: "b" })).toBeNull();
    expect(places.take(greedy)).toContain("one address");
    places.leave(greedy);
    expect(places.take(greedy)).toBeNull();
  });
});
