/**
 * Probe: sends requests to a JetStream server, real or modelled, over one connection, and records the answers without the
 * parts that always differ (times, inboxes).
 */
import type { Bus } from "../../../runtime/src/index.ts";
import { parseAckSubject } from "../../../runtime/src/work/ack-subject.ts";
import { wireHeaders } from "../../../runtime/src/nats/wire-headers.ts";

type Connection = Bus["nc"];
type Message = Awaited<ReturnType<Connection["request"]>>;

/** A delivered record, with the subject its acknowledgement goes to. */
export interface Delivered {
  shown: string;
  ack: string;
}

export const EXPECT = "Nats-Expected-Last-Subject-Sequence";
const SECOND = 1_000_000_000;
const KEPT = [
  "Nats-Subject",
  "Nats-Sequence",
  "Nats-Num-Pending",
  "Nats-Last-Sequence",
  "Nats-UpTo-Sequence",
];

export class Probe {
  readonly said: string[] = [];
  /** Where records were removed, the server only estimates how many are left for a consumer. */
  showsPending = true;
  private readonly nc: Connection;
  private inboxes = 0;

  constructor(nc: Connection) {
    this.nc = nc;
  }

  note(text: string): void {
    this.said.push(text);
  }

  /** A JSON answer without the parts that always differ. */
  async ask(
    subject: string,
    payload = "",
    headers: Record<string, string> = {},
  ): Promise<Record<string, unknown>> {
    const message = await this.nc.request(subject, payload, { timeout: 5000, headers: wireHeaders(headers) });
    const text = Buffer.from(message.data).toString("utf8");
    const answer = (text === "" ? { status: message.headers?.code ?? 0 } : JSON.parse(text)) as Record<
      string,
      unknown
    >;
    this.note(`${subject} ${JSON.stringify(headers)} -> ${JSON.stringify(kept(answer))}`);
    return answer;
  }

  say(subject: string, payload = "", headers: Record<string, string> = {}): void {
    this.nc.publish(subject, payload, { headers: wireHeaders(headers) });
  }

  /** Sends an atomic batch, one member per row; returns the answer to its commit. */
  async batch(id: string, members: readonly (readonly [string, Record<string, string>?])[]): Promise<void> {
    for (const [index, [subject, headers = {}]] of members.entries()) {
      const position = { "Nats-Batch-Id": id, "Nats-Batch-Sequence": String(index + 1) };
      const all = { ...headers, ...position };
      if (index < members.length - 1) this.say(subject, `m${index}`, all);
      else await this.ask(subject, `m${index}`, { ...all, "Nats-Batch-Commit": "1" });
    }
  }

  /** A direct get: all answers up to the end of the series. */
  async series(stream: string, query: object): Promise<void> {
    const answers = await this.collect(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify(query), 1, isStatus);
    this.note(`${JSON.stringify(query)} -> ${answers.map(shownStored).join(" | ")}`);
  }

  async last(stream: string, subject: string): Promise<void> {
    const [answer] = await this.collect(`$JS.API.DIRECT.GET.${stream}.${subject}`, "", 1, () => true);
    this.note(`last ${subject} -> ${answer === undefined ? "nothing" : shownStored(answer)}`);
  }

  /** The result of one pull: `batch` deliveries, or fewer and a status. */
  async pull(
    stream: string,
    consumer: string,
    batch: number,
    options: { expiresS?: number; noWait?: boolean } = {},
  ): Promise<Delivered[]> {
    const { expiresS = 0.3, noWait = false } = options;
    const request = noWait ? { batch, no_wait: true } : { batch, expires: expiresS * SECOND };
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
    const answers = await this.collect(subject, JSON.stringify(request), batch, isStatus);
    const delivered = answers.map((one) => ({
      shown: shownDelivery(one, this.showsPending),
      ack: one.reply ?? "",
    }));
    this.note(`pull ${batch} -> ${delivered.map(({ shown }) => shown).join(" | ")}`);
    return delivered.filter(({ ack }) => ack !== "");
  }

  /** Acknowledges, refuses or extends a delivery, and waits until the server has received that. */
  async settle(delivered: Delivered | undefined, verb: string): Promise<void> {
    if (delivered === undefined) return this.note("nothing to settle");
    await this.nc.request(delivered.ack, verb, { timeout: 5000 });
  }

  async state(stream: string): Promise<void> {
    const message = await this.nc.request(`$JS.API.STREAM.INFO.${stream}`, '{"subjects_filter":">"}', {
      timeout: 5000,
    });
    const { state } = message.json<{ state: Record<string, unknown> }>();
    const { messages, bytes, first_seq, last_seq, num_subjects = 0, subjects = {} } = state;
    this.note(
      JSON.stringify({ messages, bytes, first_seq, last_seq, num_subjects, subjects: sorted(subjects) }),
    );
  }

  private collect(
    subject: string,
    body: string,
    count: number,
    ends: (message: Message) => boolean,
  ): Promise<Message[]> {
    this.inboxes += 1;
    const reply = `_INBOX.probe${process.pid}x${Math.random().toString(36).slice(2)}.${this.inboxes}`;
    return new Promise((resolve) => {
      const messages: Message[] = [];
      const subscription = this.nc.subscribe(reply, {
        callback: (_, message) => {
          if (message.headers?.code === 100) return;
          messages.push(message);
          const full = subject.includes("MSG.NEXT") && messages.length >= count;
          if (!full && !ends(message)) return;
          subscription.unsubscribe();
          resolve(messages);
        },
      });
      this.nc.publish(subject, body, { reply });
    });
  }
}

function isStatus(message: Message): boolean {
  return (message.headers?.code ?? 0) !== 0;
}

function text(message: Message): string {
  return Buffer.from(message.data).toString("utf8");
}

function shownStored(message: Message): string {
  const { headers } = message;
  const fields = KEPT.flatMap((key) => (headers?.has(key) === true ? [`${key}=${headers.get(key)}`] : []));
  return `${headers?.code ?? 0} ${headers?.description ?? ""} ${fields.join(" ")} ${text(message)}`.trim();
}

function shownDelivery(message: Message, pending: boolean): string {
  if (isStatus(message)) return `${message.headers?.code} ${message.headers?.description}`;
  const info = parseAckSubject(message.reply ?? "");
  return `${message.subject} ${text(message)} seq ${info?.seq} delivery ${info?.deliveries}${pending ? ` pending ${info?.pending}` : ""}`;
}

function kept(answer: Record<string, unknown>): Record<string, unknown> {
  const { time: _time, ts: _ts, type: _type, ...rest } = answer;
  if (rest["message"] !== undefined) {
    const { time: _stored, ...message } = rest["message"] as Record<string, unknown>;
    return { ...rest, message };
  }
  return Object.fromEntries(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function sorted(subjects: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(subjects as object).sort(([a], [b]) => (a < b ? -1 : 1)));
}
