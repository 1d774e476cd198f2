import { describe, expect, it } from "vitest";
import { parsePubAck } from "./publish-result.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);

describe("a PubAck", () => {
  it("is ok, failed by kind of refusal, or unknown", () => {
    expect(parsePubAck(bytes('{"stream":"S","seq":7}'))).toEqual({ kind: "ok", seq: 7, count: 1 });
    expect(parsePubAck(bytes('{"stream":"S","seq":9,"batch":"b","count":3}'))).toMatchObject({
      seq: 9,
      count: 3,
    });
    const refusal = (code: number) =>
      parsePubAck(bytes(`{"error":{"code":400,"err_code":${code},"description":"x"},"stream":"S","seq":0}`));
    expect(refusal(10071)).toMatchObject({ kind: "failed", refusal: "expectation" });
    expect(refusal(10164)).toMatchObject({ refusal: "contended" });
    expect(refusal(10201)).toMatchObject({ refusal: "batch" });
    expect(refusal(10077)).toMatchObject({ refusal: "full" });
    expect(refusal(10054)).toMatchObject({ refusal: "rejected" });
    expect(parsePubAck(bytes(""))).toMatchObject({ kind: "failed", refusal: "unavailable" });
    expect(parsePubAck(bytes("<html>")).kind).toBe("unknown");
    expect(parsePubAck(bytes("{}")).kind).toBe("unknown");
  });
});
