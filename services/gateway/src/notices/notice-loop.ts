/**
 * Tells another system what waits for people and which runs have ended. The journal is the queue: the loop follows its records,
 * reads each run as it is then, and keeps in a file how far it came. It is no part of any run, so a system that does
 * not answer delays only the notices behind it.
 *
 * Promises:
 *   gateway/G11 Because the place in the journal moves on only after a notice was taken, a notice is told at least once, also
 *     over crashes; its id is the same each time.
 */
import { AntiphonError, limits } from "@antiphon/contracts";
import { factsOf } from "@antiphon/run";
import { backoffMs, systemClock, type Logger, type RunNews } from "@antiphon/runtime";
import { LRUCache } from "lru-cache";
import type { Backend } from "../ports.ts";
import { tellOnce } from "./notice-request.ts";
import type { NoticeSettings } from "./notice-settings.ts";
import { noticesOf, type NamedNotice } from "./notices-of.ts";
import { keepPlaces, readPlaces } from "./told-places.ts";

export interface NoticeParts {
  readonly settings: NoticeSettings;
  readonly news: RunNews;
  readonly backend: Pick<Backend, "read">;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Milliseconds between two looks at the journal. */
  readonly everyMs: number;
}

/** Ends with the signal. */
export async function tellForever(parts: NoticeParts): Promise<void> {
  const { settings, news, log, signal, everyMs } = parts;
  const told = new LRUCache<string, true>({ max: limits.noticesRemembered });
  for (let failures = 0; !signal.aborted;) {
    try {
      const places = (await readPlaces(settings.placesFile)) ?? (await news.ends());
      await keepPlaces(settings.placesFile, places);
      for (const { runId, after } of await news.next(places)) {
        await tellRun(parts, runId, told);
        if (signal.aborted) return;
        await keepPlaces(settings.placesFile, after); // gateway/G11
      }
      failures = 0;
      await systemClock.sleep(everyMs, signal);
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ err: error }, "notices wait");
      await systemClock.sleep(backoffMs(failures, RETRY, Math.random()), signal);
      failures += 1;
    }
  }
}

const RETRY = { baseMs: 500, capMs: limits.noticeRetryMs };

/** A run that cannot be read is left to whoever repairs it. */
async function tellRun(parts: NoticeParts, runId: string, told: LRUCache<string, true>): Promise<void> {
  const { settings, backend, log } = parts;
  let notices: NamedNotice[];
  try {
    notices = noticesOf(factsOf(await backend.read(runId)), settings.page, new Date());
  } catch (error) {
    if (!(error instanceof AntiphonError) || error.code !== "ANT_JOURNAL_CORRUPT") throw error;
    return log.warn({ run: runId, code: error.code }, "nobody is told of a run that cannot be read");
  }
  for (const notice of notices) {
    if (told.has(notice.id)) continue;
    await untilTaken(parts, notice);
    told.set(notice.id, true);
  }
}

async function untilTaken({ settings, log, signal }: NoticeParts, notice: NamedNotice): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    const refusal = await tellOnce(settings, notice, Date.now(), signal);
    if (refusal === null || signal.aborted) return;
    if (attempt === 0)
      log.warn({ notice: notice.id, why: refusal }, "a notice was not taken; it is told again");
    await systemClock.sleep(backoffMs(attempt, RETRY, Math.random()), signal);
  }
}
