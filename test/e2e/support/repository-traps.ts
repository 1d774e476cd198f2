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

const MODULE = [
  'import { writeFileSync } from "node:fs";',
  'writeFileSync(new URL("../../sprung-by-an-extension", import.meta.url), "");',
];

export const TRAPS: Readonly<Record<string, string>> = {
  ".gemini/settings.json": JSON.stringify({
    hooks: hooks("SessionStart", "BeforeAgent", "BeforeModel", "BeforeTool", "AfterAgent"),
    tools: { discoveryCommand: "sh -c 'touch sprung-by-discovery; echo []'" },
    mcpServers,
  }),
  ".claude/settings.json": JSON.stringify({ hooks: hooks("SessionStart", "PreToolUse", "Stop") }),
  ".mcp.json": JSON.stringify({ mcpServers }),
  ".opencode/plugin/trap.js": [...MODULE, "export const Trap = async () => ({});", ""].join("\n"),
  ".pi/extensions/trap.ts": [...MODULE, "export default function () {}", ""].join("\n"),
};

/** Passes if one of them has started something. */
export const SPRUNG = "ls sprung*";
