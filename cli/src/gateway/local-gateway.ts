// Where the gateway is. ANTIPHON_GATEWAY_URL decides; without it, it is the one of this machine's `antiphon dev`, at
// whatever port, or else the usual address.
import { authorization } from "../config.ts";
import type { CliConfig } from "../config.ts";
import type { CliContext } from "../context.ts";
import { devDirectory, instanceIn } from "../dev/instance.ts";
import { isFree } from "../dev/loopback-port.ts";
import { Failure } from "../failure.ts";
import { http } from "./http-exchange.ts";

const PROBE_MS = 3_000;
const ANY_PORTS = ["--port", "0", "--nats-port", "0"];

export function gatewayAddress(config: CliConfig): string {
  if (config.isGatewayNamed) return config.gatewayUrl;
  return instanceIn(devDirectory(config.stateDir))?.addresses?.gateway ?? config.gatewayUrl;
}

/** Starts the services in the background if no gateway is named, and none answers on this machine. */
export async function ensureGateway(context: CliContext): Promise<void> {
  const { config, screen } = context;
  if (config.isGatewayNamed) return;
  const dir = devDirectory(config.stateDir);
  const running = instanceIn(dir);
  if (running?.addresses != null) return;
  const isPortFree = await isFree(Number(new URL(config.gatewayUrl).port));
  if (running === null && !isPortFree && (await isGateway(config))) return;
  const { eventLog, startInBackground } = await import("../dev/background.ts");
  screen.err(
    `no gateway answers: starting the services in the background (log: ${eventLog(dir)}; end them with: antiphon dev --stop)`,
  );
  // The commands find the gateway at any port, so another program at the usual ones is no obstacle.
  await startInBackground(context, dir, isPortFree ? [] : ANY_PORTS).catch((error: unknown) => {
    if (Failure.from(error).code !== "ANT_DEV_PORT_TAKEN") throw error;
    return startInBackground(context, dir, ANY_PORTS);
  });
}

/** Whether the listener is a gateway of Antiphon; one that refuses us is. */
async function isGateway({ gatewayUrl, token }: CliConfig): Promise<boolean> {
  const asked = { method: "GET", headers: authorization(token), timeoutMs: PROBE_MS };
  const answer = await http.exchange(`${gatewayUrl}/services`, asked).catch(() => null);
  return answer !== null && /^\{"(services|error)":/.test(answer.body.toString());
}
