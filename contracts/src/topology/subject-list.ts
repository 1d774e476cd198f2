/** The subject map for people: all subject patterns, with the messages they carry. */
import { JOURNAL_TYPES } from "../journal/record.ts";
import { topology } from "./topology.ts";

export type SubjectEntry = { subject: string; carries: string; keptIn: string };

/** Request and reply; not stored. */
const QUESTIONS: readonly SubjectEntry[] = [
  {
    subject: "antiphon.v1.rpc.repo.inspect",
    carries: "`RepoInspectRequest.v1` -> `RepoInspectReply.v1`; queue `director`",
    keptIn: "",
  },
  {
    subject: "antiphon.v1.rpc.repo.export",
    carries: "`RepoExportRequest.v1` -> `RepoExportReply.v1`; queue `director`",
    keptIn: "",
  },
  {
    subject: "antiphon.v1.rpc.director.admission",
    carries: "`{}` -> `AdmissionReply.v1` of each Director",
    keptIn: "",
  },
  {
    subject: "antiphon.v1.rpc.connectors.read",
    carries: "`ConnectorsRequest.v1` -> `ConnectorsReply.v1`; queue `director`",
    keptIn: "",
  },
  {
    subject: "antiphon.v1.rpc.repo.check",
    carries: "`RepoCheckRequest.v1` -> a stream of `RepoCheckEvent.v1`; queue `director`",
    keptIn: "",
  },
  {
    subject: "antiphon.v1.rpc.session.deed",
    carries: "`SessionDeedRequest.v1` -> a stream of `SessionDeedEvent.v1`; queue `director`",
    keptIn: "",
  },
  {
    subject: "antiphon.v1.rpc.attempt.replay",
    carries: "`AttemptReplayRequest.v1` -> a stream of `AttemptReplayEvent.v1`; queue `associate`",
    keptIn: "",
  },
  {
    subject: "antiphon.v1.rpc.attempt.held.<incarnation>",
    carries:
      "between Associates: `{runId, taskId, epoch}` -> `{working}`, from the process that claimed the attempt",
    keptIn: "",
  },
  {
    subject: "antiphon.v1.rpc.run.contract",
    carries: "`RunContractRequest.v1` -> `RunContractReply.v1`; queue `director`",
    keptIn: "",
  },
  {
    subject: "antiphon.v1.rpc.run.rebuild",
    carries: "`RunRebuildRequest.v1` -> `RunRebuildReply.v1`; queue `director`",
    keptIn: "",
  },
  {
    subject: "antiphon.v1.rpc.run.restore",
    carries: "`RunRestoreRequest.v1` -> `RunRestoreReply.v1`; queue `director`",
    keptIn: "",
  },
  {
    subject: "antiphon.v1.rpc.sandbox.run",
    carries: "`SandboxRequest.v1` -> a stream of `SandboxEvent.v1`; queue `sandbox-runner`",
    keptIn: "",
  },
  {
    subject: "antiphon.v1.rpc.sandbox.job.<jobId>",
    carries: "`SandboxSignal.v1`, requester to runner",
    keptIn: "",
  },
  {
    subject: "antiphon.v1.rpc.egress.open",
    carries: "`EgressOpenRequest.v1` -> `EgressOpened.v1`; queue `egress`",
    keptIn: "",
  },
  {
    subject: "antiphon.v1.rpc.egress.close.<node>",
    carries: "`EgressCloseRequest.v1` -> `EgressReport.v1`, runner to the gateway that holds the listener",
    keptIn: "",
  },
  {
    subject: "antiphon.v1.rpc.egress.models",
    carries: "`ModelsRequest.v1` -> `ModelsReply.v1`; queue `egress`",
    keptIn: "",
  },
  {
    subject: "antiphon.v1.rpc.sandbox.images",
    carries: "`ImagesRequest.v1` -> `ImagesReply.v1`; queue `sandbox-runner`",
    keptIn: "",
  },
];

export function subjectList(): SubjectEntry[] {
  const journal = JOURNAL_TYPES.map((type) => ({
    subject: `antiphon.v1.run.<partition>.${type}.<runId>.<taskId|->.<epoch>`,
    carries: `\`journal.${type}.v1\``,
    keptIn: "ANT_JOURNAL_<partition>",
  }));
  const log = (["stdout", "stderr", "progress"] as const).map((stream) => ({
    subject: `antiphon.v1.log.<runId>.<taskId|->.${stream}`,
    carries: "`LogLine.v1`",
    keptIn: "ANT_LOG",
  }));
  const kept = new Set(topology.streams.map(({ name }) => name));
  return [
    ...journal,
    ...log,
    { subject: "antiphon.v1.ctl.<runId>", carries: "`ControlHint.v1`", keptIn: "" },
    {
      subject: "antiphon.v1.dlq.<consumer>.<type>.<runId>.<taskId|->.<epoch>",
      carries: "`DeadLetter.v1`",
      keptIn: kept.has("ANT_DLQ") ? "ANT_DLQ" : "",
    },
    {
      subject: "antiphon.v1.session.<sessionId>.<n>",
      carries: "`SessionConfig.v1.3` at 0, `SessionEntry.v1` behind it",
      keptIn: kept.has("ANT_SESSIONS") ? "ANT_SESSIONS" : "",
    },
    {
      subject: "antiphon.v1.session.<sessionId>.claim.<command>.<n>",
      carries: "`SessionClaim.v1`",
      keptIn: kept.has("ANT_SESSIONS") ? "ANT_SESSIONS" : "",
    },
    {
      subject: "antiphon.v1.timer.set.<kind>.<runId>.<taskId|->.<epoch>",
      carries: "nothing but its schedule",
      keptIn: "ANT_TIMERS",
    },
    {
      subject: "antiphon.v1.timer.due.<kind>.<runId>.<taskId|->.<epoch>",
      carries: "nothing: its time has come",
      keptIn: "ANT_TIMERS",
    },
    ...QUESTIONS,
    {
      subject: "$SRV.PING | $SRV.INFO | $SRV.STATS",
      carries: "NATS micro, answered by every service",
      keptIn: "",
    },
  ];
}
