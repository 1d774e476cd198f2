import { encode } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import { decodeForReading } from "./wire-text.ts";

describe("antiphon decode", () => {
  it("turns MessagePack into one line of JSON", () => {
    expect(decodeForReading(Buffer.from(encode({ b: [1, null], a: "x" })), false)).toBe(
      '{"a":"x","b":[1,null]}',
    );
  });

  it("shows bytes inside as base64", () => {
    expect(decodeForReading(Buffer.from(encode({ a: new Uint8Array([1, 2]) })), false)).toBe(
      '{"a":{"base64":"AQI="}}',
    );
  });

  it("leaves text and JSON unchanged", () => {
    expect(decodeForReading(Buffer.from('{"a":1}\n'), false)).toBe('{"a":1}');
    expect(decodeForReading(Buffer.from("+WPI"), false)).toBe("+WPI");
  });

  it("shows the number of bytes it could not decode", () => {
    expect(decodeForReading(Buffer.from([0xc1, 0xff, 0x00]), false)).toBe('{"bytes":3,"base64":"wf8A"}');
  });
});
