// One signed request to the other system (Standard Webhooks): `webhook-id`, `webhook-timestamp` and `webhook-signature`, an
// HMAC-SHA256 over `<id>.<timestamp>.<body>`. Redirects are not followed, and the answer is not read.
import { createHmac } from "node:crypto";
import { limits } from "@antiphon/contracts";
import type { NoticeSettings } from "./notice-settings.ts";
import type { NamedNotice } from "./notices-of.ts";

export function signNotice(secret: Buffer, id: string, timestamp: string, body: string): string {
  return `v1,${createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
}

export interface Refusal {
  readonly why: string;
  /** The system is there and does not want this notice: a status of 4xx that does not ask for another try. */
  readonly isFinal: boolean;
}

/** They mean: later. */
const LATER = new Set([401, 403, 404, 408, 425, 429]);

/** Null: it was taken. */
export async function tellOnce(
  { url, secret }: Pick<NoticeSettings, "url" | "secret">,
  { id, notice }: NamedNotice,
  now: number,
  signal: AbortSignal,
): Promise<Refusal | null> {
  const body = JSON.stringify(notice);
  const timestamp = String(Math.floor(now / 1000));
  try {
    const answer = await fetch(url, {
      method: "POST",
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(limits.noticeCallMs)]),
      headers: {
        "content-type": "application/json",
        "user-agent": "antiphon",
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        "webhook-signature": signNotice(secret, id, timestamp, body),
      },
      body,
    });
    await answer.body?.cancel();
    if (answer.ok) return null;
    const { status } = answer;
    return { why: `it answered ${status}`, isFinal: status >= 400 && status < 500 && !LATER.has(status) };
  } catch (error) {
    const { cause, message } = error as Error;
    return { why: cause instanceof Error ? cause.message : message, isFinal: false };
  }
}
