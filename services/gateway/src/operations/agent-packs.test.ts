import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agentLines } from "./agent-packs.ts";

const SHIPPED = new URL("../../../../agents", import.meta.url).pathname;
const PACK = `name: mine\ninstall:\n  npm: ["mine@1.2.3"]\nargv: ["mine"]\nprompt: stdin\n`;
const MODEL = `model: { shape: openai, host: api.example.com, name: big }\n`;
let own: string;
beforeEach(() => (own = mkdtempSync(join(tmpdir(), "antiphon-packs-"))));
afterEach(() => rmSync(own, { recursive: true, force: true }));

function pack(name: string, text: string): void {
  mkdirSync(join(own, name));
  writeFileSync(join(own, name, "agent.yaml"), text);
}

describe("the agents that the page lists", () => {
  it("are those of this installation, each with its version and its model", async () => {
    const lines = await agentLines([join(own, "missing"), SHIPPED], null);
    const claude = lines.find(({ name }) => name === "claude");
    expect(claude?.packages[0]).toMatch(/@\d/);
    expect(claude?.model?.host).toBe("api.anthropic.com");
    expect(lines.map(({ state }) => state)).not.toContain("unreadable");
    expect(lines.map(({ name }) => name)).toEqual(lines.map(({ name }) => name).sort());
  });

  it("say whether the egress gateway can call their models, and why not", async () => {
    pack("mine", PACK + MODEL);
    const state = async (hosts: Parameters<typeof agentLines>[1]) => {
      const [line] = await agentLines([own], hosts);
      return [line?.state, line?.reason];
    };
    const host = { host: "api.example.com", key: "set" as const, reason: null };
    expect(await state([host])).toEqual(["ready", null]);
    expect(await state([{ ...host, key: "none" }])).toEqual(["ready", null]);
    expect(await state([{ ...host, key: "missing", reason: "KEY is not set" }])).toEqual([
      "no key",
      "KEY is not set",
    ]);
    expect(await state([])).toEqual(["no prices", "the egress gateway does not know api.example.com"]);
    expect(await state(null)).toEqual(["unknown", "no egress gateway answers"]);
  });

  it("are listed with their fault if they cannot be read, and the folder of the first one counts", async () => {
    pack("broken", "name: [");
    pack("claude", PACK);
    mkdirSync(join(own, "empty"));
    writeFileSync(join(own, "a-file"), "");
    const lines = await agentLines([own, SHIPPED], null);
    expect(lines.find(({ name }) => name === "broken")).toMatchObject({ state: "unreadable" });
    expect(lines.find(({ name }) => name === "claude")).toMatchObject({ packages: ["mine@1.2.3"] });
    expect(lines.map(({ name }) => name)).not.toContain("empty");
  });
});
