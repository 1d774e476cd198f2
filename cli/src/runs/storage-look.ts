// Asks the gateway, while a run says nothing, whether the server has room for records: a run on a full disk cannot say so itself.
import type { GatewayClient } from "../gateway/gateway-client.ts";
import type { PresentWork } from "./present-work.ts";

const LOOK_EVERY_MS = 10_000;

/** Returns how to stop. */
export function lookAtStorage(gateway: Pick<GatewayClient, "get">, present: PresentWork): () => void {
  let seen = present.records;
  let isAsking = false;
  const look = async (): Promise<void> => {
    const before = seen;
    seen = present.records;
    if (isAsking) return;
    if (seen !== before) return present.storage(null);
    isAsking = true;
    try {
      const { storage } = await gateway.get("/services");
      present.storage(storage ?? null); // An older gateway does not tell.
    } catch {
      present.storage(null); // The stream of the run reports a lost connection.
    } finally {
      isAsking = false;
    }
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  return () => clearInterval(timer);
}
