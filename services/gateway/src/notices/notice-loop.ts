/**
 * Tells another system what waits for people and which runs have ended. The journal is the queue: the loop follows its records,
 * reads each run as it is then, and keeps in a bucket how far it came. It is no part of any run, so a system that does
 * not answer delays only the notices behind it: for a day, or for a quarter of an hour if it refuses a notice for good. Gateways take
 * turns (notice-turn.ts), so normally one of them tells.
 *
 * Promises:
 *   gateway/G11 Because the place in the journal moves on only after a notice was taken or given up, a notice that stays true
 *     is told at least once, also over crashes; its id is the same each time.
 */
import { AntiphonError, limits } from "@antiphon/contracts";
import { factsOf } from "@antiphon/run";
import { backoffMs, systemClock, type Logger, type RunNews } from "@antiphon/runtime";
import { LRUCache } from "lru-cache";
import type { Backend } from "../ports.ts";
import { tellOnce } from "./notice-request.ts";
import type { NoticeSettings } from "./notice-settings.ts";
import { noticesOf, type NamedNotice } from "./notices-of.ts";
import type { NoticeTurn } from "./notice-turn.ts";

export interface NoticeParts {
  readonly settings: NoticeSettings;
  readonly turn: NoticeTurn;
  readonly news: RunNews;
  readonly backend: Pick<Backend, "read">;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Milliseconds between two looks at the journal. */
  readonly everyMs: number;
  /** How long a notice that is refused for good is told again. Default: limits.noticeRefusedMs. */
  readonly refusedMs?: number;
}

/** Ends with the signal, and gives its turn back. */
export async function tellForever(parts: NoticeParts): Promise<void> {
  const { turn, log, signal, everyMs } = parts;
  const told = new LRUCache<string, true>({ max: limits.noticesRemembered });
  for (let failures = 0; !signal.aborted;) {
    try {
      await tellNews(parts, told);
      failures = 0;
      await systemClock.sleep(everyMs, signal);
    } catch (error) {
      if (signal.aborted) break;
      log.warn({ err: error }, "notices wait");
      await systemClock.sleep(backoffMs(failures, RETRY, Math.random()), signal);
      failures += 1;
    }
  }
  try {
    await turn.give();
  } catch (error) {
    log.warn({ err: error }, "the turn to tell was not given back; another gateway takes it soon");
  }
}

/** One look at the journal, if it is this gateway's turn. */
async function tellNews(parts: NoticeParts, told: LRUCache<string, true>): Promise<void> {
  const { turn, news, signal } = parts;
  const taken = await turn.take(() => news.ends());
  if (taken === null) return;
  for (const id of taken.last.toReversed()) told.set(id, true);
  for (const { runId, after } of await news.next(taken.places)) {
    await turn.during((held) => tellRun({ ...parts, signal: held }, runId, told), signal);
    if (signal.aborted || !(await turn.keep(after, told.keys()))) return; // gateway/G11
  }
}

const RETRY = { baseMs: 500, capMs: limits.noticeRetryMs };

async function tellRun(parts: NoticeParts, runId: string, told: LRUCache<string, true>): Promise<void> {
  for (const notice of await noticesNow(parts, runId)) {
    if (told.has(notice.id)) continue;
    await untilTaken(parts, runId, notice);
    if (!parts.signal.aborted) told.set(notice.id, true);
  }
}

/** The notices of a run; none if its records cannot be read, because an operator has to repair them first. */
async function noticesNow({ settings, backend, log }: NoticeParts, runId: string): Promise<NamedNotice[]> {
  try {
    return noticesOf(factsOf(await backend.read(runId)), settings.page, new Date());
  } catch (error) {
    if (!(error instanceof AntiphonError) || error.code !== "ANT_JOURNAL_CORRUPT") throw error;
    log.warn({ run: runId, code: error.code }, "nobody is told of a run that cannot be read");
    return [];
  }
}

/** Also returns when the notice is no longer true, because a person has decided meanwhile, and when it is given up. */
async function untilTaken(parts: NoticeParts, runId: string, notice: NamedNotice): Promise<void> {
  const { settings, log, signal, refusedMs = limits.noticeRefusedMs } = parts;
  const begun = Date.now();
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    const refusal = await tellOnce(settings, notice, Date.now(), signal);
    if (refusal === null || signal.aborted) return;
    const about = { notice: notice.id, run: runId, why: refusal.why };
    if (Date.now() - begun >= (refusal.isFinal ? refusedMs : limits.noticeUntakenMs))
      return log.error(about, "a notice was not taken; it is given up, for those behind it");
    if (attempt === 0) log.warn(about, "a notice was not taken; it is told again");
    await systemClock.sleep(backoffMs(attempt, RETRY, Math.random()), signal);
    if (!(await noticesNow(parts, runId)).some(({ id }) => id === notice.id)) return;
  }
}
