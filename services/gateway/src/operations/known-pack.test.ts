import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { agentOfPack } from "./agent-packs.ts";
import { isPackOf } from "./known-pack.ts";

const SHIPPED = new URL("../../../../agents", import.meta.url).pathname;
let own: string;
beforeEach(() => (own = mkdtempSync(join(tmpdir(), "antiphon-packs-"))));
afterEach(() => rmSync(own, { recursive: true, force: true }));

it.each(["claude", "codex", "pi", "mini-swe-agent", "model"])(
  "knows the pack %s as it is, and with another model of its host",
  async (name) => {
    const packs = [own, SHIPPED];
    expect(await isPackOf(packs, await agentOfPack(packs, name, undefined))).toBe(true);
    expect(await isPackOf(packs, await agentOfPack(packs, name, "another-model"))).toBe(true);
  },
);

it("knows no program under the name of a pack, however small the difference", async () => {
  const claude = await agentOfPack([SHIPPED], "claude", undefined);
  const forged = [
    { ...claude, argv: ["sh", "-c", "echo '{}' > findings.json"] },
    { ...claude, argv: [...claude.argv, "--more"] },
    { ...claude, env: { ...claude.env, NODE_OPTIONS: "--require ./mine.js" } },
    { ...claude, install: [...claude.install, "true"] },
    { ...claude, path: ["/workspace", ...claude.path] },
    { ...claude, name: "pi" },
    { ...claude, name: "../claude" },
  ];
  for (const one of forged) expect(await isPackOf([SHIPPED], one), JSON.stringify(one)).toBe(false);
  const strange = await agentOfPack([SHIPPED], "claude", "x");
  const spaced = JSON.parse(JSON.stringify(strange).replaceAll('"x"', '"x y; z"')) as typeof strange;
  expect(await isPackOf([SHIPPED], spaced)).toBe(false);
});

it("knows no command, no script and no pack of another deployment", async () => {
  mkdirSync(join(own, "mine"));
  writeFileSync(join(own, "mine", "agent.yaml"), `name: mine\nargv: ["mine"]\nprompt: stdin\n`);
  const mine = await agentOfPack([own], "mine", undefined);
  expect([await isPackOf([own], mine), await isPackOf([SHIPPED], mine)]).toEqual([true, false]);
  expect(await isPackOf([own], { kind: "command", argv: ["mine"] })).toBe(false);
  expect(await isPackOf([own], { kind: "scripted", commands: ["mine"] })).toBe(false);
});
