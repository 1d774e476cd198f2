import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { scrubbed, Scrubber } from "./scrubber.ts";

const SECRET = 'tok_Ab9/+x=Zq7"w';
const each = (form: (char: string, code: string) => string): string =>
  [...SECRET].map((char) => form(char, char.charCodeAt(0).toString(16).padStart(2, "0"))).join("");
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** The form of a secret in an answer, and the number of its bytes that have to be masked: by default all. */
type Form = string | readonly [form: string, masked: number];

/** Base64 characters that depend on nothing but the secret, at any place of a group. */
const OWN = Math.floor((SECRET.length * 8) / 6) - 1;

const FORMS: Readonly<Record<string, Form>> = {
  "as it is": SECRET,
  "in upper case": SECRET.toUpperCase(),
  "in lower case": SECRET.toLowerCase(),
  backwards: [...SECRET].reverse().join(""),
  "percent-encoded": encodeURIComponent(SECRET),
  "percent-encoded in lower case": encodeURIComponent(SECRET).toLowerCase(),
  "percent-encoded to the last character": each((_, code) => `%${code}`),
  "percent-encoded twice": encodeURIComponent(each((_, code) => `%${code}`)),
  "percent-encoded three times": encodeURIComponent(encodeURIComponent(each((_, code) => `%${code}`))),
  "as a form field": [new URLSearchParams({ a: SECRET }).toString(), SECRET.length],
  "in JSON": [JSON.stringify({ a: SECRET }), SECRET.length + 1],
  "in JSON inside JSON": [JSON.stringify({ a: JSON.stringify({ b: SECRET }) }), SECRET.length + 3],
  "in escapes of JSON": each((_, code) => `\\u00${code}`),
  "in escapes of JSON inside JSON": each((_, code) => `\\\\u00${code.toUpperCase()}`),
  "in escapes of JavaScript": each((_, code) => `\\u{${code}}`),
  "in hexadecimal escapes": each((_, code) => `\\x${code}`),
  "in octal escapes": [...SECRET]
    .map((char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`)
    .join(""),
  "with escaped slashes": SECRET.replaceAll("/", "\\/"),
  "in numbers of HTML": each((char) => `&#${char.charCodeAt(0)};`),
  "in hexadecimal numbers of HTML": each((_, code) => `&#x00${code};`),
  "in hexadecimal": Buffer.from(SECRET).toString("hex"),
  "in hexadecimal, in upper case": Buffer.from(SECRET).toString("hex").toUpperCase(),
  "in hexadecimal with colons": [each((_, code) => `${code}:`), SECRET.length * 3 - 1],
  "in hexadecimal with spaces": [each((_, code) => `${code} `), SECRET.length * 3 - 1],
  "in base64": [base64(SECRET), OWN],
  "in base64 without padding": [base64(SECRET).replace(/=+$/, ""), OWN],
  "in base64 of URLs": [Buffer.from(SECRET).toString("base64url"), OWN],
  "in base64 after one byte": [base64(`u${SECRET}x`), OWN],
  "in base64 after two bytes": [base64(`u:${SECRET}xy`), OWN],
  "in base64 of a header": [base64(`Authorization: Bearer ${SECRET}\r\n`), OWN],
  "in base64, percent-encoded": [encodeURIComponent(base64(`u:${SECRET}`)), OWN],
  "in base64, in lines": [base64(`${"x".repeat(40)}${SECRET}`).replace(/.{60}/g, "$&\r\n"), OWN],
  "with mixed escapes": [...SECRET]
    .map((char, i) => (i % 2 === 1 ? char : `%${char.charCodeAt(0).toString(16)}`))
    .join(""),
  "in UTF-16": [Buffer.from(SECRET, "utf16le").toString("latin1"), SECRET.length * 2 - 1],
  "over two lines": `${SECRET.slice(0, 5)}\n${SECRET.slice(5)}`,
};

const masked = (text: string): number => text.split("*").length - 1;
const scrubAll = (scrubber: Scrubber, bytes: Buffer, size: number): string => {
  const out: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size)
    out.push(Buffer.from(scrubber.push(bytes.subarray(at, at + size))));
  return Buffer.concat([...out, scrubber.end()]).toString("latin1");
};

describe("a scrubber", () => {
  it("knows at least 24 forms", () => {
    expect(Object.keys(FORMS).length).toBeGreaterThanOrEqual(24);
  });

  test.each(Object.entries(FORMS))("egress-gateway/E2: masks a secret %s", (_name, form) => {
    const [text, least] = typeof form === "string" ? [form, form.length] : form;
    const bytes = Buffer.from(`before ${text} after`, "latin1");
    const whole = scrubAll(new Scrubber([SECRET]), bytes, bytes.length);
    expect(masked(whole)).toBeGreaterThanOrEqual(least);
    expect(whole).toHaveLength(bytes.length);
    expect(whole).toMatch(/^before .* after$/s);
    for (let size = 1; size <= 9; size += 1)
      expect(scrubAll(new Scrubber([SECRET]), bytes, size), `in pieces of ${size}`).toBe(whole);
  });

  it("egress-gateway/E2: masks every secret, however the stream is cut, and changes nothing else", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "secret-1",
        "s3cr3t",
        "sec",
        "ret-1",
        "s",
        "%73",
        "\\u0073",
        "%",
        "&#115;",
        "\n",
        "c2VjcmV0LTE",
      ),
      fc.string({ maxLength: 6 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 9 }), (pieces, size) => {
        const bytes = Buffer.from(pieces.join(""), "utf8");
        const scrubber = new Scrubber(["secret-1", "s3cr3t"]);
        const out: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size)
          out.push(Buffer.from(scrubber.push(bytes.subarray(at, at + size))));
        out.push(scrubber.end());
        return (
          Buffer.concat(out).toString("utf8") === scrubbed(bytes.toString("utf8"), ["secret-1", "s3cr3t"])
        );
      }),
      { numRuns: 1000 },
    );
  }, 30_000);

  it("changes no text that has no secret", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => scrubbed(text, ["7f3a9c-token"]) === text),
      { numRuns: 500 },
    );
    const sse = 'event: a\ndata: {"a":"\\u0041"}\n\n';
    expect(scrubbed(sse, [SECRET])).toBe(sse);
  });

  it("leaves the white space around a secret", () => {
    expect(scrubbed(`data: ${SECRET}\n\nx`, [SECRET])).toBe(`data: ${"*".repeat(SECRET.length)}\n\nx`);
  });

  it("holds back only bytes that could begin a secret", () => {
    const scrubber = new Scrubber(["secret"]);
    expect(scrubber.push(Buffer.from("data: x\n\n")).toString()).toBe("data: x\n\n");
    expect(scrubber.push(Buffer.from("a sec")).toString()).toBe("a ");
    expect(scrubber.push(Buffer.from("ond")).toString()).toBe("second");
  });
});
