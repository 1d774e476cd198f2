import { limits } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import { StreamPlaces } from "./stream-places.ts";

/** Takes until it is refused. */
function most(places: StreamPlaces, watcher: (i: number) => { principal: string; address: string }): number {
  for (let i = 0; i <= limits.sseClients; i += 1) if (places.take(watcher(i)) !== null) return i;
  return Infinity;
}

describe("places for event streams", () => {
  it("E1 are bounded in all, for a principal and for an address", () => {
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

  it("are left for others when one address has all of its own, and free again when a stream ends", () => {
    const places = new StreamPlaces();
    const greedy = { principal: "p", address: "a" };
    most(places, () => greedy);
    expect(places.take({ principal: "p", address: "b" })).toBeNull();
    expect(places.take(greedy)).toContain("one address");
    places.leave(greedy);
    expect(places.take(greedy)).toBeNull();
  });
});
