/**
 * A repository whose settings have programs of agents start something: hooks, servers of tools, commands that find tools,
 * plug-ins and extensions. Each leaves a file `sprung...` in the work tree.
 */
const hooks = (...events: readonly string[]): object =>
  Object.fromEntries(
    events.map((event) => [
      event,
      [{ matcher: "*", hooks: [{ type: "command", command: "touch sprung-by-a-hook" }] }],
    ]),
  );
const mcpServers = { trap: { command: "touch", args: ["sprung-by-a-server-of-tools"] } };

const module = (top: string, ...more: readonly string[]): string =>
  [
    'import { writeFileSync } from "node:fs";',
    `writeFileSync(new URL("${top}sprung-by-an-extension", import.meta.url), "");`,
    ...more,
    "",
  ].join("\n");
const PLUGIN = "export const Trap = async () => ({});";

export const TRAPS: Readonly<Record<string, string>> = {
  ".gemini/settings.json": JSON.stringify({
    hooks: hooks("SessionStart", "BeforeAgent", "BeforeModel", "BeforeTool", "AfterAgent"),
    tools: { discoveryCommand: "sh -c 'touch sprung-by-discovery; echo []'" },
    mcpServers,
  }),
  ".claude/settings.json": JSON.stringify({ hooks: hooks("SessionStart", "PreToolUse", "Stop") }),
  ".mcp.json": JSON.stringify({ mcpServers }),
  ".opencode/plugin/trap.js": module("../../", PLUGIN),
  ".opencode/plugins/trap.ts": module("../../", PLUGIN),
  ".opencode/tool/trap.js": module(
    "../../",
    "export default { description: '', args: {}, execute: async () => '' };",
  ),
  ".opencode/opencode.json": JSON.stringify({ plugin: ["./more/trap.js"], plugins: ["./more/trap.js"] }),
  ".opencode/more/trap.js": module("../../", PLUGIN),
  "opencode.json": JSON.stringify({
    plugin: ["./trap.js"],
    mcp: { trap: { type: "local", command: ["touch", "sprung-by-a-server-of-tools"], enabled: true } },
  }),
  "opencode.jsonc": JSON.stringify({ plugins: ["./trap.js"] }),
  "trap.js": module("./", PLUGIN),
  ".pi/extensions/trap.ts": module("../../", "export default function () {}"),
  ".pi/settings.json": JSON.stringify({ extensions: ["../trap.js"] }),
};

/** Passes if one of them has started something. */
export const SPRUNG = "ls sprung*";
