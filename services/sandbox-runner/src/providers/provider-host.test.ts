import { describe, expect, it } from "vitest";
import { readSandboxConfig } from "../config.ts";
import { refuseProvider } from "./provider-host.ts";

const config = (env: Record<string, string>) => readSandboxConfig({ ANTIPHON_STATE_DIR: "/nowhere", ...env });

describe("the provider of a runner", () => {
  it("is Docker in production by default", () => {
    expect(config({})).toMatchObject({ mode: "production", provider: "docker" });
    refuseProvider(config({}));
  });

  it("sandbox-runner/S11: is never bubblewrap in production", () => {
    expect(() => refuseProvider(config({ ANTIPHON_SANDBOX_PROVIDER: "bubblewrap" }))).toThrow(
      /development only/,
    );
    const chosen = config({ ANTIPHON_SANDBOX_PROVIDER: "bubblewrap", ANTIPHON_MODE: "development" });
    refuseProvider(chosen);
    expect(chosen.image).toBe("host");
  });

  it.each(["docker", "e2b", "microsandbox"])("may be %s in production", (name) => {
    refuseProvider(config({ ANTIPHON_SANDBOX_PROVIDER: name }));
  });

  it("is reached with the key from its environment, and makes machines of the configured template", () => {
    const chosen = { ANTIPHON_SANDBOX_PROVIDER: "e2b", E2B_API_KEY: "k", E2B_DOMAIN: "e2b.example" };
    expect(config(chosen)).toMatchObject({ image: "base", e2b: { apiKey: "k", domain: "e2b.example" } });
    expect(config({ ...chosen, ANTIPHON_SANDBOX_IMAGE: "mine" }).image).toBe("mine");
    expect(config({}).e2b.apiKey).toBeNull();
  });

  it.each(["host", "exec", "local", "none", "Docker", "toString"])(
    "sandbox-runner/S11: is never the host itself: %s",
    (name) => {
      for (const mode of ["production", "development"])
        expect(() => config({ ANTIPHON_SANDBOX_PROVIDER: name, ANTIPHON_MODE: mode })).toThrow(
          /not one of docker/,
        );
    },
  );

  it("is refused in an unknown mode", () => {
    expect(() => config({ ANTIPHON_MODE: "dev" })).toThrow(/production or development/);
  });
});
