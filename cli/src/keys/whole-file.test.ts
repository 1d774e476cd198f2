import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeUsers } from "../nats/nats-users.ts";
import { createWhole } from "./whole-file.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "antiphon-whole-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe("a file that is created whole", () => {
  it("has its mode, and is left as it is once it exists", () => {
    const file = join(directory, "key");
    expect([createWhole(file, () => "one\n", 0o600), createWhole(file, () => "two\n", 0o600)]).toEqual([
      true,
      false,
    ]);
    expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual(["one\n", 0o600]);
    expect(readdirSync(directory)).toEqual(["key"]);
  });

  it("is not there if its content cannot be written", () => {
    const full = (): string => {
      throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    };
    expect(() => createWhole(join(directory, "key"), full, 0o600)).toThrow("ENOSPC");
    expect(readdirSync(directory)).toEqual([]);
  });

  it("takes the place of an empty seed, which a full disk left, and of no other", () => {
    const { keys } = makeUsers(directory);
    writeFileSync(join(directory, "gateway.nk"), "");
    const again = makeUsers(directory);
    expect(again.made).toEqual(["gateway"]);
    expect({ ...again.keys, gateway: null }).toEqual({ ...keys, gateway: null });
  });
});
