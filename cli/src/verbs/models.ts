// antiphon models list|add|remove|test: the hosts of model calls that the deployment meters.
import { Option } from "commander";
import type { EgressConfig, ModelHostView, ModelsReply } from "@antiphon/contracts";
import { examples } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import type { AddOptions } from "../models/model-entry.ts";
import { printList } from "../screen/list.ts";
import { table } from "../screen/table.ts";

type Models = Extract<ModelsReply, { ok: true }>;
type Json = { json?: boolean };

const MICRO = 1_000_000;
const collect = (value: string, before: readonly string[]): string[] => [...before, value];

export const addModels: AddVerb = (program, context) => {
  const models = program
    .command("models")
    .summary("list, add or test hosts of model calls, with prices and keys");
  models
    .command("list")
    .summary("list the model hosts, whether their key is there, and the prices of one")
    .argument("[host]", "show the prices of this host")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon models list", "antiphon models list api.openai.com"]))
    .action(async (host: string | undefined, { json }: Json) => {
      const answer = await (await context.gateway()).get("/models");
      if (json === true) context.screen.json(answer);
      else show(context, answer, host ?? null);
    });
  models
    .command("test")
    .summary("ask a host which models it has, with the deployment's key; this costs nothing")
    .argument("<host>", "as `antiphon models list` names it")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon models test api.anthropic.com"]))
    .action((host: string, { json }: Json) => test(context, host, json === true));
  models
    .command("add")
    .summary("add a host, or replace its prices, in the configuration of this machine's egress gateway")
    .argument("<host>", "the name under which programs in sandboxes call it")
    .addOption(
      new Option("--shape <api>", "the API it speaks")
        .choices(["openai", "anthropic", "gemini"])
        .default("openai"),
    )
    .option(
      "--price <p>",
      "model=input/output[/cached], dollars per million tokens (repeatable)",
      collect,
      [],
    )
    .option("--max-output <tokens>", "the longest answer of its models", "32768")
    .option("--base-url <url>", "where its calls go, with the version: http://127.0.0.1:11434/v1")
    .option("--key-env <variable>", "environment variable of the egress gateway that holds its key")
    .option("--key-file <file>", "file that holds its key")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      examples([
        "antiphon models add models.test --base-url http://127.0.0.1:11434/v1 --price '*=0/0'",
        "antiphon models add openrouter.ai --price 'some/model=0.50/2' --key-env OPENROUTER_API_KEY",
      ]),
    )
    .action((host: string, options: AddOptions & Json) => add(context, host, options));
  models
    .command("remove")
    .summary("remove a host and its key's entry from that configuration")
    .argument("<host>", "as `antiphon models list` names it")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon models remove models.test"]))
    .action((host: string, { json }: Json) => remove(context, host, json === true));
};

async function add(context: CliContext, host: string, options: AddOptions & Json): Promise<void> {
  const { modelEntry, withHost } = await import("../models/model-entry.ts");
  const entry = modelEntry(host, options);
  await change(context, host, options.json === true, (config) => withHost(config, entry));
}

async function remove(context: CliContext, host: string, json: boolean): Promise<void> {
  const { withoutHost } = await import("../models/model-entry.ts");
  await change(context, host, json, (config) => withoutHost(config, host, "both"));
}

/** The egress gateway reads its file again when it is asked next. */
async function change(
  context: CliContext,
  host: string,
  json: boolean,
  edit: (config: EgressConfig) => EgressConfig,
): Promise<void> {
  const { readConfig, writeConfig } = await import("../models/config-file.ts");
  const gateway = await context.gateway();
  const before = await gateway.get("/models");
  const { path, config } = readConfig(before.file);
  writeConfig(path, edit(config));
  const answer = await gateway.get("/models");
  const refused = answer.unusable.find(({ entry }) => entry === `models/${host}`);
  if (refused !== undefined) {
    writeConfig(path, config);
    const { Failure } = await import("../failure.ts");
    throw new Failure("ANT_CONFIG_INVALID", `${host} would not be used: ${refused.reason}`, {
      remedy: "nothing was changed; `antiphon models add --help` shows what a host may be",
    });
  }
  if (json) context.screen.json(answer);
  else show(context, answer, answer.hosts.some((one) => one.host === host.toLowerCase()) ? host : null);
}

async function test(context: CliContext, host: string, json: boolean): Promise<void> {
  const answer = await (await context.gateway()).post("/models/test", {}, { op: "test", host });
  const { trial } = answer;
  context.setExitCode(trial?.works === true ? 0 : 1);
  if (json) return context.screen.json(answer);
  if (trial === undefined) return;
  context.screen.out(
    `${trial.host}: ${trial.works ? "works" : "does not work"}: ${trial.said} (${trial.ms} ms)`,
  );
  for (const model of trial.models) context.screen.out(`  ${model}`);
}

function show({ screen }: CliContext, { hosts, unusable, file }: Models, name: string | null): void {
  const rows = hosts.map((host) => [
    host.host,
    host.shape,
    keyWords(host),
    String(Object.keys(host.prices).length),
    host.upstream === null ? host.origin : `${host.origin}, calls go to ${host.upstream}`,
  ]);
  printList(screen, ["HOST", "SHAPE", "KEY", "PRICES", "FROM"], rows);
  for (const { entry, reason } of unusable) screen.out(`not used: ${entry}: ${reason}`);
  if (file !== null && name === null) screen.out(`configuration: ${file}`);
  const one = hosts.find(({ host }) => host === name?.toLowerCase());
  if (one === undefined) return;
  const prices = Object.entries(one.prices).map(([model, { input, output }]) => [
    `  ${model}`,
    `$${input / MICRO} in`,
    `$${output / MICRO} out`,
    "per million tokens",
  ]);
  for (const row of table(prices)) screen.out(row.trimEnd());
}

function keyWords({ key, reason }: ModelHostView): string {
  if (key === "set") return "key set";
  return key === "none" ? "no key needed" : `no key: ${reason ?? ""}`;
}
