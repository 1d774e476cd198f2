/** The subjects that rights are made of. */
import type { JournalType } from "../journal/record.ts";
import { BUCKETS, topologyOf, type ConsumerName, type TIMER_CONSUMER } from "../topology/topology.ts";
import { SERVICES, type Answers, type Ask } from "./principals.ts";

export const ask = (subject: string, answers: Answers = "one"): Ask => ({ subject, answers });
export const api = (request: string, answers?: Answers): Ask => ask(`$JS.API.${request}`, answers);
export const calls = (method: string, answers?: Answers): Ask => ask(`antiphon.v1.rpc.${method}`, answers);

export const records = (...types: readonly JournalType[]): Ask[] =>
  types.map((type) => ask(`antiphon.v1.run.*.${type}.>`));

export const reads = (stream: string): Ask[] => [
  api(`DIRECT.GET.${stream}`, "many"),
  api(`DIRECT.GET.${stream}.>`),
  api(`STREAM.INFO.${stream}`),
  api(`STREAM.MSG.GET.${stream}`),
];
export const readsKv = (...buckets: readonly string[]): Ask[] =>
  buckets.flatMap((name) => reads(`KV_${name}`));
export const readsFiles = (...buckets: readonly string[]): Ask[] =>
  buckets.flatMap((name) => reads(`OBJ_${name}`));

/** A name is read before it is written, so whoever writes files also reads them. */
export const writesFiles = (...buckets: readonly string[]): Ask[] =>
  buckets.flatMap((name) => [...readsFiles(name), ask(`$O.${name}.C.*`), ask(`$O.${name}.M.*`)]);

export const pings = SERVICES.map((name) => ask(`$SRV.PING.${name}`, "many"));
/** All processes, those of one service, and one process by its id: `nats micro info` and `stats` ask for that. */
export const micro = ["PING", "INFO", "STATS"].flatMap((verb) => [
  ask(`$SRV.${verb}`, "many"),
  ...SERVICES.flatMap((name) => [`$SRV.${verb}.${name}`, `$SRV.${verb}.${name}.*`]).map((subject) =>
    ask(subject, "many"),
  ),
]);
/** Whether the server fsyncs, and how full its disk is. */
export const durability = ask("$SYS.REQ.SERVER.PING.JSZ", "many");

/** The streams of a deployment, by name, and what is done with them. */
export interface Places {
  readonly journals: readonly string[];
  readonly buckets: readonly string[];
  readonly streams: readonly string[];
  readonly consumers: readonly { readonly stream: string; readonly name: string }[];
  /** Reads all records, archived or not. */
  readonly journal: readonly Ask[];
  /** Pulls from a durable consumer and acknowledges its deliveries. */
  consumes(name: ConsumerName | typeof TIMER_CONSUMER): Ask[];
}

export function placesOf(partitions: number): Places {
  const { streams, consumers, buckets } = topologyOf(partitions);
  const journals = streams.map(({ name }) => name).filter((name) => name.startsWith("ANT_JOURNAL_"));
  const bucketStreams = buckets.map(({ name, kind }) => `${kind === "kv" ? "KV" : "OBJ"}_${name}`);
  return {
    journals,
    buckets: bucketStreams,
    streams: [...streams.map(({ name }) => name), ...bucketStreams],
    consumers,
    journal: [...journals.flatMap(reads), ...readsFiles(BUCKETS.archive)],
    consumes: (name) =>
      consumers
        .filter((spec) => spec.name === name)
        .flatMap(({ stream }) => [
          api(`CONSUMER.MSG.NEXT.${stream}.${name}`, "many"),
          api(`CONSUMER.INFO.${stream}.${name}`),
          ask(`$JS.ACK.${stream}.${name}.>`),
        ]),
  };
}
