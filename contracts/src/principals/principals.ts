/**
 * What each principal may do on NATS. Every service has a NATS user of its own; what is not in this table, the server
 * refuses.
 *
 * A permission on subjects alone would not hold: the server sends the answer to a request to any reply subject the
 * requester names, without a look at the requester's permissions. Whoever may read one stored message could so have it
 * delivered to `$JS.API.STREAM.PURGE.<stream>`, or to the register of an approval. So every service but the Director
 * has an account of its own, which imports exactly what this table lists. An answer stays in the account that asked.
 *
 * The Director provisions the server and shares the streams' account with two users for people: `operator` reads, and
 * `admin` may do everything.
 *
 * Promises:
 *   contracts/C7 Because a service may be taken over, its NATS user can publish, ask and hear what its row lists and
 *     nothing else: only Directors write decisions, only sandbox-runners serve sandboxes, and an Associate writes claims,
 *     results, manifests and evidence files.
 */
import type { JournalType } from "../journal/record.ts";
import { limits } from "../limits.ts";
import {
  BUCKETS,
  TIMER_CONSUMER,
  TIMER_STREAM,
  topologyOf,
  type ConsumerName,
} from "../topology/topology.ts";

export const PRINCIPALS = [
  "gateway",
  "router",
  "director",
  "associate",
  "sandbox-runner",
  "egress",
  "operator",
  "admin",
] as const;
export type Principal = (typeof PRINCIPALS)[number];

export const isPrincipal = (name: string): name is Principal =>
  (PRINCIPALS as readonly string[]).includes(name);

/** The answers to a request: one; several within a minute; or several for as long as an attempt may take. */
export type Answers = "one" | "many" | "long";

/** A subject to publish on. `answers` of a message without a reply subject is "one". */
export interface Ask {
  readonly subject: string;
  readonly answers: Answers;
}

export interface Rights {
  readonly asks: readonly Ask[];
  /** Subjects on which it hears what others publish. */
  readonly hears: readonly string[];
  /** Subjects on which it answers requests. */
  readonly serves: readonly string[];
  /**
   * How it may answer. `received`: the reply subjects of messages that reached it, for a limited time, which includes the
   * acknowledgements of its deliveries; the server remembers each one. `any`: every reply subject of its account; for
   * trusted services with thousands of messages a second.
   */
  readonly replies: "received" | "any";
}

const ask = (subject: string, answers: Answers = "one"): Ask => ({ subject, answers });
const api = (request: string, answers?: Answers): Ask => ask(`$JS.API.${request}`, answers);

const records = (...types: readonly JournalType[]): Ask[] =>
  types.map((type) => ask(`antiphon.v1.run.*.${type}.>`));

const reads = (stream: string): Ask[] => [
  api(`DIRECT.GET.${stream}`, "many"),
  api(`DIRECT.GET.${stream}.>`),
  api(`STREAM.INFO.${stream}`),
  api(`STREAM.MSG.GET.${stream}`),
];

const readsKv = (...buckets: readonly string[]): Ask[] => buckets.flatMap((name) => reads(`KV_${name}`));
const readsFiles = (...buckets: readonly string[]): Ask[] => buckets.flatMap((name) => reads(`OBJ_${name}`));

/** A name is read before it is written, so whoever writes files also reads them. */
const writesFiles = (...buckets: readonly string[]): Ask[] =>
  buckets.flatMap((name) => [...readsFiles(name), ask(`$O.${name}.C.*`), ask(`$O.${name}.M.*`)]);

const calls = (method: string, answers?: Answers): Ask => ask(`antiphon.v1.rpc.${method}`, answers);
/** The principals that are services, each of which answers NATS micro requests under its name. */
export const SERVICES = PRINCIPALS.filter((name) => name !== "operator" && name !== "admin");
const pings = SERVICES.map((name) => ask(`$SRV.PING.${name}`, "many"));
const micro = ["PING", "INFO", "STATS"].flatMap((verb) => [
  ask(`$SRV.${verb}`, "many"),
  ...SERVICES.map((name) => ask(`$SRV.${verb}.${name}`, "many")),
]);
const durability = ask("$SYS.REQ.SERVER.PING.JSZ", "many");

/** The rights of a principal in a deployment whose journal has this many partitions. `admin` has no limits. */
export function rightsOf(principal: Exclude<Principal, "admin">, partitions: number): Rights {
  const { streams, consumers, buckets } = topologyOf(partitions);
  const journals = streams.map(({ name }) => name).filter((name) => name.startsWith("ANT_JOURNAL_"));
  const journal = [...journals.flatMap(reads), ...readsFiles(BUCKETS.archive)];
  const consumes = (name: ConsumerName | typeof TIMER_CONSUMER): Ask[] =>
    consumers
      .filter((spec) => spec.name === name)
      .flatMap(({ stream }) => [
        api(`CONSUMER.MSG.NEXT.${stream}.${name}`, "many"),
        api(`CONSUMER.INFO.${stream}.${name}`),
        ask(`$JS.ACK.${stream}.${name}.>`),
      ]);
  const bucketStreams = buckets.map(({ name, kind }) => `${kind === "kv" ? "KV" : "OBJ"}_${name}`);
  const all = [...streams.map(({ name }) => name), ...bucketStreams];

  switch (principal) {
    case "gateway":
      return {
        asks: [
          ...records("intent", "cancel", "input", "approval", "control", "requeue"),
          ...journal,
          ...["ANT_SESSIONS", "ANT_DLQ"].flatMap(reads),
          ...readsKv(BUCKETS.intents, BUCKETS.runs, BUCKETS.contracts, BUCKETS.evidence, BUCKETS.keys),
          ...readsKv(BUCKETS.policies),
          ...readsFiles(BUCKETS.evidenceFiles),
          ...writesFiles(BUCKETS.recordings),
          ask(`$KV.${BUCKETS.intents}.*`),
          ask("antiphon.v1.session.*.*"),
          ask("antiphon.v1.ctl.*"),
          ...["repo.inspect", "run.contract", "run.rebuild", "run.restore"].map((name) => calls(name)),
          calls("repo.check", "long"),
          calls("sandbox.images"),
          ...journals.flatMap((stream) =>
            ["tally-intent", "tally-closed"].map((name) => api(`CONSUMER.INFO.${stream}.${name}`)),
          ),
          api("STREAM.MSG.DELETE.ANT_DLQ"),
          ...pings,
          durability,
        ],
        hears: ["antiphon.v1.run.>", "antiphon.v1.log.>"],
        serves: [],
        replies: "any",
      };
    case "router":
      return {
        asks: [
          ...records("routed"),
          ask("antiphon.v1.dlq.router.>"),
          ...journal,
          ...consumes("router"),
          durability,
        ],
        hears: [],
        serves: [],
        replies: "any",
      };
    case "director":
      return {
        asks: [
          ask("antiphon.v1.run.>"), // It also puts archived and lost records back.
          ask("antiphon.v1.dlq.>"),
          ask("antiphon.v1.timer.set.>"),
          ask("antiphon.v1.ctl.*"),
          ask("antiphon.v1.log.*.*.progress"),
          ...[BUCKETS.runs, BUCKETS.contracts, BUCKETS.evidence, BUCKETS.keys].map((name) =>
            ask(`$KV.${name}.>`),
          ),
          ...writesFiles(BUCKETS.evidenceFiles, BUCKETS.repos, BUCKETS.archive),
          calls("sandbox.run", "long"),
          calls("sandbox.job.*"),
          ...all.flatMap((stream) => [
            ...reads(stream),
            api(`STREAM.CREATE.${stream}`),
            api(`STREAM.UPDATE.${stream}`),
          ]),
          ...consumers.flatMap(({ stream, name }) => [
            api(`CONSUMER.CREATE.${stream}.${name}`),
            api(`CONSUMER.CREATE.${stream}.${name}.>`),
            api(`CONSUMER.DURABLE.CREATE.${stream}.${name}`),
            api(`CONSUMER.INFO.${stream}.${name}`),
          ]),
          ...consumes("director"),
          ...consumes(TIMER_CONSUMER),
          ...[...journals, TIMER_STREAM, "ANT_DLQ", `OBJ_${BUCKETS.archive}`].map((stream) =>
            api(`STREAM.MSG.DELETE.${stream}`),
          ),
          ...[`KV_${BUCKETS.runs}`, `KV_${BUCKETS.contracts}`].map((stream) => api(`STREAM.PURGE.${stream}`)),
          ...[BUCKETS.evidenceFiles, BUCKETS.repos, BUCKETS.archive].map((name) =>
            api(`STREAM.PURGE.OBJ_${name}`),
          ),
          durability,
        ],
        hears: ["antiphon.v1.ctl.*"],
        serves: ["repo.inspect", "repo.check", "run.contract", "run.rebuild", "run.restore"].map(
          (name) => `antiphon.v1.rpc.${name}`,
        ),
        replies: "any",
      };
    case "associate":
      return {
        asks: [
          ...records("claim", "result"),
          ask("antiphon.v1.dlq.associate.>"),
          ask("antiphon.v1.log.*.*.progress"),
          ask(`$KV.${BUCKETS.evidence}.*.*.*`), // A verdict's manifest has one token more.
          ...readsKv(BUCKETS.evidence),
          ...writesFiles(BUCKETS.evidenceFiles),
          ...readsFiles(BUCKETS.repos, BUCKETS.recordings),
          ...journal,
          ...consumes("associate"),
          calls("sandbox.run", "long"),
          calls("sandbox.job.*"),
          durability,
        ],
        hears: ["antiphon.v1.ctl.*"],
        serves: [],
        replies: "received",
      };
    case "sandbox-runner":
      return {
        asks: [
          ask("antiphon.v1.log.*.*.*"),
          ...readsFiles(BUCKETS.repos),
          ...writesFiles(BUCKETS.evidenceFiles, BUCKETS.layers),
          ...readsKv(BUCKETS.environments),
          ask(`$KV.${BUCKETS.environments}.*`),
          ...journal, // It asks whether the attempts of its sandboxes are over.
          calls("egress.open"),
          calls("egress.close.*"),
          durability,
        ],
        hears: [],
        serves: ["run", "images", "job.*", "session.open", "session.*.*"].map(
          (name) => `antiphon.v1.rpc.sandbox.${name}`,
        ),
        replies: "received",
      };
    case "egress":
      return {
        asks: [
          ...readsKv(BUCKETS.budgets),
          ask(`$KV.${BUCKETS.budgets}.*`),
          ...writesFiles(BUCKETS.evidenceFiles),
          ...journals.map((stream) => api(`STREAM.INFO.${stream}`)), // Tells the number of partitions.
          durability,
        ],
        hears: [],
        serves: ["antiphon.v1.rpc.egress.open", "antiphon.v1.rpc.egress.close.*"],
        replies: "received",
      };
    case "operator":
      return {
        asks: [
          ...["INFO", "STREAM.NAMES", "STREAM.LIST"].map((request) => api(request)),
          ...all.flatMap((stream) => [
            ...reads(stream),
            api(`CONSUMER.NAMES.${stream}`),
            api(`CONSUMER.LIST.${stream}`),
            api(`CONSUMER.INFO.${stream}.*`),
          ]),
          // The stock client reads objects and lists of keys through a consumer of its own; buckets have no other ones.
          ...bucketStreams.flatMap((stream) => [
            api(`CONSUMER.CREATE.${stream}`),
            api(`CONSUMER.CREATE.${stream}.>`),
            api(`CONSUMER.DELETE.${stream}.*`),
            api(`CONSUMER.MSG.NEXT.${stream}.*`, "many"),
          ]),
          ...micro,
          durability,
        ],
        hears: ["antiphon.v1.>"],
        serves: [],
        replies: "any",
      };
  }
}

/** Seconds for which a principal with `replies: "received"` may answer a message. */
export const REPLY_WINDOW_S: Readonly<Partial<Record<Principal, number>>> = {
  associate: 3_600, // After that an acknowledgement is refused, and the second delivery finds the result.
  "sandbox-runner": limits.taskTimeBudgetMaxS + 3_600,
  egress: 60,
};
