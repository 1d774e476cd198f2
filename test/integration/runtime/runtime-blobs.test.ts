import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Blobs, Bus } from "../../../runtime/src/index.ts";
import { openBlobs, openKv, provision, UploadNotes } from "../../../runtime/src/index.ts";
import { chunkSubject, metaSubject, parseMeta } from "../../../runtime/src/stores/object-layout.ts";
import type { NatsServer } from "../../support/nats.ts";
import { eventually, startNats } from "../../support/nats.ts";

let server: NatsServer;
let bus: Bus;
let blobs: Blobs;
const bucket = "ANT_EVIDENCE_FILES";
const stream = `OBJ_${bucket}`;

beforeAll(async () => {
  server = await startNats();
  bus = await server.connect();
  await provision(bus);
  blobs = openBlobs(bus, bucket);
});

afterAll(async () => {
  await server.close();
});

async function metaOf(name: string) {
  const message = await bus.reader.last(stream, metaSubject(bucket, name));
  if (message === null) throw new Error(`no meta of ${name}`);
  return { ...parseMeta(bucket, name, Buffer.from(message.data).toString()), text: message };
}

async function chunkSeqs(name: string): Promise<number[]> {
  const { nuid } = await metaOf(name);
  const query = { filter: chunkSubject(bucket, nuid), seq: 1, batch: 100 };
  return (await bus.reader.next(stream, query)).messages.map((message) => message.seq);
}

function stockCli(): string | null {
  const local = fileURLToPath(new URL("../../../.antiphon/tools/nats", import.meta.url));
  return existsSync(local) ? local : null;
}

describe("blobs on a real server", () => {
  it("are standard objects that the client library's own object store reads", async () => {
    const { Objm } = await import("@nats-io/obj");
    const bytes = Buffer.from("evidence ".repeat(40_000));
    const ref = await blobs.put("plain name/with.odd~chars", bytes);
    const store = await new Objm(bus.js).open(bucket);
    const info = await store.info(ref.name);
    expect(info).toMatchObject({ size: bytes.length, chunks: 3 });
    const theirs = await store.getBlob(ref.name);
    expect(Buffer.from(theirs ?? []).equals(bytes)).toBe(true);
    // The library's reader leaves a consumer behind, which is why we have our own; remove it.
    for await (const consumer of bus.jsm.consumers.list(stream)) {
      await bus.jsm.consumers.delete(stream, consumer.name);
    }
  });

  it("are standard objects that the stock CLI reads, as it reads KV documents", async () => {
    const cli = stockCli();
    if (cli === null) return expect(stockCli()).toBeNull(); // the CLI is an operator's tool, not part of the product
    const ref = await blobs.put("cli.txt", Buffer.from("read me\n"));
    await openKv(bus, "ANT_RUNS").put("run_cli", { phase: "done" });
    const run = (...args: string[]): string =>
      execFileSync(cli, ["--server", server.url, ...args], { encoding: "utf8", cwd: server.dir });
    run("object", "get", bucket, ref.name, "--output", join(server.dir, "cli.out"), "--no-progress");
    expect(execFileSync("cat", [join(server.dir, "cli.out")], { encoding: "utf8" })).toBe("read me\n");
    expect(run("kv", "get", "ANT_RUNS", "run_cli", "--raw").trim()).toBe('{"phase":"done"}');
  });

  it("a second put of the same bytes writes nothing", async () => {
    const bytes = Buffer.alloc(500_000, 5);
    await blobs.put("same", bytes);
    const before = (await bus.jsm.streams.info(stream)).state.last_seq;
    await blobs.put("same", bytes);
    expect((await bus.jsm.streams.info(stream)).state.last_seq).toBe(before);
  });

  it("a writer that may not purge asks for no purge when it loses a race, and one copy is whole", async () => {
    const bytes = Buffer.alloc(400_000, 9);
    const asked: string[] = [];
    const watching = bus.nc.subscribe("$JS.API.STREAM.PURGE.>", {
      callback: (_, message) => void asked.push(message.subject),
    });
    await Promise.all(Array.from({ length: 6 }, () => openBlobs(bus, bucket).put("unpurged", bytes)));
    expect((await blobs.get("unpurged")).equals(bytes)).toBe(true);
    await bus.nc.flush();
    expect(asked).toEqual([]);
    watching.unsubscribe();
    await bus.jsm.streams.purge(stream);
  });

  it("the loser of a race that may purge leaves no chunks behind", async () => {
    const bytes = Buffer.alloc(400_000, 6);
    const trusted = openBlobs(bus, bucket, { mayPurge: true });
    await Promise.all(Array.from({ length: 6 }, () => trusted.put("race", bytes)));
    const { nuid } = await metaOf("race");
    const info = await bus.jsm.streams.info(stream, { subjects_filter: `$O.${bucket}.C.*` });
    const mine = Object.entries(info.state.subjects ?? {}).filter(([subject]) => subject.endsWith(nuid));
    expect(mine).toEqual([[chunkSubject(bucket, nuid), 4]]);
    const metas = await bus.jsm.streams.info(stream, { subjects_filter: `$O.${bucket}.M.*` });
    const objects = Object.keys(metas.state.subjects ?? {}).length;
    // Every chunk subject belongs to an object, so there is no orphan.
    expect(Object.keys(info.state.subjects ?? {}).length).toBeLessThanOrEqual(objects);
  });

  it("the chunks of a writer that was killed are found by its note and purged, those of a finished one are not", async () => {
    const trusted = openBlobs(bus, bucket, { mayPurge: true });
    const notes = new UploadNotes(bus, bucket);
    const subjectsOf = async (kind: "C" | "M"): Promise<string[]> => {
      const info = await bus.jsm.streams.info(stream, { subjects_filter: `$O.${bucket}.${kind}.*` });
      return Object.keys(info.state.subjects ?? {}).sort();
    };
    const before = { chunks: await subjectsOf("C"), metas: await subjectsOf("M") };
    let seen = 0;
    const name = "streamed by a trusted writer";
    await trusted.putStream(name, async function* () {
      yield Buffer.alloc(200_000, 1);
      seen = (await subjectsOf("M")).length;
      yield Buffer.alloc(200_000, 2);
    });
    expect(seen).toBe(before.metas.length + 1);
    expect(await subjectsOf("M")).toEqual([...before.metas, metaSubject(bucket, name)].sort());

    const signal = new AbortController().signal;
    const { nuid } = await metaOf(name);
    await notes.add(name, nuid, signal); // As a writer does that is killed after its last step but one.
    await notes.add("killed", "KILLED", signal);
    const odd = ["{", "null", JSON.stringify({ description: 7 })];
    for (const [at, text] of odd.entries())
      await bus.js.publish(metaSubject(bucket, `uploading-ODD${at}`), text);
    const skipped: string[] = [];
    const unread = ({ code }: { code: string }): void => void skipped.push(code);
    await bus.js.publish(chunkSubject(bucket, "KILLED"), Buffer.alloc(1000));
    expect(await trusted.has(`uploading-${nuid}`)).toBe(false);
    expect(await notes.removeUnfinished(new Date(Date.now() - 60_000), unread)).toBe(0); // They may still be at work.
    expect(await subjectsOf("C")).toContain(chunkSubject(bucket, "KILLED"));
    expect(await notes.removeUnfinished(new Date(Date.now() + 60_000), unread)).toBe(1);
    expect(skipped).toEqual(odd.map(() => "ANT_BLOB_CORRUPT"));
    for (const at of odd.keys()) await notes.remove(`ODD${at}`);
    expect(await subjectsOf("C")).toEqual([...before.chunks, chunkSubject(bucket, nuid)].sort());
    expect((await trusted.get(name)).length).toBe(400_000);
    expect(await subjectsOf("M")).toEqual([...before.metas, metaSubject(bucket, name)].sort());
    await trusted.remove(name);
  });

  it("an upload ends as it would when its note cannot be removed, and a round removes the note", async () => {
    const closed = await server.connect();
    const { jsm } = closed;
    await closed.close();
    const limited: Bus = { ...bus, jsm };
    const writer = openBlobs(limited, bucket, { mayPurge: true });
    const ref = await writer.putStream("noted", async function* () {
      yield await Promise.resolve(Buffer.alloc(200_000, 1));
    });
    expect((await blobs.get(ref)).length).toBe(200_000);
    const failing = writer.putStream("not noted", async function* () {
      yield await Promise.resolve(Buffer.alloc(200_000, 2));
      throw new RangeError("the disk is gone");
    });
    await expect(failing).rejects.toThrow(RangeError);
    const unread = (error: Error): never => {
      throw error;
    };
    expect(await new UploadNotes(bus, bucket).removeUnfinished(new Date(Date.now() + 60_000), unread)).toBe(
      1,
    );
    expect((await blobs.get(ref)).length).toBe(200_000);
    await openBlobs(bus, bucket, { mayPurge: true }).remove("noted");
  });

  it("a streamed upload whose source fails leaves neither chunks nor a note", async () => {
    const trusted = openBlobs(bus, bucket, { mayPurge: true });
    const messages = async (): Promise<number> => (await bus.jsm.streams.info(stream)).state.messages;
    const before = await messages();
    const failing = trusted.putStream("failing", async function* () {
      yield await Promise.resolve(Buffer.alloc(200_000, 1));
      throw new RangeError("the disk is gone");
    });
    await expect(failing).rejects.toThrow(RangeError);
    expect(await messages()).toBe(before);
  });

  it("runtime/J9: a missing chunk is ANT_BLOB_CORRUPT or ANT_BLOB_MISSING at once, not a hang", async () => {
    await blobs.put("holed", Buffer.alloc(400_000, 7));
    const seqs = await chunkSeqs("holed");
    await bus.jsm.streams.deleteMessage(stream, seqs[1] ?? 0);
    const startedAt = performance.now();
    await expect(blobs.get("holed")).rejects.toMatchObject({ code: "ANT_BLOB_MISSING" });
    expect(performance.now() - startedAt).toBeLessThan(5000);
    for (const seq of seqs) if (seq !== seqs[1]) await bus.jsm.streams.deleteMessage(stream, seq);
    await expect(blobs.get("holed")).rejects.toMatchObject({ code: "ANT_BLOB_MISSING" });
  });

  it("runtime/J9: changed bytes are ANT_BLOB_CORRUPT", async () => {
    await blobs.put("flipped", Buffer.alloc(300_000, 8));
    const { nuid } = await metaOf("flipped");
    const last = (await chunkSeqs("flipped")).at(-1) ?? 0;
    await bus.jsm.streams.deleteMessage(stream, last);
    await bus.js.publish(chunkSubject(bucket, nuid), Buffer.alloc(300_000 - 2 * 131_072, 9));
    await expect(blobs.get("flipped")).rejects.toMatchObject({ code: "ANT_BLOB_CORRUPT" });
  });

  it("refuses a link", async () => {
    await blobs.put("target", Buffer.from("secret"));
    const link = {
      name: "link",
      bucket,
      options: { link: { bucket, name: "target" } },
      nuid: "x",
      size: 0,
      chunks: 0,
    };
    await bus.js.publish(metaSubject(bucket, "link"), JSON.stringify(link));
    await expect(blobs.get("link")).rejects.toMatchObject({ code: "ANT_BLOB_MISSING" });
  });

  it("a name that an operator removed is free again", async () => {
    const trees = openBlobs(bus, "ANT_REPOS");
    await trees.put("again", Buffer.from("one"));
    const { Objm } = await import("@nats-io/obj");
    const stock = new Objm(bus.js);
    await (await stock.open("ANT_REPOS")).delete("again");
    expect(await trees.has("again")).toBe(false);
    await trees.put("again", Buffer.from("two"));
    expect((await trees.get("again")).toString()).toBe("two");
    // Services other than the Director write evidence, so no message there may remove others.
    await blobs.put("kept", Buffer.from("one"));
    await expect((await stock.open(bucket)).delete("kept")).rejects.toThrow("rollup not permitted");
    expect(await blobs.has("kept")).toBe(true);
  });

  it("a put survives kill -9 of the server and leaves one whole object", async () => {
    const bytes = Buffer.alloc(30 * 1024 * 1024, 11);
    const put = blobs.put("big", bytes);
    await eventually("chunks are arriving", () => bus.publisherStats().singles > 60);
    await server.kill();
    await server.restart();
    const ref = await put;
    expect((await blobs.get(ref)).equals(bytes)).toBe(true);
    await eventually("the first try's chunks are purged", async () => {
      const info = await bus.jsm.streams.info(stream, { subjects_filter: `$O.${bucket}.C.*` });
      const { nuid } = await metaOf("big");
      const sizes = Object.entries(info.state.subjects ?? {});
      return sizes.filter(([, chunks]) => chunks > 20).every(([subject]) => subject.endsWith(nuid));
    });
  });

  it("a read that exceeds its deadline is a coded error", async () => {
    await blobs.put("slow", Buffer.alloc(200_000, 1));
    server.pause();
    try {
      const read = blobs.get("slow", { deadlineMs: 500 });
      await expect(read).rejects.toMatchObject({
        code: expect.stringMatching(/ANT_BLOB_DEADLINE|ANT_NATS_UNREACHABLE/) as string,
      });
    } finally {
      server.resume();
    }
    expect((await blobs.get("slow")).length).toBe(200_000);
  });

  it("a thousand reads leave no consumer", async () => {
    const ref = await blobs.put("often", Buffer.alloc(1000, 2));
    for (let i = 0; i < 20; i += 1) await Promise.all(Array.from({ length: 50 }, () => blobs.get(ref)));
    expect(await server.leakedConsumers()).toEqual([]);
  });
});
