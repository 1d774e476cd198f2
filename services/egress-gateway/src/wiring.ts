/** Serves the egress gateway's requests on the bus: open a listener; close it and report its traffic; show model hosts. */
import {
  BUCKETS,
  requestProblem,
  subjects,
  validate,
  type EgressCloseRequest,
  type EgressOpened,
  type EgressReport,
  type ModelsReply,
} from "@antiphon/contracts";
import { openBlobs, openKv, serveRpc, silentMeter, type Role, type ServiceContext } from "@antiphon/runtime";
import { BudgetStore } from "./models/budget-store.ts";
import { Checkpoints } from "./checkpoints/checkpoints.ts";
import { CallLists } from "./models/call-list.ts";
import { modelsReply } from "./models/model-hosts-view.ts";
import { LiveSettings } from "./settings/live-settings.ts";
import { Leases } from "./leases/leases.ts";

export function startEgress(
  { bus, log, node, metrics }: ServiceContext,
  live: Pick<LiveSettings, "current"> = new LiveSettings(log),
): Role {
  const blobs = openBlobs(bus, BUCKETS.evidenceFiles);
  const checkpointFiles = openBlobs(bus, BUCKETS.checkpoints);
  const meter = metrics ?? silentMeter;
  const budgets = openKv(bus, BUCKETS.budgets);
  const leases = new Leases({
    meter,
    settings: () => live.current(),
    budgets: new BudgetStore(budgets),
    lists: new CallLists(budgets, (error) =>
      log.warn(
        { err: error },
        "the calls of an attempt are not listed; the next one asks anew if it is lost",
      ),
    ),
    checkpoints: {
      registers: new Checkpoints(budgets),
      store: (bytes) => checkpointFiles.put(null, bytes),
      read: (blob) => checkpointFiles.get(blob),
    },
    store: (bytes) => blobs.put(null, bytes),
    read: (recording, signal) => blobs.get(recording, signal === undefined ? {} : { signal }),
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
  serveRpc<unknown, Extract<ModelsReply, { ok: true }>>(bus, subjects.egressModels, "egress", (request) => {
    const checked = validate("ModelsRequest", request);
    if (checked.ok) return modelsReply(checked.value, live.current(), node);
    throw requestProblem("ModelsRequest", request, checked.errors);
  });
  const { listen, models, credentials } = live.current();
  log.info({ listen, models: models.size, credentials: credentials.length }, "egress for sandboxes");
  return {
    drain: () => {
      leases.closeAll();
      return Promise.resolve();
    },
  };
}
