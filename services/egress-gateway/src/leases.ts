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
import {
  AntiphonError,
  limits,
  type BlobRef,
  type EgressOpened,
  type EgressOpenRequest,
  type EgressReport,
} from "@antiphon/contracts";
import { uniqueId, type Logger, type Meter } from "@antiphon/runtime";
import { SandboxAuthority } from "./tls/authority.ts";
import type { BudgetStore } from "./models/budget-store.ts";
import { namedUpstreams, resolverOf } from "./proxy/resolver.ts";
import { throughProxy } from "./proxy/upstream-proxy.ts";
import { SandboxListener } from "./proxy/sandbox-listener.ts";
import type { Dial } from "./proxy/tunnel.ts";
import { Upstream } from "./proxy/upstream.ts";
import type { EgressSettings } from "./config.ts";
import { DEADLINES, type Deadlines } from "./proxy/deadlines.ts";
import { secretsOf } from "./policy/credentials.ts";
import { maskOf } from "./policy/secret-shapes.ts";
import { plus, type Charge } from "./models/ledger.ts";
import { logText, type LogEntry } from "./policy/log-entry.ts";
import { CHECKPOINTS, compilePolicy, type HostRule } from "./policy/policy.ts";
import { Quota } from "./policy/quota.ts";
import { EgressRefusal } from "./policy/refusal.ts";
import { noteRefusal, type RefusalNotes } from "./policy/refusal-notes.ts";
import { measureTraffic } from "./traffic-meter.ts";
import type { ExchangePorts, ModelAnswer, ModelAsk } from "./proxy/exchange.ts";
import { checkpointsOf } from "./checkpoints/lease-checkpoints.ts";
import type { Checkpoints } from "./checkpoints/checkpoints.ts";
import { modelExchange } from "./models/model-exchange.ts";
import type { CallLists } from "./models/call-list.ts";
import { lostRecord } from "./models/lost-record.ts";
import { RecordedCalls } from "./models/recorded-calls.ts";
import { readRecording } from "./models/recording.ts";
import { replayExchange } from "./models/replay-exchange.ts";

export interface LeasePorts {
  /** The settings for a new listener. */
  readonly settings: () => EgressSettings;
  readonly budgets: BudgetStore;
  /** Where the calls of attempts under way are listed. Default: nowhere, and an attempt after a lost one asks anew. */
  readonly lists?: CallLists;
  /** Where programs leave checkpoints. Default: nowhere. */
  readonly checkpoints?: Checkpoints;
  /** Stores bytes under their own digest. */
  readonly store: (bytes: Buffer) => Promise<BlobRef>;
  /** Reads a recording of a model call. */
  readonly read: (recording: BlobRef, signal?: AbortSignal) => Promise<Buffer>;
  readonly node: string;
  readonly meter: Meter;
  readonly log: Logger;
  readonly now: () => number;
  /** Default: DEADLINES. */
  readonly deadlines?: Deadlines;
  /** The longest answer of a model, in bytes. Default: limits.modelAnswerBytes. */
  readonly answerBytes?: number;
}

/** The traffic of a lease so far. */
interface Account extends RefusalNotes {
  readonly entries: LogEntry[];
  readonly recordings: BlobRef[];
  readonly quota: Quota;
  calls: number;
  charged: Charge;
  isSpent: boolean;
  /** The record that answers model calls; null: models answer. */
  readonly replayed: RecordedCalls | null;
  /** A later attempt of the task goes on from its checkpoints. */
  isFenced: boolean;
}

interface Recorded {
  readonly request: EgressOpenRequest;
  readonly replayed: RecordedCalls | null;
}

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
    const { request, replayed } = await this.#recorded(asked, settings);
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
    const {
      entries,
      recordings,
      quota,
      calls,
      charged,
      isSpent,
      refusal,
      failures,
      hostsRefused,
      isReached,
      replayed,
    } = held.account;
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
      ...(isSpent ? { budget_spent: true } : {}),
      ...(refusal === null ? {} : { model_refused: refusal }),
      ...(failures.last === null
        ? {}
        : { model_failed: `${failures.count} of ${calls} failed, the last: ${failures.last}` }),
      ...(isReached ? { reached: true as const } : {}),
      ...(hostsRefused.size === 0 ? {} : { hosts_refused: [...hostsRefused] }),
      ...(replayed === null ? {} : { replay: comparedWith(replayed) }),
    };
  }

  closeAll(): void {
    for (const lease of [...this.#leases.keys()]) this.#end(lease);
  }

  /** With what answers its calls first. The record of a lost attempt takes the place of `replay`, if there is one. */
  async #recorded(request: EgressOpenRequest, settings: EgressSettings): Promise<Recorded> {
    const { grant } = request;
    const { lists, read, log } = this.#ports;
    const mask = recordMask(request, settings);
    const lost =
      grant.resumes === undefined || lists === undefined
        ? null
        : await lostRecord({ ...request, epoch: grant.resumes }, { lists, read, log });
    if (lost !== null) {
      const replayed = new RecordedCalls(lost.recordings, { equalOnly: true, isLive: true, mask });
      return {
        request: { ...request, grant: { ...grant, replay: { calls: [...lost.calls], then: "live" } } },
        replayed,
      };
    }
    const { resumes: _none, ...asked } = grant;
    if (asked.replay === undefined) return { request: { ...request, grant: asked }, replayed: null };
    const texts = await Promise.all(asked.replay.calls.map((call) => read(call)));
    const replayed = new RecordedCalls(
      texts.map((bytes) => readRecording(bytes)),
      { isLive: asked.replay.then === "live", mask },
    );
    return { request: { ...request, grant: asked }, replayed };
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
    const account: Account = {
      entries: [],
      recordings: [],
      quota: new Quota(),
      calls: 0,
      charged: { tokens: 0, usd_micro: 0 },
      isSpent: false,
      refusal: null,
      failures: { count: 0, last: null },
      hostsRefused: new Set(),
      isReached: false,
      replayed,
      isFenced: false,
    };
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
      model: this.#modelOf(request, account, models, settings),
      checkpoint: checkpointsOf({
        ...{ checkpoints: this.#ports.checkpoints, store: this.#ports.store, read: this.#ports.read },
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

  /** With a record that is followed by live calls, the first call that it does not answer ends it. */
  #modelOf(
    request: EgressOpenRequest,
    account: Account,
    upstream: Upstream,
    settings: EgressSettings,
  ): ExchangePorts["model"] {
    const { replayed } = account;
    const modelPorts = this.#modelPorts(request, account, upstream, settings);
    const live: ExchangePorts["model"] = (ask) => {
      if (account.isFenced) throw fencedCall();
      return modelExchange(ask, modelPorts);
    };
    const { replay } = request.grant;
    if (replayed === null || replay === undefined) return live;
    const nameOf = ({ number }: { readonly number: number }): string | null =>
      replay.calls[number - 1]?.name ?? null;
    let isLive = replay.then === "live" && replayed.size === 0;
    const goLive = (ask: ModelAsk): Promise<ModelAnswer> => {
      isLive = true;
      return live(ask);
    };
    const otherwise = replay.then === "live" ? goLive : null;
    const isKept = replay.then === "live" && (request.grant.record ?? true);
    // A record that goes on live is whole: it can be replayed and forked again.
    const onServed = ({ number }: { readonly number: number }): void => {
      const recording = replay.calls[number - 1];
      if (isKept && recording !== undefined) account.recordings.push(recording);
    };
    const ports = { calls: replayed, nameOf, onServed, otherwise };
    return (ask) => (isLive ? live(ask) : replayExchange(ask, ports));
  }

  /** Sandboxes of earlier attempts may still run, and ask models what the later one asks as well. */
  #fence({ run, task, epoch }: EgressOpenRequest): void {
    for (const { request, account } of this.#leases.values())
      if (request.run === run && request.task === task && request.epoch < epoch) account.isFenced = true;
  }

  #modelPorts(
    request: EgressOpenRequest,
    account: Account,
    upstream: Upstream,
    settings: EgressSettings,
  ): Parameters<typeof modelExchange>[1] {
    const { budgets, store, log } = this.#ports;
    const list = this.#ports.lists?.writer(request);
    const { resumes, replay } = request.grant;
    // If this attempt is lost as well, they are not lost with it.
    if (resumes !== undefined && replay !== undefined) list?.({ calls: replay.calls, isResumed: true });
    return {
      run: request.run,
      budget: request.grant.model_budget,
      budgets,
      hosts: settings.models,
      upstream,
      secrets: secretsOf(settings.credentials),
      mask: maskOf(request.grant.masks ?? []),
      record: request.grant.record ?? true,
      store,
      ...(this.#ports.answerBytes === undefined ? {} : { answerBytes: this.#ports.answerBytes }),
      onCall: (recording, charged) => {
        account.calls += 1;
        account.charged = plus(account.charged, charged);
        if (recording === null) return;
        account.recordings.push(recording);
        list?.({ calls: account.recordings });
      },
      onSpent: () => void (account.isSpent = true),
      onFailure: (error) =>
        log.warn({ run: request.run, err: error }, "a model call is not fully accounted for"),
    };
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

function fencedCall(): EgressRefusal {
  return new EgressRefusal("ANT_EGRESS_FENCED", "model:fenced", "a later attempt goes on from this one");
}

const NO_HOSTS: EgressOpenRequest["grant"]["profile"] = { mode: "allowlist", allowlist: [] };

/** What a recording leaves out: credentials, secrets of the run, and what looks like one. */
function recordMask({ grant }: EgressOpenRequest, { credentials }: EgressSettings): (text: string) => string {
  return maskOf([...secretsOf(credentials), ...(grant.masks ?? [])]);
}

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

function comparedWith({ size, served, strayed }: RecordedCalls): NonNullable<EgressReport["replay"]> {
  return { calls: size, served, ...(strayed === null ? {} : { strayed }) };
}

function hasTunnels({ known }: EgressSettings): boolean {
  return known.some(({ terminate }) => !terminate);
}

function named(error: unknown): unknown {
  return error instanceof EgressRefusal ? new AntiphonError(error.code, error.message) : error;
}
