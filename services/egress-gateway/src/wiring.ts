/** Serves the egress gateway's requests on the bus: open a listener; close it and report its traffic. */
import {
  BUCKETS,
  requestProblem,
  subjects,
  validate,
  type EgressCloseRequest,
  type EgressOpened,
  type EgressReport,
} from "@antiphon/contracts";
import { openBlobs, openKv, serveRpc, silentMeter, type Role, type ServiceContext } from "@antiphon/runtime";
import { BudgetStore } from "./models/budget-store.ts";
import type { EgressSettings } from "./config.ts";
import { Leases } from "./leases.ts";

export function startEgress({ bus, log, node, metrics }: ServiceContext, settings: EgressSettings): Role {
  const blobs = openBlobs(bus, BUCKETS.evidenceFiles);
  const meter = metrics ?? silentMeter;
  const leases = new Leases({
    meter,
    settings,
    budgets: new BudgetStore(openKv(bus, BUCKETS.budgets)),
    store: (bytes) => blobs.put(null, bytes),
    read: (recording) => blobs.get(recording),
    node,
    log,
    now: () => Date.now(),
  });
  meter.read("antiphon_egress_leases", () => [{ labels: {}, value: leases.open }]);
  serveRpc<unknown, EgressOpened>(bus, subjects.egressOpen, "egress", (request) => {
    const checked = validate("EgressOpenRequest", request);
    if (checked.ok) return leases.opened(checked.value);
    throw requestProblem("EgressOpenRequest", request, checked.errors);
  });
  // Reports must be available while this process drains, so this service outlives the drain.
  serveRpc<EgressCloseRequest, EgressReport>(bus, subjects.egressClose(node), node, ({ lease }) =>
    leases.closed(lease),
  );
  for (const { entry, reason } of settings.unusable) {
    log.error({ code: "ANT_CONFIG_INVALID", entry, reason }, "entry of the configuration is not used");
  }
  for (const [place, to] of settings.overrides) {
    log.warn(
      { place, to: `${to.address}:${to.port}` },
      "address override: this address is not checked; do not use overrides in production",
    );
  }
  log.info(
    { listen: settings.listen, models: settings.models.size, credentials: settings.credentials.length },
    "egress for sandboxes",
  );
  return {
    drain: () => {
      leases.closeAll();
      return Promise.resolve();
    },
  };
}
