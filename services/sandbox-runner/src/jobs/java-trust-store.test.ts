import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { afterAll, expect, test } from "vitest";
import { TRUST_STORE_PASSWORD } from "./egress-environment.ts";
import { javaTrustStore } from "./java-trust-store.ts";

const directory = mkdtempSync(join(tmpdir(), "trust-store-"));
afterAll(() => rmSync(directory, { recursive: true }));

const some = (count: number): string => rootCertificates.slice(0, count).join("\n");

test("a trust store counts its certificates and ends with the digest that Java computes", () => {
  const store = javaTrustStore(`# a comment\n${some(3)}`);
  expect(store.subarray(0, 12).toString("hex")).toBe("feedfeed0000000200000003");
  const password = Buffer.from(TRUST_STORE_PASSWORD.split("").flatMap((one) => [0, one.charCodeAt(0)]));
  const body = store.subarray(0, -20);
  const digest = createHash("sha1").update(password).update("Mighty Aphrodite").update(body).digest("hex");
  expect(store.subarray(-20).toString("hex")).toBe(digest);
});

test("no certificate gives an empty store", () => {
  expect(javaTrustStore("no certificate").readUInt32BE(8)).toBe(0);
});

const hasKeytool = spawnSync("keytool", ["-help"]).error === undefined;
test.runIf(hasKeytool)("keytool reads it", () => {
  const path = join(directory, "store");
  writeFileSync(path, javaTrustStore(some(5)));
  const listed = execFileSync("keytool", ["-list", "-keystore", path, "-storepass", TRUST_STORE_PASSWORD], {
    encoding: "utf8",
  });
  expect(listed).toContain("contains 5 entries");
});
