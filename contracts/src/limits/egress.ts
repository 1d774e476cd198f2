/** Of the way out of a sandbox. */
import { KiB, MiB, type Limit } from "./limit.ts";

export const egress = {
  egressLeases: [256, "sandboxes", "listeners of one egress gateway", "ANT_EGRESS_BUSY"],
  egressConnections: [64, "connections", "open at once from one sandbox", "the next one waits"],
  egressRequests: [5000, "requests", "of one sandbox; a full install is about 1,500", "ANT_EGRESS_QUOTA"],
  egressUpBytes: [64 * MiB, "bytes", "sent by one sandbox; caps exfiltration", "ANT_EGRESS_QUOTA"],
  egressDownBytes: [2048 * MiB, "bytes", "received by one sandbox", "ANT_EGRESS_QUOTA"],
  egressHeaderBytes: [16 * KiB, "bytes", "header of one request", "ANT_EGRESS_MALFORMED"],
  egressHandshakeMs: [10_000, "milliseconds", "token, request header or TLS hello of a connection", "closed"],
  egressIdleMs: [120_000, "milliseconds", "a connection without traffic", "ANT_EGRESS_TIMEOUT"],
  egressRequestMs: [900_000, "milliseconds", "one request, answer included", "ANT_EGRESS_TIMEOUT"],
  modelBodyBytes: [
    8 * MiB,
    "bytes",
    "body of one model call; it is read before it is sent",
    "ANT_EGRESS_MODEL",
  ],
  resumedBytes: [24 * MiB, "bytes", "calls of a lost attempt; parsing them stalls others", "asked anew"],
  checkpointStateBytes: [8 * MiB, "bytes", "what a program says of itself in a checkpoint", "none is kept"],
  checkpointTreeBytes: [32 * MiB, "bytes", "files of a checkpoint, packed", "none is kept"],
  checkpointKeepS: [7 * 86_400, "seconds", "a checkpoint's files are kept", "the next attempt begins anew"],
  checkpointBytes: [
    512 * MiB,
    "bytes",
    "checkpoints that one sandbox leaves and reads, all together",
    "no more are kept or read",
  ],
  modelAnswerBytes: [32 * MiB, "bytes", "answer of one model call", "cut off, charged in full"],
} as const satisfies Record<string, Limit>;
