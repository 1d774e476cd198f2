// Limits what one caller may ask of a gateway with a token in a minute, and how often one address may guess a token. Each gateway
// counts by itself. Pure.
import { AntiphonError, limits } from "@antiphon/contracts";
import { LRUCache } from "lru-cache";
import { CallWindow } from "./call-window.ts";

const WINDOW_MS = 60_000;

export class CallerRates {
  readonly #requests = new Windows();
  readonly #guesses = new Windows();

  /**
   * Throws while an address has guessed too often, even if its token is right, because that may be the next guess. A wrong token
   * is a guess. A request without a token, or with the token of an ended session, is none.
   */
  admitAddress(address: string, now: number): void {
    const freeAt = this.#guesses.of(address).freeAt(now, limits.wrongTokens);
    if (freeAt > now) throw busy(`${limits.wrongTokens} wrong tokens came from ${address}`, freeAt - now);
  }

  guessed(address: string, now: number): void {
    this.#guesses.of(address).add(now);
  }

  /** Counts a request; throws if the caller has made too many. */
  admitCaller(principal: string, now: number): void {
    const window = this.#requests.of(principal);
    const freeAt = window.freeAt(now, limits.callerRequests);
    if (freeAt > now) throw busy(`${limits.callerRequests} requests came from ${principal}`, freeAt - now);
    window.add(now);
  }
}

/** The windows of the callers that were heard of last. */
class Windows {
  readonly #windows = new LRUCache<string, CallWindow>({ max: limits.rateWindows });

  of(name: string): CallWindow {
    const window = this.#windows.get(name) ?? new CallWindow(WINDOW_MS);
    this.#windows.set(name, window);
    return window;
  }
}

function busy(what: string, waitMs: number): AntiphonError {
  const retryAfterS = Math.max(1, Math.ceil(waitMs / 1000));
  const message = `${what} within a minute; the next one is taken in ${retryAfterS} s`;
  return new AntiphonError("ANT_GATEWAY_BUSY", message, { data: { retryAfterS } });
}
