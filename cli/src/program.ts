// The command tree.
import { Command } from "commander";
import type { CliContext } from "./context.ts";
import { addAnswer } from "./verbs/answer.ts";
import { addCancel } from "./verbs/cancel.ts";
import { addCompletion } from "./verbs/completion.ts";
import { addApprove, addChanges, addReject } from "./verbs/decide.ts";
import { addDecode } from "./verbs/decode.ts";
import { addDev } from "./verbs/dev.ts";
import { addDlq } from "./verbs/dlq.ts";
import { addDoctor } from "./verbs/doctor.ts";
import { addEvents } from "./verbs/events.ts";
import { addEvidence } from "./verbs/evidence.ts";
import { addExplain } from "./verbs/explain.ts";
import { addGet } from "./verbs/get.ts";
import { addPause, addResume } from "./verbs/pause.ts";
import { addKeys } from "./verbs/keys.ts";
import { addImages } from "./verbs/images.ts";
import { addPolicy } from "./verbs/policy.ts";
import { addRetry } from "./verbs/retry.ts";
import { addRun } from "./verbs/run.ts";
import { addRuns } from "./verbs/runs.ts";
import { addServe } from "./verbs/serve.ts";
import { addValidate } from "./verbs/validate.ts";

const VERBS = [
  addRun,
  addRuns,
  addGet,
  addEvents,
  addAnswer,
  addApprove,
  addReject,
  addChanges,
  addCancel,
  addPause,
  addResume,
  addRetry,
  addDlq,
  addPolicy,
  addEvidence,
  addKeys,
  addImages,
  addDev,
  addServe,
  addDoctor,
  addExplain,
  addValidate,
  addDecode,
  addCompletion,
];

const EPILOGUE = `
Environment:
  ANTIPHON_GATEWAY_URL  where the gateway is (http://127.0.0.1:3001)
  ANTIPHON_TOKEN        its token, when it is not on loopback
  ANTIPHON_DIRECTOR_KEYS  thumbprints of the Director keys to trust (all that the gateway trusts)

Exit codes: 0 ok, 1 the run failed, 2 usage, 3 the run needs input, 4 unreachable
`;

export function buildProgram(context: CliContext): Command {
  const program = new Command("antiphon")
    .description("Give it an intent and a git repository; get a verified, landed commit with evidence.")
    .version(context.version, "--version", "print the version")
    .helpOption("-h, --help", "show this")
    .showSuggestionAfterError(true)
    .enablePositionalOptions() // An option behind `runs restore` is not one of `runs`.
    .addHelpText("after", EPILOGUE)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined }); // main.ts prints errors, in one form for all.
  for (const add of VERBS) add(program, context);
  for (const command of program.commands) inherit(command);
  return program;
}

function inherit(command: Command): void {
  command
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .helpOption("-h, --help", "show this");
  for (const child of command.commands) inherit(child);
}
