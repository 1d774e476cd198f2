import { journalStream, parseJournalSubject, subjects, type JournalType } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";

/** The next sequence to read, for each partition and type of record. */
export type NewsPlaces = Readonly<Record<string, number>>;

export interface RunNewsItem {
  readonly runId: string;
  /** The places after this record is told. */
  readonly after: NewsPlaces;
}

/** Records of some types in the order of the journal, for whoever tells others of them. */
export interface RunNews {
  /** Behind the last record that there is now. */
  ends(): Promise<NewsPlaces>;
  next(places: NewsPlaces): Promise<RunNewsItem[]>;
}

const PAGE = 64;

export function openRunNews(bus: Bus, types: readonly JournalType[]): RunNews {
  const partitions = Array.from({ length: bus.partitions }, (_, partition) => partition);
  const keyOf = (partition: number, type: JournalType): string => `${partition}.${type}`;
  return {
    async ends() {
      const ends: Record<string, number> = {};
      for (const partition of partitions) {
        const { state } = await bus.jsm.streams.info(journalStream(partition));
        for (const type of types) ends[keyOf(partition, type)] = state.last_seq + 1;
      }
      return ends;
    },
    async next(places) {
      const items: RunNewsItem[] = [];
      let after = places;
      for (const partition of partitions)
        for (const type of types) {
          const key = keyOf(partition, type);
          const at = { filter: subjects.partitionType(partition, type), seq: places[key] ?? 1, batch: PAGE };
          const { messages } = await bus.reader.next(journalStream(partition), at);
          for (const { subject, seq } of messages) {
            after = { ...after, [key]: seq + 1 };
            const address = parseJournalSubject(subject);
            if (address !== null) items.push({ runId: address.runId, after });
          }
        }
      return items;
    },
  };
}
