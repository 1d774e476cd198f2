import { afterAll, beforeAll } from "vitest";
import type { Blobs, Bus, Journal, Kv } from "../../../runtime/src/index.ts";
import { openBlobs, openJournal, openKv, provision } from "../../../runtime/src/index.ts";
import { conformance } from "../../../runtime/src/testing/conformance.ts";
import type { NatsServer } from "../../support/nats.ts";
import { startNats } from "../../support/nats.ts";

let server: NatsServer;
let bus: Bus;
let journal: Journal;
let kv: Kv;
let blobs: Blobs;

beforeAll(async () => {
  server = await startNats();
  bus = await server.connect();
  await provision(bus);
  journal = openJournal(bus);
  kv = openKv(bus, "ANT_EVIDENCE");
  blobs = openBlobs(bus, "ANT_EVIDENCE_FILES");
});

afterAll(async () => {
  await server.close(); // fails if a consumer was left behind
});

conformance("nats-server", { journal: () => journal, kv: () => kv, blobs: () => blobs });
