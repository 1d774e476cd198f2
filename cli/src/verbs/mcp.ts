// antiphon mcp: lets any client of the Model Context Protocol submit, watch, answer and read runs.
import { examples } from "../context.ts";
import type { AddVerb } from "../context.ts";

interface McpOptions {
  /** False: --no-start. */
  readonly start: boolean;
  readonly allowDecisions: boolean;
}

export const addMcp: AddVerb = (program, context) => {
  program
    .command("mcp")
    .summary("serve the Model Context Protocol over stdin and stdout, for editors and agents")
    .description(
      "An MCP client starts this command and speaks JSON-RPC with it. Its tools start, watch, answer and cancel runs and read their changes and evidence, with the token of this environment.",
    )
    .option("--no-start", "do not start the services of this machine if no gateway answers")
    .option("--allow-decisions", "let the client approve and reject changes, too", false)
    .addHelpText("after", examples(["antiphon mcp", "claude mcp add antiphon -- antiphon mcp"]))
    .action(async ({ start, allowDecisions }: McpOptions) => {
      const [{ mcpServer, serveStdio }, { ensureGateway }, { placesOf }] = await Promise.all([
        import("../mcp/mcp-server.ts"),
        import("../gateway/local-gateway.ts"),
        import("../agents/pack-places.ts"),
      ]);
      const { config, version } = context;
      const tools = {
        config,
        gateway: () => context.gateway(),
        packs: placesOf(context),
        ensureGateway: async () => {
          if (start) await ensureGateway(context);
        },
        directory: process.cwd(),
      };
      await serveStdio(mcpServer(version, tools, allowDecisions));
    });
};
