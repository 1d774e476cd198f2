import { describe, expect, it } from "vitest";
import { parseAckSubject } from "./ack-subject.ts";

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

  it("gives the same millisecond as a read of the message, for every timestamp", () => {
    const atMs = (ns: string) => parseAckSubject(`$JS.ACK.S.c.1.1.1.${ns}.0`)?.atMs;
    for (let ms = 1767225606000; ms < 1767225607000; ms += 1) expect(atMs(`${ms}000000`)).toBe(ms);
    expect(atMs("1767225606153999999")).toBe(1767225606153);
  });
});
