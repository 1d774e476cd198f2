// antiphon agents list|show|add|test: the agent packs that `antiphon run --agent` knows.
import { dirname, join, resolve } from "node:path";
import type { AgentPack } from "@antiphon/contracts/settings/agent-pack";
import { placesOf } from "../agents/pack-places.ts";
import { examples } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { usage } from "../failure.ts";
import { printList } from "../screen/list.ts";

type Json = { json?: boolean };

export const addAgents: AddVerb = (program, context) => {
  const agents = program.command("agents").summary("list, show, add or test agent packs");
  agents
    .command("list")
    .summary("list the agent packs, their versions and models")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon agents list"]))
    .action(async ({ json }: Json) => list(context, json === true));
  agents
    .command("show")
    .summary("show how a pack is installed and started")
    .argument("<pack>", "its name or its directory")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon agents show claude"]))
    .action(async (name: string, { json }: Json) => show(context, name, json === true));
  agents
    .command("add")
    .summary("check a pack of your own and keep it, so that --agent finds it by its name")
    .argument("<directory>", "a directory with an agent.yaml")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon agents add ./my-agent"]))
    .action(async (directory: string, { json }: Json) => add(context, directory, json === true));
  agents
    .command("test")
    .summary("install a pack in a sandbox and ask its program for its version")
    .argument("<pack>", "its name or its directory")
    .option(
      "--repo <path>",
      "the git repository in whose environment it is tried (default: the one around you)",
    )
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon agents test codex"]))
    .action(async (name: string, options: Json & { repo?: string }) => tryOut(context, name, options));
};

async function list(context: CliContext, json: boolean): Promise<void> {
  const { allPacks } = await import("../agents/packs.ts");
  const found = allPacks(placesOf(context));
  if (json) return context.screen.json({ agents: found.map(({ pack, origin }) => ({ ...pack, origin })) });
  const rows = found.map(({ pack, origin }) => [
    pack.name,
    versionOf(pack),
    pack.model?.name ?? "-",
    origin === "own" ? "your own" : "",
    pack.description ?? "",
  ]);
  printList(context.screen, ["AGENT", "PACKAGE", "MODEL", "ORIGIN", "PROGRAM"], rows);
}

function versionOf({ install }: AgentPack): string {
  return (
    [...(install?.npm ?? []), ...(install?.pip ?? [])][0] ??
    (install === undefined ? "of the image" : "by commands")
  );
}

async function named(context: CliContext, name: string): Promise<AgentPack> {
  const { findPack } = await import("../agents/packs.ts");
  const pack = findPack(name, placesOf(context));
  if (pack === null)
    throw usage(`there is no agent pack ${JSON.stringify(name)}`, "`antiphon agents list` lists them");
  return pack;
}

async function show(context: CliContext, name: string, json: boolean): Promise<void> {
  const { packAgent } = await import("@antiphon/contracts/runs/pack-agent");
  const pack = await named(context, name);
  const agent = packAgent(pack);
  if (json) return context.screen.json({ pack, agent });
  const out = (line: string): void => context.screen.out(line);
  out(`${pack.name}  ${pack.description ?? ""}`.trimEnd());
  for (const command of agent.install) out(`  installed by  ${shortly(command)}`);
  out(`  started as    ${agent.argv.join(" ")}`);
  out(`  goes on       ${agent.resume?.join(" ") ?? withoutConversation(pack)}`);
  out(`  is told by    ${pack.prompt === "argument" ? "its last word" : "standard input"}`);
  out(`  what it used  ${usagePlace(pack)}`);
  if (pack.model !== undefined)
    out(`  calls         ${pack.model.name} at ${pack.model.host} (${pack.model.shape})`);
  for (const [variable, value] of Object.entries(agent.env)) out(`  sets          ${variable}=${value}`);
}

function withoutConversation({ prompt }: AgentPack): string {
  return prompt === "compile"
    ? "in a fresh container, told its task, question and answer"
    : "as at first, told its task, question and answer";
}

function usagePlace({ usage, transcript }: AgentPack): string {
  if (usage === undefined) return "it does not say";
  const events = usage.event === undefined ? "in the events" : `in the events ${usage.event}`;
  return `${events} of ${usage.from?.file ?? transcript?.file ?? "its output"}`;
}

/** The content of a file of the pack says nothing to people. */
function shortly(command: string): string {
  return command.replace(/ echo [A-Za-z0-9+/=]{60,} /, " echo ... ");
}

async function add(context: CliContext, directory: string, json: boolean): Promise<void> {
  const { cpSync } = await import("node:fs");
  const { completePack, readPack } = await import("../agents/packs.ts");
  const from = resolve(directory);
  const pack = readPack(join(from, "agent.yaml"));
  completePack(join(from, "agent.yaml"));
  const to = join(placesOf(context).own, pack.name, "agent.yaml");
  for (const name of ["agent.yaml", ...(pack.install?.files ?? [])])
    cpSync(join(from, name), join(dirname(to), name));
  if (json) return context.screen.json({ name: pack.name, file: to });
  context.screen.out(`${pack.name} is kept; use it with: antiphon run "..." --agent ${pack.name}`);
}

/** A run whose agent is the installed program, asked for its version; what it prints is in the run's evidence. */
async function tryOut(context: CliContext, name: string, options: Json & { repo?: string }): Promise<void> {
  const pack = await named(context, name);
  const { repositoryOf } = await import("../runs/repository-place.ts");
  const { runToEnd } = await import("../agents/pack-trial.ts");
  const outcome = await runToEnd(context, pack, repositoryOf(options.repo));
  if (options.json === true) context.screen.json(outcome);
  else context.screen.out(`${pack.name}: ${outcome.works ? "works" : "does not work"}: ${outcome.said}`);
  context.setExitCode(outcome.works ? 0 : 1);
}
