/**
 * Who may do what on NATS, row by row, written down a second time: the test compares a real server with this table, so a
 * right that slips into contracts/src/principals shows here.
 *
 * Letters: G gateway, R router, D director, A associate, S sandbox-runner, E egress, O operator. "" is nobody.
 */
import type { Principal } from "../../../contracts/src/principals/principals.ts";

export const LETTERS: Readonly<Record<Exclude<Principal, "admin">, string>> = {
  gateway: "G",
  router: "R",
  director: "D",
  associate: "A",
  "sandbox-runner": "S",
  egress: "E",
  operator: "O",
};

export interface Row {
  readonly subject: string;
  readonly allowed: string;
  /** `answer`: an allowed request has to be answered. `accept`: an allowed message is not refused. */
  readonly shown: "answer" | "accept" | "subscribe";
}

type Lines = readonly (readonly [allowed: string, ...subjects: string[]])[];

const rows = (shown: Row["shown"], lines: Lines): Row[] =>
  lines.flatMap(([allowed, ...subjects]) => subjects.map((subject) => ({ subject, allowed, shown })));

const record = (type: string): string => `antiphon.v1.run.0.${type}.run_a.t-001.1`;
const get = (stream: string, subject: string): string => `$JS.API.DIRECT.GET.${stream}.${subject}`;
const kv = (bucket: string): string => get(`KV_ANT_${bucket}`, `$KV.ANT_${bucket}.a`);
const file = (bucket: string): string => get(`OBJ_ANT_${bucket}`, `$O.ANT_${bucket}.M.a`);
const J = "ANT_JOURNAL_0";

const STREAMS = [
  ...[J, "ANT_DLQ", "ANT_SESSIONS", "ANT_TIMERS", "ANT_LOG"],
  ...["INTENTS", "RUNS", "CONTRACTS", "EVIDENCE", "POLICIES", "KEYS", "BUDGETS", "ENVIRONMENTS"].map(
    (bucket) => `KV_ANT_${bucket}`,
  ),
  ...["EVIDENCE_FILES", "REPOS", "RECORDINGS", "ARCHIVE", "LAYERS"].map((bucket) => `OBJ_ANT_${bucket}`),
];
const PURGED = [
  "KV_ANT_RUNS",
  "KV_ANT_CONTRACTS",
  "KV_ANT_BUDGETS",
  "OBJ_ANT_EVIDENCE_FILES",
  "OBJ_ANT_REPOS",
  "OBJ_ANT_ARCHIVE",
];

const ENVIRONMENTS = ["KV_ANT_ENVIRONMENTS", "OBJ_ANT_LAYERS"];

/** Messages that a stream stores and acknowledges. */
const STORED = rows("answer", [
  ["GD", ...["intent", "cancel", "input", "approval", "control", "requeue"].map(record)],
  ["RD", record("routed")],
  ["AD", record("claim"), record("result")],
  ["D", ...["dispatch", "verdict", "landing", "due", "closed", "archived", "restored"].map(record)],
  ["RD", "antiphon.v1.dlq.router.intent.run_a.-.0"],
  ["AD", "antiphon.v1.dlq.associate.dispatch.run_a.t-001.1"],
  ["D", "antiphon.v1.dlq.director.claim.run_a.t-001.1"],
  ["G", "antiphon.v1.session.s1.0", "antiphon.v1.session.s1.claim.c1.1"],
  ["DAS", "antiphon.v1.log.run_a.t-001.progress"],
  ["S", "antiphon.v1.log.run_a.t-001.stdout", "antiphon.v1.log.run_a.t-001.stderr"],
  ["D", "antiphon.v1.timer.set.rest.run_a.t-001.1"],
  ["", "antiphon.v1.timer.due.rest.run_a.t-001.1", "antiphon.v1.elsewhere"],
  ["G", "$KV.ANT_INTENTS.a", "$KV.ANT_NOTICES.told"],
  ["D", "$KV.ANT_RUNS.run_a", "$KV.ANT_CONTRACTS.run_a.router", "$KV.ANT_KEYS.a"],
  ["AD", "$KV.ANT_EVIDENCE.run_a.T-001.1"],
  ["D", "$KV.ANT_EVIDENCE.run_a.T-001.1.verdict"],
  ["", "$KV.ANT_POLICIES.config"],
  ["E", "$KV.ANT_BUDGETS.run_a"],
  ["E", "$KV.ANT_BUDGETS.run_a.T-001.1"],
  ["S", "$KV.ANT_ENVIRONMENTS.a"],
  ["DASE", "$O.ANT_EVIDENCE_FILES.C.a", "$O.ANT_EVIDENCE_FILES.M.a"],
  ["D", "$O.ANT_REPOS.C.a", "$O.ANT_REPOS.M.a", "$O.ANT_ARCHIVE.C.a", "$O.ANT_ARCHIVE.M.a"],
  ["G", "$O.ANT_RECORDINGS.C.a", "$O.ANT_RECORDINGS.M.a"],
  ["A", "$KV.ANT_COMPILED.a"],
  ["S", "$O.ANT_LAYERS.C.a", "$O.ANT_LAYERS.M.a"],
]);

const ASKED = rows("answer", [
  ["G", ...["repo.inspect", "repo.check", "run.contract", "run.rebuild", "run.restore"].map(rpc)],
  ["G", rpc("sandbox.images"), rpc("egress.models"), rpc("attempt.replay"), rpc("session.deed")],
  ["DA", rpc("sandbox.run")],
  ["A", rpc("repo.export"), rpc("attempt.held.live_a")],
  ["S", rpc("egress.open"), rpc("egress.close.n1")],
  ["", rpc("elsewhere")],
  ["GRDASEO", "$SYS.REQ.SERVER.PING.JSZ"],
  ["", "$SYS.REQ.SERVER.PING.VARZ", "$SYS.REQ.SERVER.PING.CONNZ", "$SYS.REQ.USER.INFO"],
  ["GO", "$SRV.PING.associate", "$SRV.PING.director"],
  ["O", "$SRV.PING", "$SRV.INFO.director.d1", "$SRV.STATS.associate.a1"],
]);

function rpc(name: string): string {
  return `antiphon.v1.rpc.${name}`;
}

const READ = rows("answer", [
  ["GRDASO", get(J, record("claim"))],
  ["GDO", get("ANT_DLQ", "antiphon.v1.dlq.a"), get("ANT_SESSIONS", "antiphon.v1.session.s1.0")],
  ["DO", get("ANT_TIMERS", "antiphon.v1.timer.set.a"), get("ANT_LOG", "antiphon.v1.log.a")],
  ["GDO", kv("INTENTS"), kv("RUNS"), kv("CONTRACTS"), kv("POLICIES"), kv("KEYS")],
  ["GDAO", kv("EVIDENCE")],
  ["EDO", kv("BUDGETS")],
  ["SDO", kv("ENVIRONMENTS")],
  ["GDASEO", file("EVIDENCE_FILES")],
  ["DASO", file("REPOS")],
  ["GDAO", file("RECORDINGS")],
  ["GRDASO", file("ARCHIVE")],
  ["SDO", file("LAYERS")],
]);

const api = (request: string): string => `$JS.API.${request}`;

const MANAGED = rows("answer", [
  ["O", api("STREAM.NAMES"), api("STREAM.LIST"), api("INFO")],
  ["GRDASEO", api(`STREAM.INFO.${J}`)],
  ["D", ...PURGED.map((stream) => api(`STREAM.PURGE.${stream}`))],
  ["S", ...ENVIRONMENTS.map((stream) => api(`STREAM.PURGE.${stream}`))],
  [
    "",
    ...STREAMS.filter((name) => !ENVIRONMENTS.includes(name) && !PURGED.includes(name)).map((name) =>
      api(`STREAM.PURGE.${name}`),
    ),
  ],
  ["", ...[J, "KV_ANT_EVIDENCE", "OBJ_ANT_REPOS"].map((name) => api(`STREAM.DELETE.${name}`))],
  [
    "D",
    ...[J, "KV_ANT_KEYS"].flatMap((name) => [api(`STREAM.CREATE.${name}`), api(`STREAM.UPDATE.${name}`)]),
  ],
  ["", api("STREAM.CREATE.ROGUE"), api(`STREAM.SNAPSHOT.${J}`), api("STREAM.RESTORE.ROGUE")],
  ["D", api(`STREAM.MSG.DELETE.${J}`)],
  ["GD", api("STREAM.MSG.DELETE.ANT_DLQ")],
  ["", api("STREAM.MSG.DELETE.KV_ANT_EVIDENCE"), api("STREAM.MSG.DELETE.OBJ_ANT_EVIDENCE_FILES")],
  ["R", api(`CONSUMER.MSG.NEXT.${J}.router`)],
  ["D", api(`CONSUMER.MSG.NEXT.${J}.director`), api("CONSUMER.MSG.NEXT.ANT_TIMERS.timers")],
  ["A", api(`CONSUMER.MSG.NEXT.${J}.associate`)],
  ["", api(`CONSUMER.MSG.NEXT.${J}.tally-intent`)],
  ["GDO", api("CONSUMER.INFO.ANT_TIMERS.timers")],
  ["GDRO", api(`CONSUMER.INFO.${J}.router`)],
  ["GDO", api(`CONSUMER.INFO.${J}.director`)],
  ["GDAO", api(`CONSUMER.INFO.${J}.associate`)],
  ["D", api(`CONSUMER.CREATE.${J}.associate`), api(`CONSUMER.DURABLE.CREATE.${J}.director`)],
  ["", api(`CONSUMER.CREATE.${J}.rogue`), api(`CONSUMER.DURABLE.CREATE.${J}.rogue`)],
  [
    "O",
    api("CONSUMER.CREATE.OBJ_ANT_EVIDENCE_FILES.mine"),
    api("CONSUMER.DELETE.OBJ_ANT_EVIDENCE_FILES.mine"),
  ],
  ["", ...["router", "director", "associate"].map((name) => api(`CONSUMER.DELETE.${J}.${name}`))],
  ["", api(`CONSUMER.PAUSE.${J}.associate`), api(`CONSUMER.LEADER.STEPDOWN.${J}.associate`)],
  ["", api(`STREAM.LEADER.STEPDOWN.${J}`), api(`STREAM.PEER.REMOVE.${J}`)],
]);

const SENT = rows("accept", [
  ["GD", "antiphon.v1.ctl.run_a"],
  ["DA", rpc("sandbox.job.job_1")],
  ["R", `$JS.ACK.${J}.router.1.1.1.1700000000000000000.0`],
  ["D", `$JS.ACK.${J}.director.1.1.1.1700000000000000000.0`],
  ["", `$JS.ACK.${J}.associate.1.1.1.1700000000000000000.0`],
  ["GRD", "_INBOX.another.1", "_R_.another.1"],
]);

const HEARD = rows("subscribe", [
  ["GRDASEO", "_INBOX.mine.*"],
  ["GO", "antiphon.v1.run.>", "antiphon.v1.run.0.verdict.>", "antiphon.v1.log.>"],
  ["DAO", "antiphon.v1.ctl.*"],
  ["GO", "antiphon.v1.session.>"],
  ["O", "antiphon.v1.>", "antiphon.v1.dlq.>"],
  ["SO", rpc("sandbox.run"), rpc("sandbox.images"), rpc("sandbox.job.*")],
  ["EO", rpc("egress.open"), rpc("egress.models"), rpc("egress.close.n1")],
  ["DO", rpc("repo.inspect"), rpc("repo.export"), rpc("run.restore"), rpc("session.deed")],
  ["AO", rpc("attempt.replay"), rpc("attempt.held.live_a")],
  ["GRDASE", "$SRV.PING"],
  ["", ">", "*.>", "$JS.API.>", "$JS.ACK.>", "$JS.EVENT.ADVISORY.>", "$KV.>", "$O.>", "$SYS.>", "_R_.>"],
]);

export const TABLE: readonly Row[] = [...STORED, ...ASKED, ...READ, ...MANAGED, ...SENT, ...HEARD];
