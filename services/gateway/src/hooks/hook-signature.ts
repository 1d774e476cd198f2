// Checks the signature of a hook's request: HMAC-SHA256 over `<timestamp>.<body>` with the hook's secret.
//
// A request counts within a few minutes of its timestamp, and once: its signature is remembered for that time. After a
// restart, or at another gateway, a repeated request still changes nothing, because a decision names its verdict and a
// person counts once. A wrong name, signature or time gets the same answer, so a caller learns nothing about the secrets.
import { createHmac, timingSafeEqual } from "node:crypto";
import { AntiphonError, limits } from "@antiphon/contracts";
import type { Hook } from "./hook-settings.ts";

export interface SignedRequest {
  readonly hook: string;
  /** Seconds since 1970, as sent in `antiphon-timestamp`. */
  readonly timestamp: string | undefined;
  /** `sha256=<hex>`, as sent in `antiphon-signature`. */
  readonly signature: string | undefined;
  readonly body: string;
}

/** The signature that a hook sends. */
export function signHook(secret: string, timestamp: string, body: string): string {
  return `sha256=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;
}

export class HookSignatures {
  readonly #hooks: ReadonlyMap<string, string>;
  /** Accepted signatures, each with the time from which its age alone refuses it; oldest first. */
  readonly #seen = new Map<string, number>();

  constructor(hooks: readonly Hook[]) {
    this.#hooks = new Map(hooks.map(({ name, secret }) => [name, secret]));
  }

  /** @throws AntiphonError ANT_HOOK_SIGNATURE, or ANT_GATEWAY_BUSY if more requests came than are remembered */
  accept({ hook, timestamp = "", signature = "", body }: SignedRequest): void {
    const now = Date.now();
    const secret = this.#hooks.get(hook);
    const expected = signHook(secret ?? "", timestamp, body);
    const isEqual = sameText(signature, expected);
    const isNow =
      /^\d{1,12}$/.test(timestamp) && Math.abs(now - Number(timestamp) * 1000) <= limits.hookWindowMs;
    if (secret === undefined || !isEqual || !isNow)
      throw new AntiphonError("ANT_HOOK_SIGNATURE", "the hook, its signature or its time is wrong");
    this.#forget(now);
    if (this.#seen.has(signature))
      throw new AntiphonError("ANT_HOOK_SIGNATURE", "this request was sent before");
    if (this.#seen.size >= limits.hookRequests)
      throw new AntiphonError("ANT_GATEWAY_BUSY", "too many requests of hooks in a few minutes");
    // A clock that is ahead makes a request valid for up to two windows.
    this.#seen.set(signature, now + 2 * limits.hookWindowMs);
  }

  #forget(now: number): void {
    for (const [signature, until] of this.#seen) {
      if (until > now) return;
      this.#seen.delete(signature);
    }
  }
}

function sameText(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
