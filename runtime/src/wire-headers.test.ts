import { describe, expect, it } from "vitest";
import { wireHeaders } from "./wire-headers.ts";

describe("headers on the wire", () => {
  it("are NATS/1.0 lines; a line break cannot smuggle in another", () => {
    const encoded = (wireHeaders({ A: "1", "B-C": "x y" }) as unknown as { encode(): Buffer }).encode();
    expect(encoded.toString()).toBe("NATS/1.0\r\nA: 1\r\nB-C: x y\r\n\r\n");
    expect(() => wireHeaders({ A: "1\r\nB: 2" })).toThrow(RangeError);
  });
});
