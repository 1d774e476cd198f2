import { describe, expect, test } from "vitest";
import { readAssociateConfig } from "./config.ts";

describe("readAssociateConfig", () => {
  test("an empty environment gives the defaults", () => {
    const config = readAssociateConfig({ ANTIPHON_STATE_DIR: "/state" });
    expect(config).toEqual({
      associate: null,
      slots: 2,
      cacheDir: "/state/cache/associate-trees",
      claimsDir: "/state/claims",
      sandboxPatienceMs: 30_000,
    });
  });

  test.each([
    ["ANTIPHON_ASSOCIATE_SLOTS", "0"],
    ["ANTIPHON_ASSOCIATE_SLOTS", "two"],
    ["ANTIPHON_ASSOCIATE_ID", "no spaces"],
    ["ANTIPHON_SANDBOX_PATIENCE_MS", "-1"],
  ])("%s=%s is ANT_CONFIG_INVALID and names the variable", (name, value) => {
    expect(() => readAssociateConfig({ [name]: value })).toThrow(
      expect.objectContaining({
        code: "ANT_CONFIG_INVALID",
        detail: expect.stringContaining(name) as string,
      }),
    );
  });
});
