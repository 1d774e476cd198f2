/** The records that are gone: which registers are empty, and which hole in the chain of causes is which of them. Pure. */
import { parseJournalSubject, subjects } from "@antiphon/contracts/topology/subjects";
import type { Held } from "@antiphon/contracts/stored/run-material";
import { words, type Hole } from "./cause-chain.ts";
import type { FaultMap } from "./fault-map.ts";
import type { Implied } from "./implied-records.ts";
import { registerKey } from "./known-run.ts";

interface Gone extends Implied {
  readonly subject: string;
}

/** Registers that must hold a record and are neither readable, nor damaged, nor listed by the server. */
export function absent(
  implied: readonly Implied[],
  messages: readonly Held[],
  runId: string,
  partitions: number,
): Gone[] {
  const there = new Set(messages.map(({ address }) => (address === null ? "" : registerKey(address))));
  const gone = new Map<string, Gone>();
  for (const one of implied) {
    const key = registerKey(one.register);
    if (there.has(key) || gone.has(key)) continue;
    gone.set(key, { ...one, subject: subjects.journal({ ...one.register, runId }, partitions) });
  }
  return [...gone.values()];
}

/** A hole in the chain and an empty register are the same record if the record after the hole implies that register. */
export function nameHoles(holes: readonly Hole[], gone: readonly Gone[], faults: FaultMap): Gone[] {
  const left = new Map(gone.map((one) => [one.subject, one]));
  const nameless: Hole[] = [];
  for (const hole of holes) {
    const led = ledTo(hole, [...left.values()], faults);
    if (led === undefined) nameless.push(hole);
    else {
      left.delete(led);
      faults.missing(led, hole.seq, `${hole.digest} (named by ${words(hole.namedBy)})`);
    }
  }
  const candidates = [...left.values()].filter(({ subject }) => !faults.knows(subject));
  const unread = faults.unreadableOnes();
  for (const hole of nameless) {
    const named = `${hole.digest} (named by ${words(hole.namedBy)})`;
    const only = candidates.length === 1 && nameless.length === 1 ? candidates[0] : undefined;
    if (only !== undefined) {
      left.delete(only.subject);
      faults.missing(only.subject, hole.seq, named);
    } else if (unread.length === 1 && nameless.length === 1 && unread[0] !== undefined) {
      faults.place(unread[0], hole.seq, named);
    } else faults.missing(null, hole.seq, named);
  }
  return [...left.values()].filter(({ subject }) => !faults.knows(subject));
}

/** The address of a claim, a result or a landing tells the register of its cause. */
function ledTo({ namedBy }: Hole, gone: readonly Gone[], faults: FaultMap): string | undefined {
  const { type, taskId, epoch } = namedBy;
  const before = { claim: "dispatch", result: "claim", verdict: "result", landing: "verdict" } as const;
  if (!(type in before)) return undefined;
  const wanted = registerKey({ type: before[type as keyof typeof before], taskId, epoch });
  const isWanted = (subject: string): boolean => {
    const address = parseJournalSubject(subject);
    return address !== null && registerKey(address) === wanted;
  };
  return gone.find(({ subject }) => isWanted(subject))?.subject ?? faults.unreadableOnes().find(isWanted);
}
