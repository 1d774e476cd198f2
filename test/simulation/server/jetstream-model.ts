/**
 * JetStreamModel: the part of JetStream that Antiphon uses, at the level of subjects, headers and payloads, so
 * that the product's own publisher, reader, pull loop and journal run against it unmodified.
 */
import { BatchModel } from "./batch-model.ts";
import { ConsumerModel, type ConsumerHost, type ConsumerSettings } from "./consumer-model.ts";
import { directGet } from "./direct-get.ts";
import { ScheduleModel } from "./schedule-model.ts";
import type { StoredMessage, StreamSettings } from "./stream-model.ts";
import { StreamModel } from "./stream-model.ts";
import { headerBytes, noHeaders, type Frame } from "./wire.ts";

interface KeptStream {
  model: StreamModel;
  batches: BatchModel;
  schedules: ScheduleModel;
  consumers: Map<string, ConsumerModel>;
}

export interface ServerHost extends ConsumerHost {
  /** The server's wall clock, milliseconds since 1970. */
  wallMs(): number;
}

export class JetStreamModel {
  private readonly host: ServerHost;
  private readonly streams = new Map<string, KeptStream>();
  /** The stream of each subject that was looked up. */
  private readonly takers = new Map<string, KeptStream | null>();
  /** Called for each stored message, for traces and histories. */
  onStored: (stream: string, message: StoredMessage) => void = () => undefined;

  constructor(host: ServerHost) {
    this.host = host;
  }

  addStream(settings: StreamSettings): void {
    const model = new StreamModel(settings);
    const kept: KeptStream = {
      model,
      batches: new BatchModel(model),
      schedules: new ScheduleModel(
        this.host,
        (frame) => this.store(kept, frame),
        (seq) => this.discard(kept, seq),
      ),
      consumers: new Map(),
    };
    this.streams.set(settings.name, kept);
    this.takers.clear();
  }

  addConsumer(stream: string, settings: ConsumerSettings): void {
    const kept = this.need(stream);
    kept.consumers.set(settings.name, new ConsumerModel(kept.model, settings, this.host));
  }

  stream(name: string): StreamModel {
    return this.need(name).model;
  }

  consumer(stream: string, name: string): ConsumerModel {
    const consumer = this.need(stream).consumers.get(name);
    if (consumer === undefined) throw new Error(`no consumer ${name}`);
    return consumer;
  }

  /** Whether JetStream listens on a subject. */
  serves(subject: string): boolean {
    if (subject.startsWith("_INBOX.")) return false;
    return subject.startsWith("$JS.") || this.taker(subject) !== null;
  }

  private taker(subject: string): KeptStream | null {
    const known = this.takers.get(subject);
    if (known !== undefined) return known;
    const found = [...this.streams.values()].find(({ model }) => model.takes(subject)) ?? null;
    this.takers.set(subject, found);
    return found;
  }

  handle(frame: Frame): void {
    const { subject } = frame;
    if (subject.startsWith("$JS.ACK.")) return this.acknowledge(frame);
    if (subject.startsWith("$JS.API.")) return this.api(frame);
    const taker = this.taker(subject);
    if (taker !== null) this.publish(taker, frame);
  }

  /** A server that ends without notice loses its memory. `forgets`: whether that includes the latest acknowledgements. */
  crash(forgets: (seq: number) => boolean): void {
    for (const { batches, consumers } of this.streams.values()) {
      batches.forgetAll();
      for (const consumer of consumers.values()) consumer.restart(forgets);
    }
  }

  resume(): void {
    for (const { consumers, schedules } of this.streams.values()) {
      schedules.resume();
      for (const consumer of consumers.values()) consumer.resume();
    }
  }

  private need(name: string): KeptStream {
    const kept = this.streams.get(name);
    if (kept === undefined) throw new Error(`no stream ${name}`);
    return kept;
  }

  private publish(kept: KeptStream, frame: Frame): void {
    const { model, batches } = kept;
    const stream = model.settings.name;
    const batch = frame.headers.get("Nats-Batch-Id");
    if (batch !== "") {
      const before = model.lastSeq;
      const step = batches.take(frame, batch, this.host.wallMs());
      if (step.kind === "refused") return this.answer(frame, { error: step.error, stream, seq: 0 });
      if (step.kind === "staged") return this.answerRaw(frame, "");
      for (let seq = before + 1; seq <= step.lastSeq; seq += 1) this.stored(kept, model.messages.get(seq));
      return this.answer(frame, { stream, seq: step.lastSeq, batch, count: step.count });
    }
    const scheduled = kept.schedules.refusal(frame, model.settings.allowSchedules);
    if (scheduled !== null) return this.answer(frame, { error: scheduled, stream, seq: 0 });
    const offered = model.offer(frame, this.host.wallMs());
    if (offered.kind === "refused") return this.answer(frame, { error: offered.error, stream, seq: 0 });
    if (offered.ack.duplicate !== true) this.stored(kept, model.messages.get(offered.ack.seq));
    this.answer(frame, { stream, ...offered.ack });
  }

  private store(kept: KeptStream, frame: Frame): void {
    this.stored(kept, kept.model.store(frame, this.host.wallMs()));
  }

  private discard(kept: KeptStream, seq: number): void {
    if (kept.model.remove(seq)) for (const consumer of kept.consumers.values()) consumer.onRemoved();
  }

  private stored(kept: KeptStream, message: StoredMessage | undefined): void {
    if (message === undefined) return;
    this.onStored(kept.model.settings.name, message);
    kept.schedules.onStored(message);
    const { maxPerSubject } = kept.model.settings;
    for (const consumer of kept.consumers.values()) {
      if (maxPerSubject > 0) consumer.onRemoved();
      consumer.onStored(message);
    }
  }

  private acknowledge(frame: Frame): void {
    const [, , stream = "", consumer = "", , seq = "0"] = frame.subject.split(".");
    const payload = Buffer.from(frame.data).toString("utf8");
    this.streams.get(stream)?.consumers.get(consumer)?.acknowledge(Number(seq), payload);
    if (frame.reply !== null) this.answerRaw(frame, "");
  }

  private api(frame: Frame): void {
    const [, , area, verb, third = "", ...rest] = frame.subject.split(".");
    if (area === "DIRECT" && verb === "GET") return this.direct(frame, third, rest.join("."));
    if (area === "CONSUMER" && verb === "MSG") return this.next(frame, rest[0] ?? "", rest[1] ?? "");
    if (area === "STREAM" && verb === "MSG") return this.messageGet(frame, rest[0] ?? "");
    if (area === "STREAM") return this.streamApi(frame, verb ?? "", third);
    if (area === "CONSUMER" && verb === "INFO") return this.consumerInfo(frame, third, rest[0] ?? "");
    this.answer(frame, {
      error: { code: 404, err_code: 10000, description: `not modelled: ${frame.subject}` },
    });
  }

  private direct(frame: Frame, name: string, subject: string): void {
    const kept = this.streams.get(name);
    if (kept === undefined || frame.reply === null) return;
    for (const { headers, data } of directGet(kept.model, subject, frame.data)) {
      this.host.send(frame.reply, { subject: frame.reply, reply: null, headers, data });
    }
  }

  private next(frame: Frame, stream: string, consumer: string): void {
    const model = this.streams.get(stream)?.consumers.get(consumer);
    if (model === undefined || frame.reply === null) return;
    const body = Buffer.from(frame.data).toString("utf8");
    model.pull(frame.reply, body === "" ? {} : (JSON.parse(body) as object));
  }

  private messageGet(frame: Frame, stream: string): void {
    const model = this.streams.get(stream)?.model;
    const { last_by_subj, seq } = JSON.parse(Buffer.from(frame.data).toString("utf8")) as {
      last_by_subj?: string;
      seq?: number;
    };
    const message =
      last_by_subj === undefined
        ? (model?.messages.get(seq ?? 0) ?? null)
        : (model?.lastOf(last_by_subj) ?? null);
    if (message === null || message === undefined) {
      return this.answer(frame, { error: { code: 404, err_code: 10037, description: "no message found" } });
    }
    const text = [
      "NATS/1.0",
      ...message.headers.keys().map((key) => `${key}: ${message.headers.get(key)}`),
      "",
      "",
    ];
    const hdrs =
      headerBytes(message.headers) === 0 ? {} : { hdrs: Buffer.from(text.join("\r\n")).toString("base64") };
    const { subject, data, atMs } = message;
    const time = new Date(atMs).toISOString();
    this.answer(frame, {
      message: { subject, seq: message.seq, ...hdrs, data: Buffer.from(data).toString("base64"), time },
    });
  }

  private streamApi(frame: Frame, verb: string, name: string): void {
    const kept = this.streams.get(name);
    if (kept === undefined) {
      return this.answer(frame, { error: { code: 404, err_code: 10059, description: "stream not found" } });
    }
    const body = Buffer.from(frame.data).toString("utf8");
    const request = (body === "" ? {} : JSON.parse(body)) as Record<string, unknown>;
    const { model } = kept;
    if (verb === "PURGE") {
      const { filter, seq, keep } = request as { filter?: string; seq?: number; keep?: number };
      const purged = model.purge(filter, seq, keep);
      for (const consumer of kept.consumers.values()) consumer.onRemoved();
      return this.answer(frame, { success: true, purged });
    }
    const filter = request["subjects_filter"] as string | undefined;
    this.answer(frame, {
      type: "io.nats.jetstream.api.v1.stream_info_response",
      config: { name, subjects: model.settings.subjects },
      state: {
        messages: model.messages.size,
        bytes: model.bytes,
        first_seq: model.lastSeq === 0 ? 0 : model.messages.size === 0 ? model.lastSeq + 1 : model.firstSeq,
        last_seq: model.lastSeq,
        num_subjects: model.subjectCount,
        ...(filter === undefined ? {} : { subjects: model.subjectCounts(filter) }),
      },
    });
  }

  private consumerInfo(frame: Frame, stream: string, name: string): void {
    const consumer = this.streams.get(stream)?.consumers.get(name);
    if (consumer === undefined) {
      return this.answer(frame, { error: { code: 404, err_code: 10014, description: "consumer not found" } });
    }
    const { numPending, numAckPending, waiting, ackFloor, settings } = consumer;
    this.answer(frame, {
      config: { ack_wait: settings.ackWaitMs * 1_000_000 },
      num_pending: numPending,
      num_ack_pending: numAckPending,
      num_waiting: waiting,
      ack_floor: { stream_seq: ackFloor },
      ts: new Date(this.host.wallMs()).toISOString(),
    });
  }

  private answer(frame: Frame, body: object): void {
    this.answerRaw(frame, JSON.stringify(body));
  }

  private answerRaw(frame: Frame, text: string): void {
    if (frame.reply === null) return;
    this.host.send(frame.reply, {
      subject: frame.reply,
      reply: null,
      headers: noHeaders,
      data: Buffer.from(text),
    });
  }
}
