import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSigningKey, signRecord, type SigningKey } from "../process/signing-key.ts";
import { noTrust, openTrust, pinnedTrust } from "./trust.ts";

const [ours, theirs, later] = [openSigningKey(null), openSigningKey(null), openSigningKey(null)];
const DIGEST = `sha256-${"d".repeat(43)}`;

let dir = "";
let file = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "antiphon-trust-"));
  file = join(dir, "trusted-keys.json");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** As an operator does it: a new file in the place of the old one. */
function pin(...keys: readonly SigningKey[]): void {
  writeFileSync(`${file}.new`, JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));
  renameSync(`${file}.new`, file);
}

describe("trust in the keys of a file", () => {
  test("Y10 believes what a pinned key signed, and says why it believes nothing else", async () => {
    pin(ours);
    const { doubt } = await openTrust(file, 0);
    expect(doubt(signRecord(ours, DIGEST), DIGEST)).toBeNull();
    expect(doubt(signRecord(theirs, DIGEST), DIGEST)).toContain(theirs.jwk.kid);
    expect(doubt(signRecord(ours, DIGEST), `${DIGEST}x`)).toBe("its signature does not verify");
    expect(doubt("", DIGEST)).toBe("it bears no signature");
    expect(doubt("half", DIGEST)).toBe("its signature cannot be read");
    const borrowed = `${ours.jwk.kid}.${signRecord(theirs, DIGEST).split(".")[1] ?? ""}`;
    expect(doubt(borrowed, DIGEST)).toBe("its signature does not verify");
  });

  test("Y10 a key under another one's thumbprint is nobody's", () => {
    const { doubt } = pinnedTrust([{ ...theirs.jwk, kid: ours.jwk.kid }]);
    const text = `${ours.jwk.kid}.${signRecord(theirs, DIGEST).split(".")[1] ?? ""}`;
    expect(doubt(text, DIGEST)).not.toBeNull();
  });

  test("TK1 a key that is added is believed without a restart; one that is taken out stays believed", async () => {
    pin(ours);
    const trust = await openTrust(file, 0);
    expect(trust.doubt(signRecord(later, DIGEST), DIGEST)).not.toBeNull();
    pin(later);
    expect(trust.doubt(signRecord(later, DIGEST), DIGEST)).toBeNull();
    expect(trust.doubt(signRecord(ours, DIGEST), DIGEST)).toBeNull();
    expect(trust.keys()).toHaveLength(2);
  });

  test("TK2 a file that becomes unreadable adds nothing and takes nothing away", async () => {
    pin(ours);
    const { doubt } = await openTrust(file, 0);
    writeFileSync(file, "{");
    expect(doubt(signRecord(theirs, DIGEST), DIGEST)).not.toBeNull();
    expect(doubt(signRecord(ours, DIGEST), DIGEST)).toBeNull();
  });

  test("a file that is about to be made is waited for; one that is not made is ANT_TRUST_MISSING", async () => {
    const opening = openTrust(file, 5_000);
    pin(ours);
    expect((await opening).doubt(signRecord(ours, DIGEST), DIGEST)).toBeNull();
    await expect(openTrust(join(dir, "none.json"), 0)).rejects.toMatchObject({ code: "ANT_TRUST_MISSING" });
  });

  test.each([
    ["not JSON", "{", "ANT_CONFIG_INVALID"],
    ["no set", "[]", "ANT_CONFIG_INVALID"],
    ["a private half", JSON.stringify({ keys: [{ ...ours.jwk, d: "x" }] }), "ANT_CONFIG_INVALID"],
    [
      "a wrong thumbprint",
      JSON.stringify({ keys: [{ ...ours.jwk, kid: theirs.jwk.kid }] }),
      "ANT_CONFIG_INVALID",
    ],
    ["no key", '{"keys":[]}', "ANT_TRUST_MISSING"],
  ])("a file with %s is refused by its code", async (_, text, code) => {
    writeFileSync(file, text);
    await expect(openTrust(file, 0)).rejects.toMatchObject({ code });
  });

  test("without keys nothing is believed", () => {
    expect(noTrust.doubt(signRecord(ours, DIGEST), DIGEST)).not.toBeNull();
  });
});
