/** The output of services as files of an evidence bundle: one for each time that a service was started. Pure. */
import type { BlobRef } from "../shapes/refs.ts";
import type { ServiceOutcome } from "./sandbox-rpc.ts";

export function serviceLogs(
  services: readonly Pick<ServiceOutcome, "name" | "log">[],
): { path: string; blob: BlobRef }[] {
  const started = new Map<string, number>();
  return services.flatMap(({ name, log: { blob } }) => {
    const time = (started.get(name) ?? 0) + 1;
    started.set(name, time);
    const path = `services/${name}${time === 1 ? "" : `.${time}`}.log`;
    return blob === null ? [] : [{ path, blob }];
  });
}
