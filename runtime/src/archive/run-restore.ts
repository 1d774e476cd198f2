import type { ArchivedMessage, ArchivedRun } from "@antiphon/contracts";
import { AntiphonError, HEADERS, digestOf } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { headerLines } from "../nats/wire-headers.ts";
import { systemClock } from "../process/clock.ts";
import { brokenChain } from "../journal/run-chain.ts";
import { believedLast, publishPastForged } from "../journal/forged.ts";
import type { Journal } from "../journal/journal.ts";
import { PackStore } from "./pack-store.ts";
import { latestArchived, recordOf } from "../journal/run-history.ts";
import { journalStreamOf, runMessages } from "../journal/run-messages.ts";

/**
 * Puts the records of an archived run back into the journal: same subjects, same bytes, same headers. The server
 * assigns new sequences and times; a header keeps the first ones, and readers use those (record-reader.ts).
 *
 * Lifecycle: archived -> `restored` is stored (no archiver touches the run now) -> records are put back -> all are
 * there.
 *
 * Only a run that its `archived` record confirms, with an unbroken chain of causes, is put back. The last record goes
 * first and the `intent` last, so a reader woken by a restored record finds its consequences there too and does
 * nothing. After an interruption the run is still read from its pack, and the same call again continues. The result is
 * returned only after it was read back from the journal.
 */
export interface RestoredRun {
  readonly runId: string;
  readonly records: number;
  /** How many of them this call put back; 0: they were there. */
  readonly restored: number;
}

export interface RunRestore {
  restore(runId: string, by: string): Promise<RestoredRun>;
}

/** Headers with this prefix control how a message is stored; they are not part of the record. */
const CONTROL = "Nats-";
const LOOKS = 5;
const LOOK_MS = 200;

export function openRunRestore(bus: Bus, journal: Journal): RunRestore {
  const packs = new PackStore(bus);
  return {
    async restore(runId, by) {
      const found = await runMessages(bus, runId);
      if (found.length === 0) throw new AntiphonError("ANT_RUN_NOT_FOUND", `there is no run ${runId}`);
      const archived = latestArchived(found.map((message) => bus.records.read(message)));
      if (archived === null) throw new AntiphonError("ANT_RUN_NOT_ARCHIVED", `${runId} is in the journal`);
      const entry = await packs.entry(archived);
      const broken = brokenChain(entry.records.map((message) => recordOf(bus, message)));
      if (broken !== null) throw new AntiphonError("ANT_ARCHIVE_CORRUPT", `${runId}: ${broken}`);
      const cause = { seq: archived.seq, digest: archived.digest };
      // A conflict means that another caller asked first; both then put back the same records.
      await journal.append({
        type: "restored",
        ...{ runId, taskId: null, epoch: archived.epoch, cause, body: { by } },
      });
      let restored = 0;
      for (const message of entry.records.toReversed()) {
        if (await putBack(bus, runId, message)) restored += 1;
      }
      await readBack(bus, entry);
      return { runId, records: entry.records.length, restored };
    },
  };
}

/** False: the record was there. */
async function putBack(bus: Bus, runId: string, message: ArchivedMessage): Promise<boolean> {
  const { subject, seq, at, data } = message;
  const stream = journalStreamOf(bus, runId);
  const headers = headerLines({ ...wordsOf(message.headers), [HEADERS.restored]: `${seq}:${at}` });
  const result = await publishPastForged(bus, { stream, subject, payload: data, headers, group: true });
  if (result.kind === "ok") return true;
  if (result.kind === "unknown") throw new AntiphonError("ANT_NATS_UNREACHABLE", result.reason);
  if (result.refusal === "full") throw new AntiphonError("ANT_NATS_NO_SPACE", result.description);
  const there = await believedLast(bus, stream, subject);
  if (there !== null && digestOf(there.data) === digestOf(data)) return false;
  throw new AntiphonError("ANT_JOURNAL_CONFLICT", `${subject} holds a different record than the archive`);
}

/** Looks several times: a replica may lag, and an archiver that looked earlier may have deleted a record again. */
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
  throw new AntiphonError("ANT_JOURNAL_GAP", `${missing} is still not in the journal; restore the run again`);
}

function wordsOf(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(CONTROL)));
}
