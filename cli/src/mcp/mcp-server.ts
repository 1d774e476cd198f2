// The MCP server: the tools, over stdin and stdout, until the client closes them.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { addAnswerQuestion, addDecide } from "./decision-tools.ts";
import { addGetDiff, addGetEvidence, addGetLogs } from "./evidence-tools.ts";
import { addCancelRun, addGetRun, addListRuns, addStartRun, addWaitForRun } from "./run-tools.ts";
import type { ToolContext } from "./tool.ts";

/** For every client. */
const TOOLS = [
  addStartRun,
  addWaitForRun,
  addGetRun,
  addListRuns,
  addGetDiff,
  addGetLogs,
  addGetEvidence,
  addAnswerQuestion,
  addCancelRun,
];

const INSTRUCTIONS =
  "Antiphon turns an intent and a git repository into a verified, signed, landed commit, or an honest failure. Start a run, wait for it, read its diff and evidence. When it waits for a person, show them the question or the diff; pass on an answer to a question. Changes are approved or rejected by people.";

/** `mayDecide`: the client may approve changes, too. Without it, a model cannot let its own change land. */
export function mcpServer(version: string, context: ToolContext, mayDecide: boolean): McpServer {
  const server = new McpServer({ name: "antiphon", version }, { instructions: INSTRUCTIONS });
  for (const add of TOOLS) add(server, context);
  if (mayDecide) addDecide(server, context);
  return server;
}

/** Resolves when the client has closed stdin, and stops what is still being watched. */
export async function serveStdio(server: McpServer): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve);
    process.stdin.once("close", resolve);
  });
  await server.connect(new StdioServerTransport());
  await ended;
  await server.close();
}
