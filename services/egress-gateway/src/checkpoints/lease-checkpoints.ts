/** The checkpoints of one lease, if its grant has them: where they go, what they name of its model calls, and what a program's going on changes. */
import type { BlobRef, EgressOpenRequest } from "@antiphon/contracts";
import { readable } from "../models/call-list.ts";
import type { RecordedCalls } from "../models/recorded-calls.ts";
import type { ExchangePorts } from "../proxy/exchange.ts";
import { CheckpointExchange, forgetful, type CheckpointPorts } from "./checkpoint-exchange.ts";
import type { Checkpoints } from "./checkpoints.ts";

/** The newest checkpoint of each attempt, and the files that it names, which go after `limits.checkpointKeepS`. */
export interface CheckpointStore extends Pick<CheckpointPorts, "store" | "read"> {
  readonly registers: Checkpoints;
}

export interface LeaseCheckpoints extends Pick<CheckpointPorts, "secrets"> {
  /** Absent: none are kept. */
  readonly checkpoints: CheckpointStore | undefined;
  readonly asked: EgressOpenRequest;
  /** The recordings of the lease's model calls, to which those before the checkpoint are added. */
  readonly recordings: BlobRef[];
  /** The record that answers its model calls, and the objects of that record; null: there is none. */
  readonly replayed: RecordedCalls | null;
  readonly replayedCalls: readonly BlobRef[];
  /** Ends what earlier attempts of the task may still ask models. */
  readonly onBegun: () => void;
}

export function checkpointsOf(lease: LeaseCheckpoints): ExchangePorts["checkpoint"] {
  const { checkpoints, asked, recordings, replayed, replayedCalls } = lease;
  const {
    resumes,
    resumes_since: since,
    replay,
    record = true,
    checkpoints: isGranted = false,
  } = asked.grant;
  // Setup for an attempt has the ids of that attempt. It must neither read what the attempt left, which would be in the clean room
  // and in no commit, nor leave it a conversation to go on from.
  if (checkpoints === undefined || !isGranted || replay?.then === "stop") return forgetful;
  const before = resumes === undefined ? null : { newest: resumes, oldest: since ?? resumes };
  const exchange = new CheckpointExchange({
    ...{ store: checkpoints.store, read: checkpoints.read, secrets: lease.secrets },
    calls: () => readable(recordings),
    begin: async () => {
      const register = await checkpoints.registers.begin(asked, before);
      lease.onBegun();
      return register;
    },
    onRestored: ({ calls }) => {
      // The calls before the checkpoint become part of the attempt's record, so that it can be replayed.
      if (record) recordings.unshift(...calls);
      const passed = new Set(calls.map(({ name }) => name));
      replayed?.pass(replayedCalls.flatMap(({ name }, i) => (passed.has(name) ? [i + 1] : [])));
    },
  });
  return (ask) => exchange.answer(ask);
}
