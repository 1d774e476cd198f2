import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createUser } from "@nats-io/nkeys";
import { describe, expect, it } from "vitest";
import { apiOf, readNatsUser } from "./nats-user.ts";

const seed = Buffer.from(createUser().getSeed()).toString();

describe("a service's NATS user", () => {
  it("is read from a file, or from the setting itself", () => {
    const dir = mkdtempSync(join(tmpdir(), "antiphon-user-"));
    try {
      const file = join(dir, "associate.nk");
      writeFileSync(file, `${seed}\n`);
      for (const credentials of [file, seed, `ANTIPHON_NATS_CREDS=${seed}\n`]) {
        const user = readNatsUser("associate", credentials);
        expect(user.principal).toBe("associate");
        expect(Buffer.from(user.seed).toString()).toBe(seed);
      }
      writeFileSync(file, "nothing");
      expect(() => readNatsUser("associate", file)).toThrow(/holds no seed/);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it("is refused with a code if there is none, and the message holds no seed", () => {
    expect(() => readNatsUser("associate", "/nowhere/associate.nk")).toThrow(/cannot be read \(ENOENT\)/);
    let thrown: unknown;
    try {
      readNatsUser("nobody", seed);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: "ANT_CONFIG_INVALID" });
    expect(JSON.stringify(thrown)).not.toContain(seed);
  });

  it("asks JetStream by another name, unless it shares the account of the streams", () => {
    const user = (principal: "associate" | "director") => ({ principal, seed: Buffer.from(seed) });
    expect(apiOf(user("associate"))).toEqual({ apiPrefix: "ANTIPHON.API" });
    expect(apiOf(user("director"))).toEqual({});
    expect(apiOf(undefined)).toEqual({});
  });
});
