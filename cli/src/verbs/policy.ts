// antiphon policy check|explain: shows the policy of a repository, or checks an intent against it.
import { resolve } from "node:path";
import type { PolicyExplanation } from "@antiphon/client";
import { examples } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { Failure } from "../failure.ts";
import type { RunFlags } from "../runs/run-request.ts";
import { addSimulate } from "./policy-simulate.ts";
import { table } from "../screen/table.ts";

/** Options of `run` that do not change the intent. */
const NOT_OF_THE_INTENT: ReadonlySet<string> = new Set(["--follow", "--detach", "--json", "--recording"]);

export const addPolicy: AddVerb = (program, context) => {
  const policy = program
    .command("policy")
    .summary("show the policy of a repository, or check an intent against it");
  policy
    .command("explain")
    .summary("show the policy profiles that apply to a repository, and the rule that selects each")
    .requiredOption("--repo <path>", "the git repository")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon policy explain --repo ./app"]))
    .action(async ({ repo, json }: { repo: string; json?: boolean }) => {
      const gateway = await context.gateway();
      const answer = await gateway.get("/policy", { repo: resolve(repo) });
      if (json === true) return context.screen.json(answer);
      explain(context, answer);
    });
  const check = policy
    .command("check")
    .summary("check whether an intent would be accepted, without starting it; takes the options of `run`")
    .argument("<intent...>", "the goal of the run, in plain words")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      examples(['antiphon policy check "Fix it" --repo . --command "./fix.sh" --land main']),
    );
  addSimulate(policy, context);
  const run = program.commands.find((command) => command.name() === "run");
  for (const option of run?.options ?? [])
    if (!NOT_OF_THE_INTENT.has(option.long ?? "")) check.addOption(option);
  check.action(async (words: string[], options: RunFlags & { json?: boolean }) => {
    await checkIntent(context, words.join(" "), options);
  });
};

async function checkIntent(
  context: CliContext,
  goal: string,
  options: RunFlags & { json?: boolean },
): Promise<void> {
  const { loadFiles } = await import("../runs/run-files.ts");
  const { intentOf } = await import("../runs/run-request.ts");
  const { placesOf } = await import("../agents/pack-places.ts");
  const flags: RunFlags = context.program === null ? options : { ...options, program: context.program };
  const { loadPlan } = await import("../runs/plan-source.ts");
  const plan = flags.plan === undefined ? null : await loadPlan(flags.plan, () => context.gateway());
  const files = { ...(await loadFiles(flags, placesOf(context))), plan };
  const intent = intentOf(goal, resolve(flags.repo ?? "."), flags, files);
  const answer = await (await context.gateway()).post("/policy/check", {}, intent);
  const { refusal } = answer;
  if (options.json === true) {
    context.screen.json(answer);
    if (refusal !== null) context.setExitCode(1);
    return;
  }
  if (refusal !== null)
    throw new Failure("ANT_POLICY_REFUSED", refusal.reason, { data: refusal, exitCode: 1 });
  context.screen.out(`allowed by ${answer.holds.map(({ name }) => name).join(", ")}`);
}

function explain(
  { screen }: CliContext,
  { repo, principal, holds, profiles, globalLimits }: PolicyExplanation,
): void {
  screen.out(`${repo}, requested by ${principal}`);
  for (const { name, place, rule } of holds) {
    const why = rule === null ? "the default profile" : `rule ${rule} of the policies`;
    screen.out(`profile ${name} applies to ${place}: ${why}`);
  }
  const says = profiles.flatMap(({ name, ...fields }) =>
    Object.entries(fields).map(([rule, value]) => [name, rule, JSON.stringify(value)]),
  );
  const limits = Object.entries(globalLimits).map(([rule, value]) => {
    return ["all", `globalLimits.${rule}`, JSON.stringify(value)];
  });
  for (const row of table([...says, ...limits])) screen.out(row.trimEnd());
}
