import { PermissionViolationError, RequestError } from "@nats-io/nats-core";
import type { NatsConnection } from "@nats-io/nats-core";

/**
 * Asks the servers for their sync mode in two ways, in this order:
 *   1. over NATS, if the server imports `$SYS.REQ.SERVER.PING.JSZ` into our account (`antiphon dev` does);
 *   2. from the monitoring endpoint `/jsz?config=true`, given as a URL (compose and Kubernetes do that).
 */
export interface SyncMode {
  readonly serverId: string;
  readonly syncAlways: boolean;
}

/** `mute`: this way is not available. `silent`: no readable answer came in time. */
export type Heard = { kind: "told"; servers: SyncMode[] } | { kind: "mute" | "silent"; why: string };

const QUESTION = "$SYS.REQ.SERVER.PING.JSZ";
const BODY = '{"config":true}';

export async function askSyncMode(
  nc: NatsConnection,
  monitorUrl: string | undefined,
  timeoutMs: number,
): Promise<Heard> {
  const overNats = await askOverNats(nc, timeoutMs);
  if (overNats.kind === "told" || monitorUrl === undefined) return overNats;
  const urls = monitorUrl.split(",").filter((url) => url.length > 0);
  const heard = await Promise.all(urls.map((url) => askMonitor(url, timeoutMs)));
  const servers = heard.flatMap((one) => (one.kind === "told" ? one.servers : []));
  const own = servers.some(({ serverId }) => serverId === nc.info?.server_id);
  // The silent one may be the server we are connected to.
  const silent = heard.find(({ kind }) => kind === "silent");
  return own || silent === undefined ? { kind: "told", servers } : silent;
}

async function askOverNats(nc: NatsConnection, timeoutMs: number): Promise<Heard> {
  try {
    const servers: SyncMode[] = [];
    if (nc.info?.cluster === undefined) {
      servers.push(...parse((await nc.request(QUESTION, BODY, { timeout: timeoutMs })).string()));
    } else {
      const replies = await nc.requestMany(QUESTION, BODY, { strategy: "stall", maxWait: timeoutMs });
      for await (const message of replies) servers.push(...parse(message.string()));
    }
    return servers.length > 0 ? { kind: "told", servers } : { kind: "silent", why: "no server answered" };
  } catch (error) {
    // Nobody may hear the question: the account does not import it or lacks the permission.
    const nobody = error instanceof RequestError && error.isNoResponders();
    if (nobody || error instanceof PermissionViolationError)
      return { kind: "mute", why: "this account may not ask the server" };
    const { message } = error as Error;
    return { kind: "silent", why: `no answer over NATS in ${timeoutMs} ms (${message})` };
  }
}

async function askMonitor(url: string, timeoutMs: number): Promise<Heard> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await fetch(new URL("/jsz?config=true", url), { signal });
    return { kind: "told", servers: parse(await answer.text()) };
  } catch (error) {
    return { kind: "silent", why: `${url} gave no answer in ${timeoutMs} ms (${(error as Error).message})` };
  }
}

function parse(text: string): SyncMode[] {
  const body = JSON.parse(text) as JszBody & { data?: JszBody };
  const jsz = body.data ?? body;
  // A server without JetStream stores nothing, so its mode does not matter.
  if (jsz.server_id === undefined || jsz.config === undefined) return [];
  return [{ serverId: jsz.server_id, syncAlways: jsz.config.sync_always === true }];
}

interface JszBody {
  server_id?: string;
  config?: { sync_always?: boolean };
}
