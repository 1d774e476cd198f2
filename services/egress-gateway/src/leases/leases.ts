/**
 * Leases: each gives the sandbox of one job a listener of its own and accounts for its traffic.
 *
 * Lifecycle of a lease: open -> closed (the runner asked for the report) | abandoned (the control connection ended).
 *
 * A lease belongs to one run, task, epoch and job, and its policy is fixed when it is opened. It ends with its control
 * connection, so a runner that dies cannot leave one behind. The report is made after the listener has closed, so it
 * covers all traffic.
 */
import { randomBytes } from "node:crypto";
import { newAccount, refusedIn, reportOf, type Account } from "./lease-account.ts";
import { modelOf, recordedFor, type Recorded } from "./lease-models.ts";
import type { LeasePorts } from "./lease-ports.ts";
import {
  AntiphonError,
  limits,
  type EgressOpened,
  type EgressOpenRequest,
  type EgressReport,
} from "@antiphon/contracts";
import { uniqueId } from "@antiphon/runtime";
import { SandboxAuthority } from "../tls/authority.ts";
import { namedUpstreams, resolverOf } from "../proxy/resolver.ts";
import { throughProxy } from "../proxy/upstream-proxy.ts";
import { SandboxListener } from "../proxy/sandbox-listener.ts";
import type { Dial } from "../proxy/tunnel.ts";
import { Upstream } from "../proxy/upstream.ts";
import type { EgressSettings } from "../config.ts";
import { DEADLINES } from "../proxy/deadlines.ts";
import { secretsOf } from "../policy/credentials.ts";
import { logText } from "../policy/log-entry.ts";
import { CHECKPOINTS, compilePolicy, type HostRule } from "../policy/policy.ts";
import { EgressRefusal } from "../policy/refusal.ts";
import { noteRefusal } from "../policy/refusal-notes.ts";
import { measureTraffic } from "./traffic-meter.ts";
import type { ExchangePorts } from "../proxy/exchange.ts";
import { checkpointsOf } from "../checkpoints/lease-checkpoints.ts";

interface LeaseParts extends Recorded {
  /** As the sandbox-runner asked for it. */
  readonly asked: EgressOpenRequest;
}

interface Lease {
  readonly request: EgressOpenRequest;
  readonly listener: SandboxListener;
  readonly upstream: Pick<Upstream, "close">;
  readonly account: Account;
}

export class Leases {
  readonly #ports: LeasePorts;
  readonly #leases = new Map<string, Lease>();
  #next = 0;

  constructor(ports: LeasePorts) {
    this.#ports = ports;
  }

  get open(): number {
    return this.#leases.size;
  }

  /** Throws ANT_EGRESS_BUSY at the limit, and ANT_EGRESS_HOST, _ADDRESS or _MALFORMED for an invalid allowlist. */
  async opened(asked: EgressOpenRequest): Promise<EgressOpened> {
    const { node, log } = this.#ports;
    const settings = this.#ports.settings();
    if (this.#leases.size >= limits.egressLeases)
      throw new AntiphonError("ANT_EGRESS_BUSY", `${this.#leases.size} sandboxes are connected`);
    const lease = uniqueId();
    const token = randomBytes(32).toString("hex");
    const authority = new SandboxAuthority(lease, this.#ports.now());
    const { request, replayed } = await recordedFor(asked, settings, this.#ports);
    const made = this.#made(lease, token, authority, { asked, request, replayed }, settings);
    this.#leases.set(lease, made);
    try {
      const port = await made.listener.listen(settings.listen, this.#portsToTry(settings));
      const { run, task, epoch, jobId, grant } = request;
      log.info({ lease, run, task, epoch, jobId, mode: grant.profile.mode, port }, "sandbox connected");
      const ca = [authority.certificate, ...(hasTunnels(settings) ? settings.upstreamCa : [])].join("\n");
      return { lease, node, host: settings.advertise, port, token, ca };
    } catch (error) {
      this.#end(lease);
      throw named(error);
    }
  }

  /** Closes the listener, then reports its traffic. Throws ANT_EGRESS_LOST for an unknown lease. */
  async closed(lease: string): Promise<EgressReport> {
    const held = this.#end(lease);
    if (held === null) throw new AntiphonError("ANT_EGRESS_LOST", `no listener ${lease}`);
    await held.listener.close();
    const { entries, calls } = held.account;
    const refused = refusedIn(held.account);
    this.#ports.log.info({ lease, requests: entries.length, refused, calls }, "sandbox disconnected");
    const log = entries.length === 0 ? null : await this.#ports.store(Buffer.from(logText(entries), "utf8"));
    return reportOf(held.account, log);
  }

  closeAll(): void {
    for (const lease of [...this.#leases.keys()]) this.#end(lease);
  }

  #made(
    lease: string,
    token: string,
    authority: SandboxAuthority,
    { asked, request, replayed }: LeaseParts,
    settings: EgressSettings,
  ): Lease {
    const { log, meter, now } = this.#ports;
    const { proxy, upstreamCa } = settings;
    const resolve = resolverOf(settings);
    const upstream = new Upstream(resolve, upstreamCa, proxy);
    const models = new Upstream(resolverOf(settings, namedUpstreams(settings)), upstreamCa, proxy);
    const dial: Dial | null =
      proxy === null ? null : (to, signal) => throughProxy(proxy, to, upstreamCa, { signal });
    const account = newAccount(replayed);
    const isClosed = request.grant.replay?.then === "stop";
    const recorded = [CHECKPOINTS, ...(replayed === null ? [] : replayed.places.map(recordedHost))];
    const known = [...recorded, ...settings.known];
    const ports: ExchangePorts = {
      policy: isClosed ? { rules: recorded } : withHosts(policyOf(request, settings), recorded),
      known: isClosed ? recorded : known,
      credentials: isClosed ? [] : settings.credentials,
      secrets: secretsOf(settings.credentials),
      upstream,
      quota: account.quota,
      deadlines: this.#ports.deadlines ?? DEADLINES,
      now,
      log: (entry) => {
        measureTraffic(meter, entry);
        noteRefusal(account, entry);
        // One line beyond the limit on requests shows that the limit was reached; further lines would add nothing.
        if (account.entries.length <= limits.egressRequests) account.entries.push(entry);
      },
      model: modelOf(request, account, models, settings, this.#ports),
      checkpoint: checkpointsOf({
        checkpoints: this.#ports.checkpoints,
        ...{ asked, secrets: secretsOf(settings.credentials), recordings: account.recordings },
        ...{ replayed, replayedCalls: request.grant.replay?.calls ?? [] },
        onBegun: () => this.#fence(asked),
      }),
    };
    const onAbandoned = (): void => {
      if (this.#end(lease) !== null)
        log.warn({ lease, run: request.run }, "the runner is gone; listener closed");
    };
    const listener = new SandboxListener({ token, ports, authority, resolve, dial, onAbandoned });
    const close = (): void => [upstream, models].forEach((one) => one.close());
    return { request, listener, upstream: { close }, account };
  }

  /** Sandboxes of earlier attempts may still run, and ask models what the later one asks as well. */
  #fence({ run, task, epoch }: EgressOpenRequest): void {
    for (const { request, account } of this.#leases.values())
      if (request.run === run && request.task === task && request.epoch < epoch) account.isFenced = true;
  }

  #end(lease: string): Lease | null {
    const held = this.#leases.get(lease);
    if (held === undefined) return null;
    this.#leases.delete(lease);
    // The upstream connections close last; otherwise the log would blame the upstream for requests cut off here.
    void held.listener.close().finally(() => held.upstream.close());
    return held;
  }

  /** Every port of the range. Each lease starts at another one, so that a freed port is not reused at once. */
  *#portsToTry({ ports: range }: EgressSettings): Generator<number> {
    if (range === null) {
      yield 0;
      return;
    }
    const size = range.to - range.from + 1;
    const start = (this.#next += 1);
    for (let i = 0; i < size; i += 1) yield range.from + ((start + i) % size);
  }
}

const NO_HOSTS: EgressOpenRequest["grant"]["profile"] = { mode: "allowlist", allowlist: [] };

function policyOf(
  { grant }: EgressOpenRequest,
  { known, isClosed }: EgressSettings,
): ExchangePorts["policy"] {
  try {
    const profile = isClosed === true ? NO_HOSTS : grant.profile;
    return compilePolicy(profile, grant.model_budget, known);
  } catch (error) {
    throw named(error);
  }
}

/** The host of a recorded call takes calls, also where the deployment no longer has that model. */
function recordedHost({ host, port }: { readonly host: string; readonly port: number }): HostRule {
  return { host, kind: "model", ports: [port], terminate: true };
}

function withHosts(policy: ExchangePorts["policy"], hosts: readonly HostRule[]): ExchangePorts["policy"] {
  return { rules: [...hosts, ...policy.rules] };
}

function hasTunnels({ known }: EgressSettings): boolean {
  return known.some(({ terminate }) => !terminate);
}

function named(error: unknown): unknown {
  return error instanceof EgressRefusal ? new AntiphonError(error.code, error.message) : error;
}
