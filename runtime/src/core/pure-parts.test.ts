import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backoffMs } from "../backoff.ts";
import { readRuntimeConfig } from "../config.ts";
import { Deadlines } from "../deadlines.ts";
import { createLogger } from "../logger.ts";
import { ackVerb } from "../outcome.ts";
import { wireHeaders } from "../wire-headers.ts";
import { parseAckSubject } from "./ack-subject.ts";
import { digestFromMeta, digestToMeta, metaDocument, metaSubject, parseMeta } from "./object-layout.ts";
import { parsePubAck } from "./publish-result.ts";
import { differences, refusesToLoosen } from "./topology-diff.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);

describe("the outcome table", () => {
  it("maps each outcome to one verb", () => {
    expect(ackVerb({ kind: "done" })).toEqual({ verb: "ack", payload: "+ACK" });
    expect(ackVerb({ kind: "retry", delayMs: 1500 })).toEqual({
      verb: "nak",
      payload: '-NAK {"delay":1500000000}',
    });
    expect(ackVerb({ kind: "terminal", code: "ANT_TASK_POISON", detail: "why" })).toEqual({
      verb: "term",
      payload: "+TERM ANT_TASK_POISON",
      deadLetter: { code: "ANT_TASK_POISON", detail: "why" },
    });
  });

  it("keeps a retry's delay between its floor and its cap", () => {
    expect(ackVerb({ kind: "retry", delayMs: 0 }).payload).toBe('-NAK {"delay":50000000}');
    expect(ackVerb({ kind: "retry", delayMs: 1e9 }).payload).toBe('-NAK {"delay":60000000000}');
  });
});

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

describe("deadlines", () => {
  it("T1 T2 fire once, not early, at most two ticks late, and leave no timer", () => {
    let now = 1000;
    const deadlines = new Deadlines(() => now, 100);
    const fired: string[] = [];
    deadlines.add(250, () => fired.push("a"));
    const cancelled = deadlines.add(250, () => fired.push("never"));
    deadlines.add(5000, () => fired.push("b"));
    deadlines.cancel(cancelled);
    now = 1200;
    deadlines.sweep();
    expect(fired).toEqual([]);
    now = 1450;
    deadlines.sweep();
    deadlines.sweep();
    expect(fired).toEqual(["a"]);
    now = 1_000_000; // a process that was stopped for a long time
    deadlines.sweep();
    expect(fired).toEqual(["a", "b"]);
    expect(deadlines.size).toBe(0);
  });
});

describe("backoff", () => {
  it("grows, is jittered by half and never exceeds its cap", () => {
    fc.assert(
      fc.property(fc.nat(100), fc.double({ min: 0, max: 0.999, noNaN: true }), (attempt, random) => {
        const delay = backoffMs(attempt, { baseMs: 50, capMs: 2000 }, random);
        expect(delay).toBeGreaterThanOrEqual(25);
        expect(delay).toBeLessThanOrEqual(2000);
      }),
    );
    expect(backoffMs(3, { baseMs: 50, capMs: 2000 }, 1)).toBe(400);
  });
});

describe("the subject of an acknowledgement", () => {
  it("is read in both of the server's forms", () => {
    const short = parseAckSubject("$JS.ACK.S.c.2.17.5.1700000000000000000.3");
    expect(short).toEqual({
      stream: "S",
      consumer: "c",
      deliveries: 2,
      seq: 17,
      atMs: 1700000000000,
      pending: 3,
    });
    expect(parseAckSubject("$JS.ACK.dom.acc.S.c.2.17.5.1700000000000000000.3.tok")).toEqual(short);
    expect(parseAckSubject("_INBOX.x")).toBeNull();
  });
});

describe("the object layout", () => {
  it("is the store's own: padded digests, encoded names", () => {
    expect(metaSubject("B", "a name/ä?")).toBe("$O.B.M.YSBuYW1lL8OkPw==");
    expect(digestToMeta(`sha256-${"x".repeat(43)}`)).toBe(`SHA-256=${"x".repeat(43)}=`);
    expect(digestFromMeta(digestToMeta(`sha256-${"y".repeat(43)}`))).toBe(`sha256-${"y".repeat(43)}`);
  });

  it("O5 refuses links, and a nuid that would address other chunks", () => {
    const meta = { name: "n", nuid: "abc", size: 3, chunks: 1, digest: "SHA-256=x" };
    expect(parseMeta("B", "n", metaDocument("B", meta, new Date(0)))).toEqual({ ...meta, deleted: false });
    const link = JSON.stringify({ ...meta, options: { link: { bucket: "OTHER" } } });
    expect(() => parseMeta("B", "n", link)).toThrow(expect.objectContaining({ code: "ANT_BLOB_MISSING" }));
    const wide = JSON.stringify({ ...meta, nuid: "*" });
    expect(() => parseMeta("B", "n", wide)).toThrow(expect.objectContaining({ code: "ANT_BLOB_CORRUPT" }));
  });
});

describe("the difference between wanted and stored topology", () => {
  it("V1 V2 sees what differs, ignores what it does not name, and knows what would be loosened", () => {
    const wanted = {
      storage: "file",
      max_age: 0,
      subjects: ["a", "b"],
      allow_direct: true,
      sources: undefined,
    };
    expect(
      differences(wanted, { storage: "file", subjects: ["b", "a"], allow_direct: true, extra: 1 }),
    ).toEqual([]);
    expect(differences(wanted, { storage: "file", subjects: ["a"], allow_direct: true })).toEqual([
      "subjects",
    ]);
    expect(refusesToLoosen({ storage: "memory" }, { storage: "file" })).toEqual(["storage"]);
    expect(refusesToLoosen({ max_bytes: 10 }, { max_bytes: -1 })).toEqual(["max_bytes"]);
    expect(refusesToLoosen({ max_bytes: 10 }, { max_bytes: 5 })).toEqual([]);
    expect(refusesToLoosen({ max_age: 0 }, { max_age: 5 })).toEqual([]);
  });
});

describe("headers on the wire", () => {
  it("are NATS/1.0 lines; a line break cannot smuggle in another", () => {
    const encoded = (wireHeaders({ A: "1", "B-C": "x y" }) as unknown as { encode(): Buffer }).encode();
    expect(encoded.toString()).toBe("NATS/1.0\r\nA: 1\r\nB-C: x y\r\n\r\n");
    expect(() => wireHeaders({ A: "1\r\nB: 2" })).toThrow(RangeError);
  });
});

describe("the configuration", () => {
  it("has defaults for a laptop", () => {
    expect(readRuntimeConfig({})).toEqual({
      natsUrl: "nats://127.0.0.1:4222",
      natsMonitorUrl: null,
      natsToken: null,
      unsafeDurability: false,
      logLevel: "info",
      metricsPort: null,
      drainMs: 25_000,
    });
  });

  it("names the variable that is wrong", () => {
    const wrong = [
      { ANTIPHON_NATS_URL: "http://x" },
      { ANTIPHON_UNSAFE_DURABILITY: "maybe" },
      { ANTIPHON_METRICS_PORT: "70000" },
      { ANTIPHON_LOG_LEVEL: "loud" },
      { ANTIPHON_DRAIN_MS: "-1" },
    ];
    for (const env of wrong) {
      expect(() => readRuntimeConfig(env)).toThrow(
        expect.objectContaining({ code: "ANT_CONFIG_INVALID", data: { variable: Object.keys(env)[0] } }),
      );
    }
  });
});

describe("the logger", () => {
  it("writes JSON lines and hides secrets, also nested ones", () => {
    const lines: string[] = [];
    const log = createLogger("t", { destination: { write: (line) => lines.push(line) } });
    log.info({ token: "abc", options: { password: "def", user: "u" } }, "hello");
    const line = JSON.parse(lines[0] ?? "{}") as Record<string, unknown>;
    expect(line).toMatchObject({ level: "info", name: "t", msg: "hello", token: "[redacted]" });
    expect(line["options"]).toEqual({ password: "[redacted]", user: "u" });
  });
});
