/** What answers the model calls of a lease: a record, a model, or a record and then a model. */
import type { EgressOpenRequest } from "@antiphon/contracts";
import type { Account } from "./lease-account.ts";
import type { LeasePorts } from "./lease-ports.ts";
import type { Upstream } from "../proxy/upstream.ts";
import type { EgressSettings } from "../config.ts";
import { secretsOf } from "../policy/credentials.ts";
import { maskOf } from "../policy/secret-shapes.ts";
import { plus } from "../models/ledger.ts";
import { EgressRefusal } from "../policy/refusal.ts";
import type { ExchangePorts, ModelAnswer, ModelAsk } from "../proxy/exchange.ts";
import { modelExchange } from "../models/model-exchange.ts";
import { lostRecord } from "../models/lost-record.ts";
import { RecordedCalls } from "../models/recorded-calls.ts";
import { readRecording } from "../models/recording.ts";
import { replayExchange } from "../models/replay-exchange.ts";

export interface Recorded {
  readonly request: EgressOpenRequest;
  readonly replayed: RecordedCalls | null;
}

/** With what answers its calls first. The record of a lost attempt takes the place of `replay`, if there is one. */
export async function recordedFor(
  request: EgressOpenRequest,
  settings: EgressSettings,
  ports: Pick<LeasePorts, "lists" | "read" | "log">,
): Promise<Recorded> {
  const { grant } = request;
  const { lists, read, log } = ports;
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

/** With a record that is followed by live calls, the first call that it does not answer ends it. */
export function modelOf(
  request: EgressOpenRequest,
  account: Account,
  upstream: Upstream,
  settings: EgressSettings,
  leasePorts: LeasePorts,
): ExchangePorts["model"] {
  const { replayed } = account;
  const modelPorts = modelPortsOf(request, account, upstream, settings, leasePorts);
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

function modelPortsOf(
  request: EgressOpenRequest,
  account: Account,
  upstream: Upstream,
  settings: EgressSettings,
  ports: LeasePorts,
): Parameters<typeof modelExchange>[1] {
  const { budgets, store, log } = ports;
  const list = ports.lists?.writer(request);
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
    ...(ports.answerBytes === undefined ? {} : { answerBytes: ports.answerBytes }),
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

function fencedCall(): EgressRefusal {
  return new EgressRefusal("ANT_EGRESS_FENCED", "model:fenced", "a later attempt goes on from this one");
}

/** What a recording leaves out: credentials, secrets of the run, and what looks like one. */
function recordMask({ grant }: EgressOpenRequest, { credentials }: EgressSettings): (text: string) => string {
  return maskOf([...secretsOf(credentials), ...(grant.masks ?? [])]);
}
