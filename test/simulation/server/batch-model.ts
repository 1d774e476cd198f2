/**
 * BatchModel: atomic batches of one stream. Members are staged on arrival; the commit stores all or none.
 *
 * A staged batch lives in the server's memory only: a restart, or ten seconds without a member, ends it.
 */
import type { ApiError, StreamModel } from "./stream-model.ts";
import { storedBytes } from "./stream-model.ts";
import type { Frame } from "./wire.ts";

const ABANDON_MS = 10_000;
const MAX_MEMBERS = 1000;

interface Staged {
  frames: Frame[];
  heardAtMs: number;
}

export type BatchStep =
  /** Keeps a member until the commit; if the member asks for an answer, it gets an empty message. */
  | { kind: "staged" }
  | { kind: "committed"; lastSeq: number; count: number }
  | { kind: "refused"; error: ApiError };

export class BatchModel {
  private readonly stream: StreamModel;
  private readonly open = new Map<string, Staged>();

  constructor(stream: StreamModel) {
    this.stream = stream;
  }

  take(frame: Frame, id: string, nowMs: number): BatchStep {
    for (const [other, staged] of this.open) {
      if (nowMs - staged.heardAtMs > ABANDON_MS) this.open.delete(other);
    }
    if (!this.stream.settings.allowAtomic) return refused(10174, "atomic publish is disabled");
    if (id.length > 64) return refused(10179, "atomic publish batch ID is invalid");
    const position = Number(frame.headers.get("Nats-Batch-Sequence"));
    if (!Number.isInteger(position) || position <= 0)
      return refused(10175, "atomic publish sequence is missing");
    const staged = this.open.get(id) ?? (position === 1 ? { frames: [], heardAtMs: nowMs } : undefined);
    if (staged === undefined || position !== staged.frames.length + 1) {
      this.open.delete(id);
      return refused(10176, "atomic publish batch is incomplete");
    }
    this.open.set(id, staged);
    staged.heardAtMs = nowMs;
    if (staged.frames.length >= MAX_MEMBERS) {
      this.open.delete(id);
      return refused(10199, `atomic publish batch is too large: ${MAX_MEMBERS}`);
    }
    staged.frames.push(frame);
    const commit = frame.headers.get("Nats-Batch-Commit");
    if (commit === "") return { kind: "staged" };
    this.open.delete(id);
    if (commit !== "1") return refused(10200, "atomic publish batch commit is invalid");
    return this.commit(staged.frames, nowMs);
  }

  forgetAll(): void {
    this.open.clear();
  }

  private commit(frames: readonly Frame[], nowMs: number): BatchStep {
    const ids = new Set<string>();
    const staged = new Map<string, number>();
    let bytes = 0;
    let seq = this.stream.lastSeq;
    for (const frame of frames) {
      const id = frame.headers.get("Nats-Msg-Id");
      if (id !== "" && (ids.has(id) || this.stream.knowsId(id, nowMs))) {
        return refused(10201, "atomic publish batch contains duplicate message id");
      }
      if (id !== "") ids.add(id);
      const error = this.stream.refusal(frame, staged, bytes);
      if (error !== null) return { kind: "refused", error };
      seq += 1;
      bytes += storedBytes(frame);
      staged.set(frame.subject, seq);
    }
    for (const frame of frames) this.stream.store(frame, nowMs);
    return { kind: "committed", lastSeq: this.stream.lastSeq, count: frames.length };
  }
}

function refused(code: number, description: string): BatchStep {
  return { kind: "refused", error: { code: 400, err_code: code, description } };
}
