/**
 * ScheduleModel: messages that the server publishes later (ADR-51): `Nats-Schedule: @at <time>` on one subject puts
 * the payload on `Nats-Schedule-Target` at that time, and the schedule itself is then gone.
 */
import type { ApiError, StoredMessage } from "./stream-model.ts";
import { HeaderBlock, type Frame } from "./wire.ts";
import type { ServerHost } from "./jetstream-model.ts";

const SCHEDULE = "Nats-Schedule";
const TARGET = "Nats-Schedule-Target";
const OWN = new Set([
  SCHEDULE,
  TARGET,
  "Nats-Schedule-TTL",
  "Nats-Expected-Last-Subject-Sequence",
  "Nats-Msg-Id",
]);

interface Planned {
  seq: number;
  subject: string;
  atMs: number;
  frame: Frame;
}

export class ScheduleModel {
  private readonly host: ServerHost;
  private readonly emit: (frame: Frame) => void;
  private readonly discard: (seq: number) => void;
  private readonly planned = new Map<string, Planned>();

  constructor(host: ServerHost, emit: (frame: Frame) => void, discard: (seq: number) => void) {
    this.host = host;
    this.emit = emit;
    this.discard = discard;
  }

  refusal(frame: Frame, allowed: boolean): ApiError | null {
    const pattern = frame.headers.get(SCHEDULE);
    if (pattern === "") return null;
    if (!allowed) return { code: 400, err_code: 10188, description: "message schedules is disabled" };
    if (atOf(pattern) === null) {
      return { code: 400, err_code: 10189, description: "message schedules pattern is invalid" };
    }
    const target = frame.headers.get(TARGET);
    if (target === "" || target === frame.subject) {
      return { code: 400, err_code: 10190, description: "message schedules target is invalid" };
    }
    return null;
  }

  onStored(message: StoredMessage): void {
    const at = atOf(message.headers.get(SCHEDULE));
    if (at === null) return;
    const { seq, subject, headers, data } = message;
    const fields = new Map(
      headers
        .keys()
        .filter((key) => !OWN.has(key))
        .map((key) => [key, headers.get(key)]),
    );
    fields.set("Nats-Scheduler", subject);
    fields.set("Nats-Schedule-Next", "purge");
    const frame = { subject: headers.get(TARGET), reply: null, headers: new HeaderBlock(fields), data };
    const planned = { seq, subject, atMs: at, frame };
    this.planned.set(subject, planned); // The latest schedule of a subject counts.
    this.arm(planned);
  }

  resume(): void {
    for (const planned of this.planned.values()) this.arm(planned);
  }

  private arm(planned: Planned): void {
    // Even an overdue schedule waits for the server's next check.
    this.host.after(Math.max(100, planned.atMs - this.host.wallMs()), () => {
      if (this.planned.get(planned.subject) !== planned) return;
      this.planned.delete(planned.subject);
      this.discard(planned.seq);
      this.emit(planned.frame);
    });
  }
}

function atOf(pattern: string): number | null {
  if (!pattern.startsWith("@at ")) return null;
  const at = Date.parse(pattern.slice(4));
  return Number.isNaN(at) ? null : at;
}
