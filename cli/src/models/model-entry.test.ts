import { describe, expect, it } from "vitest";
import { modelEntry, withHost, withoutHost, type AddOptions } from "./model-entry.ts";

const options = (more: Partial<AddOptions> = {}): AddOptions => ({
  ...{ shape: "openai", price: ["*=0/0"], maxOutput: "8192" },
  ...more,
});

describe("a model host from the command line", () => {
  it("has prices in micro-dollars, a way for its calls, and where its key is", () => {
    const price = ["big*=2.50/10/0.25", "a=b=1/2"];
    const entry = modelEntry(
      "models.test",
      options({ price, baseUrl: "http://127.0.0.1:1/v1", keyEnv: "TEAM_KEY" }),
    );
    expect(entry).toEqual({
      model: {
        ...{ host: "models.test", shape: "openai", base_url: "http://127.0.0.1:1/v1" },
        prices: {
          "big*": { input: 2_500_000, output: 10_000_000, cache_read: 250_000, max_output: 8_192 },
          "a=b": { input: 1_000_000, output: 2_000_000, max_output: 8_192 },
        },
      },
      credential: { host: "models.test", env: "TEAM_KEY" },
    });
  });

  it("sends the key as its API expects it", () => {
    const { credential } = modelEntry("a.example", options({ shape: "anthropic", keyFile: "/run/key" }));
    expect(credential).toEqual({
      ...{ host: "a.example", header: "x-api-key", value: "${secret}" },
      file: "/run/key",
    });
  });

  it.each([
    [{ price: ["model"] }, "model=input/output"],
    [{ price: ["=1/2"] }, "model=input/output"],
    [{ price: ["m=1"] }, "model=input/output"],
    [{ price: ["m=-1/2"] }, "model=input/output"],
    [{ maxOutput: "0" }, "--max-output"],
    [{ maxOutput: "many" }, "--max-output"],
    [{ keyEnv: "A", keyFile: "b" }, "one of"],
  ])("refuses %j", (more, why) => {
    expect(() => modelEntry("a.example", options(more))).toThrow(why);
  });

  it("takes the place of the entries of its host, and leaves the others", () => {
    const other = { host: "other.example", shape: "openai", prices: {} } as const;
    const before = {
      package_hosts: ["p.example"],
      models: [other, { ...other, host: "A.example" }],
      credentials: [{ host: "a.example", env: "OLD" }],
    };
    const keyed = withHost(before, modelEntry("a.example", options({ keyEnv: "NEW" })));
    expect(keyed.models?.map(({ host }) => host)).toEqual(["other.example", "a.example"]);
    expect(keyed.credentials).toEqual([{ host: "a.example", env: "NEW" }]);
    const repriced = withHost(before, modelEntry("a.example", options()));
    expect(repriced.credentials).toEqual(before.credentials);
    expect(withoutHost(before, "A.EXAMPLE", "both")).toEqual({
      ...{ package_hosts: ["p.example"], models: [other], credentials: [] },
    });
  });
});
