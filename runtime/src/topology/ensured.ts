/**
 * Makes one stream or one consumer match the topology: creates it if it is missing, updates it if it differs, and leaves it alone
 * otherwise. A stream that was written is read back, so an option that the server ignored is an error at once.
 */
import { AntiphonError, type ConsumerSpec } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { consumerConfig, type WantedStream } from "./server-config.ts";
import { readConsumer, readStream } from "./server-state.ts";
import { differences, refusesToLoosen } from "./topology-diff.ts";

export interface ProvisionReport {
  created: string[];
  updated: string[];
  unchanged: number;
}

/** `keeps`: the server has a newer release's settings, which stay. */
export interface Ensure {
  readonly report: ProvisionReport;
  readonly keeps: boolean;
}

export async function ensureStream(bus: Bus, wanted: WantedStream, { report, keeps }: Ensure): Promise<void> {
  const existing = await readStream(bus, wanted.name);
  if (existing === null) {
    await bus.jsm.streams.add(wanted);
    report.created.push(wanted.name);
  } else {
    const changes = differences(wanted, existing);
    if (changes.length === 0 || keeps) {
      report.unchanged += 1;
      return;
    }
    const loosened = refusesToLoosen(wanted, existing); // runtime/J7
    if (loosened.length > 0) {
      throw new AntiphonError(
        "ANT_NATS_TOPOLOGY",
        `stream ${wanted.name} exists with stronger guarantees: ${loosened.join(", ")}`,
        { data: { stream: wanted.name, fields: loosened } },
      );
    }
    await bus.jsm.streams.update(wanted.name, { ...existing, ...wanted });
    report.updated.push(wanted.name);
  }
  const stored = await readStream(bus, wanted.name);
  const ignored = stored === null ? ["all"] : differences(wanted, stored); // runtime/J7
  if (ignored.length > 0) {
    throw new AntiphonError(
      "ANT_NATS_TOPOLOGY",
      `the server did not keep these options of stream ${wanted.name}: ${ignored.join(", ")}`,
      { data: { stream: wanted.name, fields: ignored } },
    );
  }
}

export async function ensureConsumer(
  bus: Bus,
  spec: ConsumerSpec,
  { report, keeps }: Ensure,
  probedLeases: boolean | null,
): Promise<void> {
  const name = `${spec.stream} > ${spec.name}`;
  const existing = await readConsumer(bus, spec);
  const wanted = consumerConfig(spec, probedLeases, existing);
  if (existing === null) {
    // Creating the same consumer twice with the same settings has no effect, so processes may start at the same time.
    await bus.jsm.consumers.add(spec.stream, wanted);
    report.created.push(name);
    return;
  }
  if (keeps || differences(wanted, existing).length === 0) {
    report.unchanged += 1;
    return;
  }
  await bus.jsm.consumers.update(spec.stream, spec.name, wanted);
  report.updated.push(name);
}
