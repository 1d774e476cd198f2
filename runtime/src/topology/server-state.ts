/** Asks the server for the configuration of a stream or a consumer; null: it has none. */
import type { StreamConfig } from "@nats-io/jetstream";
import type { ConsumerSpec } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";

export async function readStream(
  bus: Bus,
  name: string,
): Promise<(StreamConfig & Record<string, unknown>) | null> {
  try {
    const info = await bus.jsm.streams.info(name);
    return { ...info.config };
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

export async function readConsumer(bus: Bus, spec: ConsumerSpec): Promise<Record<string, unknown> | null> {
  try {
    const info = await bus.jsm.consumers.info(spec.stream, spec.name);
    return info.config;
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

function isNotFound(error: unknown): boolean {
  const status = (error as { status?: number }).status;
  const code = (error as { code?: number }).code;
  return status === 404 || code === 10059 || code === 10014;
}
