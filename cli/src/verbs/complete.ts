// antiphon complete -- <words>: what may come next; called by the completion scripts (completion/shell-scripts.ts).
import { examples } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import type { Candidate } from "../completion/candidates.ts";
import { COMPLETE } from "../completion/command-tree.ts";

/** A shell waits for the answer at each press of the key. */
const PATIENCE_MS = 1_500;
const RUNS = 50;

export const addComplete: AddVerb = (program, context) => {
  program
    .command(COMPLETE, { hidden: true })
    .summary("list what may come next on a command line")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon complete -- images all"]))
    .action(async (options: { json?: boolean }) => {
      const { candidates } = await import("../completion/candidates.ts");
      const { commandTree } = await import("../completion/command-tree.ts");
      const { DIRECTORIES, FILES } = await import("../completion/shell-scripts.ts");
      const found = candidates(commandTree(program), context.program ?? []);
      if (found.kind === "files") return context.screen.out(FILES);
      if (found.kind === "directories") return context.screen.out(DIRECTORIES);
      const words = await wordsOf(context, found);
      if (options.json === true) return context.screen.json({ words });
      for (const { word, description } of words)
        context.screen.out(`${word}\t${description.replaceAll(/\s/g, " ").slice(0, 100)}`);
    });
};

async function wordsOf(
  context: CliContext,
  found: { kind: "runs" | "names" } | { kind: "words"; words: readonly Candidate[] },
): Promise<readonly Candidate[]> {
  if (found.kind === "words") return found.words;
  return found.kind === "names" ? names() : runs(context);
}

async function names(): Promise<Candidate[]> {
  const { ERROR_CODES, ERRORS } = await import("@antiphon/contracts/errors");
  const { contractList } = await import("@antiphon/contracts/reference/explain");
  const codes = ERROR_CODES.map((word) => ({ word, description: ERRORS[word].meaning }));
  return [...codes, ...contractList().map(({ name, description }) => ({ word: name, description }))];
}

/** The newest runs; none if the gateway does not answer at once. */
async function runs({ config }: CliContext): Promise<Candidate[]> {
  const { authorization } = await import("../config.ts");
  const { http } = await import("../gateway/http-exchange.ts");
  const { gatewayAddress } = await import("../gateway/local-gateway.ts");
  const asked = { method: "GET", headers: authorization(config.token), timeoutMs: PATIENCE_MS };
  const url = `${gatewayAddress(config)}/runs?limit=${RUNS}`;
  const answer = await http.exchange(url, asked).catch(() => null);
  if (answer?.status !== 200) return [];
  const { runs } = JSON.parse(answer.body.toString()) as {
    runs: { runId: string; status: string; goal: string }[];
  };
  return runs.map(({ runId, status, goal }) => ({ word: runId, description: `${status}: ${goal}` }));
}
