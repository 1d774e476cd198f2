// The command tree.
import { Command } from "commander";
import type { OutputConfiguration } from "commander";
import { refuseBlankValues } from "./blank-values.ts";
import type { AddVerb, CliContext } from "./context.ts";
import { addAgents } from "./verbs/agents.ts";
import { addAnswer } from "./verbs/answer.ts";
import { addAttach } from "./verbs/attach.ts";
import { addBakeoff } from "./verbs/bakeoff.ts";
import { addCancel } from "./verbs/cancel.ts";
import { addCheck } from "./verbs/check.ts";
import { addComplete } from "./verbs/complete.ts";
import { addCompletion } from "./verbs/completion.ts";
import { addApprove, addChanges, addReject } from "./verbs/decide.ts";
import { addDecode } from "./verbs/decode.ts";
import { addDev } from "./verbs/dev.ts";
import { addDiff } from "./verbs/diff.ts";
import { addDlq } from "./verbs/dlq.ts";
import { addDoctor } from "./verbs/doctor.ts";
import { addEvents } from "./verbs/events.ts";
import { addEvidence } from "./verbs/evidence.ts";
import { addExplain } from "./verbs/explain.ts";
import { addFindings } from "./verbs/findings.ts";
import { addFork } from "./verbs/fork.ts";
import { addGet } from "./verbs/get.ts";
import { addLogs } from "./verbs/logs.ts";
import { addOpen } from "./verbs/open.ts";
import { addPause, addResume } from "./verbs/pause.ts";
import { addInit } from "./verbs/init.ts";
import { addKeys } from "./verbs/keys.ts";
import { addImages } from "./verbs/images.ts";
import { addModels } from "./verbs/models.ts";
import { addMcp } from "./verbs/mcp.ts";
import { addNats } from "./verbs/nats.ts";
import { addPolicy } from "./verbs/policy.ts";
import { addPrune } from "./verbs/prune.ts";
import { addReplay } from "./verbs/replay.ts";
import { addRetry } from "./verbs/retry.ts";
import { addRun } from "./verbs/run.ts";
import { addRuns } from "./verbs/runs.ts";
import { addServe } from "./verbs/serve.ts";
import { addSetup } from "./verbs/setup.ts";
import { addValidate } from "./verbs/validate.ts";
import { addVersion } from "./verbs/version.ts";
import { addWait } from "./verbs/wait.ts";

/** By heading of the help, in its order. */
const VERBS: Readonly<Record<string, readonly AddVerb[]>> = {
  "Start a run:": [addRun, addInit, addCheck, addPolicy],
  "Follow it:": [addRuns, addGet, addEvents, addWait, addLogs, addAttach, addOpen],
  "Decide and steer:": [...[addAnswer, addApprove, addReject, addChanges, addCancel, addPause, addResume]],
  "Take what it made:": [addDiff, addFindings, addEvidence, addPrune],
  "Once more:": [addRetry, addReplay, addFork, addBakeoff],
  "What runs use:": [addAgents, addModels, addImages, addKeys],
  "The services:": [addDev, addServe, addSetup, addDoctor, addNats, addDlq, addMcp],
  "Documents, and the command itself:": [
    ...[addExplain, addValidate, addDecode, addCompletion, addComplete, addVersion],
  ],
};

const EPILOGUE = `
Environment:
  ANTIPHON_GATEWAY_URL    address of the gateway (default http://127.0.0.1:3001)
  ANTIPHON_TOKEN          token of the gateway; required if it is not on loopback
  ANTIPHON_DIRECTOR_KEYS  thumbprints of the Director keys to trust, comma separated
                          (default: every key the gateway trusts)

Exit codes: 0 ok, 1 the run failed or was canceled, 2 usage error, 3 the run needs input,
            4 unreachable, 130 Ctrl-C while watching (the run continues)
`;

export function buildProgram(context: CliContext): Command {
  const program = new Command("antiphon")
    .description("Turns an intent into a verified commit in a git repository, with evidence.")
    .version(context.version, "--version", "print the version")
    .helpOption("-h, --help", "show this help")
    .showSuggestionAfterError(true)
    .enablePositionalOptions() // An option after `runs restore` belongs to `restore`, not to `runs`.
    .addHelpText("after", EPILOGUE)
    .exitOverride()
    .hook("preAction", (_program, command) => refuseBlankValues(command))
    .configureOutput(outputOf(context));
  for (const [heading, verbs] of Object.entries(VERBS)) {
    program.commandsGroup(heading);
    for (const add of verbs) add(program, context);
  }
  program.helpCommand("help [command]", "show the help of a command");
  for (const command of program.commands) inherit(command, context);
  return program;
}

/** Help and version; main.ts prints all errors in one form. */
function outputOf({ screen }: CliContext): OutputConfiguration {
  return { writeOut: (text) => screen.text(text.replace(/\n$/, "")), writeErr: () => undefined };
}

function inherit(command: Command, context: CliContext): void {
  command.exitOverride().configureOutput(outputOf(context)).helpOption("-h, --help", "show this help");
  for (const child of command.commands) inherit(child, context);
}
