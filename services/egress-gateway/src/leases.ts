/**
 * Listeners of sandboxes, from being asked for to their account.
 *
 * Lifecycle of a lease: open -> closed (the runner asked for its account) | abandoned (its control connection ended).
 *
 * Invariants:
 *   T1  A lease is bound to one run, task, epoch and job; what it may reach is fixed when it is opened.
 *   T2  At most limits.egressLeases at once; each ends with its control connection, whoever forgets it.
 *   T3  The account is given once the listener is closed, so that nothing passes that is not in it.
 */
import { randomBytes } from "node:crypto";
import {
  AntiphonError,
  limits,
  type BlobRef,
  type EgressOpened,
  type EgressOpenRequest,
  type EgressReport,
} from "@antiphon/contracts";
import { uniqueId, type Logger } from "@antiphon/runtime";
import { SandboxAuthority } from "./tls/authority.ts";
import type { BudgetStore } from "./models/budget-store.ts";
import { resolverOf } from "./proxy/resolver.ts";
import { SandboxListener } from "./proxy/sandbox-listener.ts";
import { Upstream } from "./proxy/upstream.ts";
import type { EgressSettings } from "./config.ts";
import { DEADLINES, type Deadlines } from "./proxy/deadlines.ts";
import { needlesOf } from "./policy/credentials.ts";
import { plus, type Charge } from "./models/ledger.ts";
import { logText, type LogEntry } from "./policy/log-entry.ts";
import { compilePolicy } from "./policy/policy.ts";
import { Quota } from "./policy/quota.ts";
import { EgressRefusal } from "./policy/refusal.ts";
import type { ExchangePorts } from "./proxy/exchange.ts";
import { modelExchange } from "./models/model-exchange.ts";

export interface LeasePorts {
  readonly settings: EgressSettings;
  readonly budgets: BudgetStore;
  /** Stores bytes under their own digest. */
  readonly store: (bytes: Buffer) => Promise<BlobRef>;
  readonly node: string;
  readonly log: Logger;
  readonly now: () => number;
  /** Default: DEADLINES, those of the limits. */
  readonly deadlines?: Deadlines;
}

/** What has gone through a lease so far. */
interface Account {
  readonly entries: LogEntry[];
  readonly recordings: BlobRef[];
  readonly quota: Quota;
  calls: number;
  charged: Charge;
}

interface Lease {
  readonly listener: SandboxListener;
  readonly upstream: Upstream;
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

  /** Throws ANT_EGRESS_BUSY, and ANT_EGRESS_HOST and its like for an allowlist that cannot be kept. */
  async opened(request: EgressOpenRequest): Promise<EgressOpened> {
    const { settings, node, log } = this.#ports;
    if (this.#leases.size >= limits.egressLeases)
      throw new AntiphonError("ANT_EGRESS_BUSY", `${this.#leases.size} sandboxes are connected`); // T2
    const lease = uniqueId();
    const token = randomBytes(32).toString("hex");
    const authority = new SandboxAuthority(lease, this.#ports.now());
    const made = this.#made(lease, token, authority, request);
    this.#leases.set(lease, made);
    try {
      const port = await made.listener.listen(settings.listen, this.#portsToTry());
      const { run, task, epoch, jobId, grant } = request;
      log.info({ lease, run, task, epoch, jobId, mode: grant.profile.mode, port }, "sandbox connected");
      const ca = [authority.certificate, ...(hasTunnels(settings) ? settings.upstreamCa : [])].join("\n");
      return { lease, node, host: settings.advertise, port, token, ca };
    } catch (error) {
      this.#end(lease);
      throw named(error);
    }
  }

  /** T3. Throws ANT_EGRESS_LOST for a lease that is not there. */
  async closed(lease: string): Promise<EgressReport> {
    const held = this.#end(lease);
    if (held === null) throw new AntiphonError("ANT_EGRESS_LOST", `no listener ${lease}`);
    await held.listener.close();
    const { entries, recordings, quota, calls, charged } = held.account;
    const refused = entries.filter((entry) => entry.decision === "refuse").length;
    this.#ports.log.info({ lease, requests: entries.length, refused, calls }, "sandbox disconnected");
    return {
      log: entries.length === 0 ? null : await this.#ports.store(Buffer.from(logText(entries), "utf8")),
      requests: entries.length,
      refused,
      bytes_up: quota.used.up,
      bytes_down: quota.used.down,
      model_calls: calls,
      model_tokens: charged.tokens,
      model_usd_micro: charged.usd_micro,
      recordings,
    };
  }

  closeAll(): void {
    for (const lease of [...this.#leases.keys()]) this.#end(lease);
  }

  #made(lease: string, token: string, authority: SandboxAuthority, request: EgressOpenRequest): Lease {
    const { settings, log, now } = this.#ports;
    const resolve = resolverOf(settings.overrides);
    const upstream = new Upstream(resolve, settings.upstreamCa);
    const account: Account = {
      entries: [],
      recordings: [],
      quota: new Quota(),
      calls: 0,
      charged: { tokens: 0, usd_micro: 0 },
    };
    const ports: ExchangePorts = {
      policy: policyOf(request, settings),
      known: settings.known,
      credentials: settings.credentials,
      needles: needlesOf(settings.credentials),
      upstream,
      quota: account.quota,
      deadlines: this.#ports.deadlines ?? DEADLINES,
      now,
      log: (entry) => {
        // One more line than requests may be made says that the bound was met; more would say nothing new.
        if (account.entries.length <= limits.egressRequests) account.entries.push(entry);
      },
      model: (ask) => modelExchange(ask, this.#modelPorts(request, account, upstream)),
    };
    const onAbandoned = (): void => {
      if (this.#end(lease) !== null)
        log.warn({ lease, run: request.run }, "the runner is gone; listener closed");
    };
    const listener = new SandboxListener({ token, ports, authority, resolve, onAbandoned });
    return { listener, upstream, account };
  }

  #modelPorts(
    request: EgressOpenRequest,
    account: Account,
    upstream: Upstream,
  ): Parameters<typeof modelExchange>[1] {
    const { settings, budgets, store, log } = this.#ports;
    return {
      run: request.run,
      budget: request.grant.model_budget,
      budgets,
      hosts: settings.models,
      upstream,
      needles: needlesOf(settings.credentials),
      store,
      onCall: (recording, charged) => {
        account.calls += 1;
        account.charged = plus(account.charged, charged);
        if (recording !== null) account.recordings.push(recording);
      },
      onFailure: (error) =>
        log.warn({ run: request.run, err: error }, "a model call is not fully accounted for"),
    };
  }

  #end(lease: string): Lease | null {
    const held = this.#leases.get(lease);
    if (held === undefined) return null;
    this.#leases.delete(lease);
    // The other side is let go last: a request that is cut off here was not its fault.
    void held.listener.close().finally(() => held.upstream.close());
    return held;
  }

  /** All of the range, each lease from another place on, so that a port is not given again at once. */
  *#portsToTry(): Generator<number> {
    const range = this.#ports.settings.ports;
    if (range === null) {
      yield 0;
      return;
    }
    const size = range.to - range.from + 1;
    const start = (this.#next += 1);
    for (let i = 0; i < size; i += 1) yield range.from + ((start + i) % size);
  }
}

function policyOf({ grant }: EgressOpenRequest, { known }: EgressSettings): ExchangePorts["policy"] {
  try {
    return compilePolicy(grant.profile, grant.model_budget, known); // T1
  } catch (error) {
    throw named(error);
  }
}

function hasTunnels({ known }: EgressSettings): boolean {
  return known.some(({ terminate }) => !terminate);
}

function named(error: unknown): unknown {
  return error instanceof EgressRefusal ? new AntiphonError(error.code, error.message) : error;
}
