/** A service of this release on a server, and in a journal, that a newer release has changed. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { TOPOLOGY_VERSION } from "../../../contracts/src/index.ts";
import { intentRecord } from "../../../contracts/src/testing/records.ts";
import { consume, createLogger, openJournal, provision, type Bus } from "../../../runtime/src/index.ts";
import { eventually, startNats, type NatsServer } from "../../support/nats.ts";

const log = createLogger("test", { level: "silent" });
let server: NatsServer;
let bus: Bus;

beforeEach(async () => {
  server = await startNats();
  bus = await server.connect();
  await provision(bus);
});
afterEach(async () => {
  await server.close();
});

const journalConfig = async () => ({ ...(await bus.jsm.streams.info("ANT_JOURNAL_0")).config });

async function setVersion(version: number | null): Promise<void> {
  const config = await journalConfig();
  const { "antiphon.topology": _, ...metadata } = config.metadata ?? {};
  const now = version === null ? metadata : { ...metadata, "antiphon.topology": String(version) };
  await bus.jsm.streams.update("ANT_JOURNAL_0", { ...config, metadata: now });
}

it("the version of the topology is stored, also on a server that was provisioned before there was one", async () => {
  expect((await journalConfig()).metadata).toMatchObject({ "antiphon.topology": String(TOPOLOGY_VERSION) });
  await setVersion(null);
  await provision(bus);
  expect((await journalConfig()).metadata).toMatchObject({
    "antiphon.topology": String(TOPOLOGY_VERSION),
    "antiphon.partitions": "1",
  });
});

it("settings of a newer release stay, and what is missing is made", async () => {
  const dlq = { ...(await bus.jsm.streams.info("ANT_DLQ")).config };
  await bus.jsm.streams.update("ANT_DLQ", { ...dlq, max_bytes: 2 * dlq.max_bytes, description: "Letters." });
  await bus.jsm.consumers.update("ANT_JOURNAL_0", "associate", { ack_wait: 77_000_000_000 });
  await bus.jsm.streams.delete("ANT_LOG");
  // Without the version it would be a mistake of somebody: this release refuses to loosen the stream.
  await expect(provision(bus)).rejects.toMatchObject({ code: "ANT_NATS_TOPOLOGY" });
  await setVersion(TOPOLOGY_VERSION + 1);
  expect(await provision(bus)).toMatchObject({ created: ["ANT_LOG"], updated: [] });
  expect((await bus.jsm.streams.info("ANT_DLQ")).config).toMatchObject({ description: "Letters." });
  expect((await bus.jsm.consumers.info("ANT_JOURNAL_0", "associate")).config.ack_wait).toBe(77_000_000_000);
  expect((await journalConfig()).metadata).toMatchObject({
    "antiphon.topology": String(TOPOLOGY_VERSION + 1),
  });
});

it("a record of a type that only a newer release knows is handed back, and is no dead letter", async () => {
  const { config } = await bus.jsm.consumers.info("ANT_JOURNAL_0", "director");
  const filters = [...(config.filter_subjects ?? []), "antiphon.v1.run.0.annotation.>"];
  await bus.jsm.consumers.update("ANT_JOURNAL_0", "director", { filter_subjects: filters });
  const stop = new AbortController();
  const seen: string[] = [];
  consume(bus, {
    consumer: "director",
    slots: 2,
    log,
    signal: stop.signal,
    handle: ({ record }) => {
      seen.push(record.type);
      return Promise.resolve({ kind: "done" });
    },
  });
  await bus.js.publish("antiphon.v1.run.0.annotation.run_new.-.0", new Uint8Array([0x80]));
  await openJournal(bus).append(intentRecord("run_known"));
  const state = () => bus.jsm.consumers.info("ANT_JOURNAL_0", "director");
  await eventually("the unknown record came twice, and the known one was handled", async () => {
    const { num_redelivered } = await state();
    return num_redelivered === 1 && seen.length === 1;
  });
  expect((await bus.jsm.streams.info("ANT_DLQ")).state.messages).toBe(0);
  stop.abort();
});
