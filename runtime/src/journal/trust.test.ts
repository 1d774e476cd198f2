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

/** As an operator does it: a new file replaces the old one. */
function pin(...keys: readonly SigningKey[]): void {
  writeFileSync(`${file}.new`, JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));
  renameSync(`${file}.new`, file);
}

describe("trust in the keys of a file", () => {
  test("believes signatures of a pinned key, and says why it doubts any other", async () => {
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

  test("doubts a key that is listed under another key's thumbprint", () => {
    const { doubt } = pinnedTrust([{ ...theirs.jwk, kid: ours.jwk.kid }]);
    const text = `${ours.jwk.kid}.${signRecord(theirs, DIGEST).split(".")[1] ?? ""}`;
    expect(doubt(text, DIGEST)).not.toBeNull();
  });

  test("believes an added key without a restart, and a removed key until the process ends", async () => {
    pin(ours);
    const trust = await openTrust(file, 0);
    expect(trust.doubt(signRecord(later, DIGEST), DIGEST)).not.toBeNull();
    pin(later);
    expect(trust.doubt(signRecord(later, DIGEST), DIGEST)).toBeNull();
    expect(trust.doubt(signRecord(ours, DIGEST), DIGEST)).toBeNull();
    expect(trust.keys()).toHaveLength(2);
  });

  test("a file that becomes unreadable changes nothing", async () => {
    pin(ours);
    const { doubt } = await openTrust(file, 0);
    writeFileSync(file, "{");
    expect(doubt(signRecord(theirs, DIGEST), DIGEST)).not.toBeNull();
    expect(doubt(signRecord(ours, DIGEST), DIGEST)).toBeNull();
  });

  test("waits for a file that is about to be created; a missing one is ANT_TRUST_MISSING", async () => {
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

  test("without keys it believes nothing", () => {
    expect(noTrust.doubt(signRecord(ours, DIGEST), DIGEST)).not.toBeNull();
  });
});
