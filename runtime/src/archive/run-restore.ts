import type { ArchivedMessage, ArchivedRun } from "@antiphon/contracts";
import { AntiphonError, HEADERS, digestOf } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { systemClock } from "../process/clock.ts";
import { brokenChain } from "../journal/run-chain.ts";
import { believedLast, publishPastForged } from "../journal/forged.ts";
import type { Journal } from "../journal/journal.ts";
import { PackShelf } from "./pack-shelf.ts";
import { latestArchived, recordOf } from "../journal/run-history.ts";
import { journalStreamOf, runMessages } from "../journal/run-messages.ts";

/**
 * Puts the records of an archived run back into the journal: same subjects, same bytes, same headers. The server gives
 * them new sequences and times; a header keeps the first ones, and readers go by it (record-reader.ts, Y5).
 *
 * Lifecycle: archived -> `restored` is said (no archiver touches the run now) -> records are put back -> all are there.
 *
 * Invariants:
 *   Q4 Nothing is put back that the `archived` record does not vouch for, or whose chain does not hold.
 *   Q5 The last record goes first and the `intent` last: whoever is woken by a record that is there again finds all its
 *      consequences there too, and has nothing left to do.
 *   Q6 Cut short anywhere, the run is still read whole, from its pack; the same call again goes on.
 *   Q7 What it returns was read back from the journal.
 */
export interface RestoredRun {
  readonly runId: string;
  readonly records: number;
  /** How many of them this call put back; none: they were there. */
  readonly restored: number;
}

export interface RunRestore {
  restore(runId: string, by: string): Promise<RestoredRun>;
}

/** Not stored as they were: they say how a message is to be written, not what it is. */
const CONTROL = "Nats-";
const LOOKS = 5;
const LOOK_MS = 200;

export function openRunRestore(bus: Bus, journal: Journal): RunRestore {
  const shelf = new PackShelf(bus);
  return {
    async restore(runId, by) {
      const found = await runMessages(bus, runId);
      if (found.length === 0) throw new AntiphonError("ANT_RUN_NOT_FOUND", `there is no run ${runId}`);
      const archived = latestArchived(found.map((message) => bus.records.read(message)));
      if (archived === null) throw new AntiphonError("ANT_RUN_NOT_ARCHIVED", `${runId} is in the journal`);
      const entry = await shelf.entry(archived); // Q4
      const broken = brokenChain(entry.records.map((message) => recordOf(bus, message)));
      if (broken !== null) throw new AntiphonError("ANT_ARCHIVE_CORRUPT", `${runId}: ${broken}`);
      const cause = { seq: archived.seq, digest: archived.digest };
      // A conflict means that somebody else asked first; then both put back the same.
      await journal.append({
        type: "restored",
        ...{ runId, taskId: null, epoch: archived.epoch, cause, body: { by } },
      });
      let restored = 0;
      for (const message of entry.records.toReversed()) {
        if (await putBack(bus, runId, message)) restored += 1; // Q5
      }
      await readBack(bus, entry); // Q7
      return { runId, records: entry.records.length, restored };
    },
  };
}

/** False: it was there. */
async function putBack(bus: Bus, runId: string, message: ArchivedMessage): Promise<boolean> {
  const { subject, seq, at, data } = message;
  const stream = journalStreamOf(bus, runId);
  const headers = { ...wordsOf(message.headers), [HEADERS.restored]: `${seq}:${at}` };
  const result = await publishPastForged(bus, { stream, subject, payload: data, headers, group: true });
  if (result.kind === "ok") return true;
  if (result.kind === "unknown") throw new AntiphonError("ANT_NATS_UNREACHABLE", result.reason);
  if (result.refusal === "full") throw new AntiphonError("ANT_NATS_NO_SPACE", result.description);
  const there = await believedLast(bus, stream, subject);
  if (there !== null && digestOf(there.data) === digestOf(data)) return false; // Q6
  throw new AntiphonError("ANT_JOURNAL_CONFLICT", `${subject} holds another record than the archive`);
}

/** A replica may lag behind what it was just told; an archiver that looked before may have deleted it once more. */
async function readBack(bus: Bus, entry: ArchivedRun): Promise<void> {
  let missing = "";
  for (let look = 0; look < LOOKS; look += 1) {
    const messages = await runMessages(bus, entry.runId);
    const live = new Map(messages.map(({ subject, data }) => [subject, digestOf(data)]));
    const lost = entry.records.find(({ subject, data }) => live.get(subject) !== digestOf(data));
    if (lost === undefined) return;
    missing = lost.subject;
    await systemClock.sleep(LOOK_MS);
  }
  throw new AntiphonError(
    "ANT_JOURNAL_GAP",
    `${missing} is not in the journal again; restore the run once more`,
  );
}

function wordsOf(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(CONTROL)));
}
