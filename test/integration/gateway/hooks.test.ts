/**
 * Decisions that another system passes on in signed requests: whose they are, which are refused and store nothing, and that
 * a repeated one changes nothing. A real nats-server, Director and gateway.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limits } from "@antiphon/contracts";
import { signHook } from "../../../services/gateway/src/hooks/hook-signature.ts";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";
import { errorOf, intentFor, openWorld, type Answer, type World } from "./gateway-world.ts";
import { untilDecision } from "./waiting-run.ts";

const SHARED = "the-token-of-this-deployment";
const SECRET = "the-secret-of-the-chat-hook";
const secretOf = (name: string): string => `the-secret-of-${name}-0123456789`;

let world: World;
let repo: string;

beforeAll(async () => {
  world = await openWorld({
    token: SHARED,
    people: ["ann", "ben", "vera"].map((name) => ({ name, token: secretOf(name) })),
    directory: {
      roles: new Map([
        ["ann", ["submitter", "approver"]],
        ["ben", ["approver"]],
      ]),
      tenants: new Map(),
    },
    hooks: [{ name: "chat", secret: SECRET }],
  });
  repo = makeRepo({ files: { "a.txt": "a\n" } }).path;
});
afterAll(async () => {
  await world.close();
  cleanUpRepos();
});

/** A run that ann asked for; its change waits. */
async function waiting(): Promise<{ run: string; verdict: string }> {
  const opened = await world.call("POST", "/sessions", {
    headers: { authorization: `Bearer ${secretOf("ann")}` },
  });
  const headers = { authorization: `Bearer ${String(opened.body["token"])}` };
  const body = intentFor(repo, {}, { approvals: { needed: 1 } });
  const intent = await world.call("POST", "/intents", { body, headers });
  const started = await world.call("POST", `/intents/${String(intent.body["intentId"])}/run`, { headers });
  const run = String(started.body["runId"]);
  return { run, verdict: await untilDecision(world, run, "a.txt") };
}

const seconds = (offsetMs = 0): string => String(Math.floor((Date.now() + offsetMs) / 1000));

interface Sent {
  readonly hook?: string;
  readonly at?: string;
  readonly secret?: string;
  readonly signature?: string;
  /** What is sent in place of the signed body. */
  readonly altered?: string;
  readonly headers?: Record<string, string>;
}

function send(decision: unknown, sent: Sent = {}): Promise<Answer> {
  const { hook = "chat", at = seconds(), secret = SECRET } = sent;
  const raw = JSON.stringify(decision);
  const signature = sent.signature ?? signHook(secret, at, raw);
  return world.call("POST", `/hooks/${hook}/decisions`, {
    raw: sent.altered ?? raw,
    headers: { "antiphon-timestamp": at, "antiphon-signature": signature, ...sent.headers },
  });
}

const decisions = async (run: string) =>
  (await world.journal.read(run)).flatMap((record) => (record.type === "approval" ? [record.body] : []));

describe("a decision of a hook", () => {
  it("is recorded as the person's, bound to the verdict", async () => {
    const { run, verdict } = await waiting();
    const answer = await send({ run, verdict, choice: "approve", by: "ben" });
    expect(answer.status, answer.text).toBe(202);
    expect(await decisions(run)).toEqual([
      { task: "T-001", attempt: 1, verdict, choice: "approve", by: "ben" },
    ]);
  });

  it("counts once: the same request again is refused, and a new one with the same decision changes nothing", async () => {
    const { run, verdict } = await waiting();
    const decision = { run, verdict, choice: "approve", by: "ben" };
    const at = seconds();
    expect((await send(decision, { at })).status).toBe(202);
    expect(errorOf(await send(decision, { at }))["code"]).toBe("ANT_HOOK_SIGNATURE");
    const again = await send(decision, { at: seconds(-2_000) });
    expect([again.status, again.body["already"]]).toEqual([202, true]);
    expect(await decisions(run)).toHaveLength(1);
  });

  it.each<[string, (decision: object) => Promise<Answer>]>([
    ["with another secret", (decision) => send(decision, { secret: "another-secret-0123456789" })],
    ["of a hook that does not exist", (decision) => send(decision, { hook: "mail", secret: "" })],
    ["without a signature", (decision) => send(decision, { signature: "" })],
    [
      "with another body than the signed one",
      (decision) => send(decision, { altered: JSON.stringify({ ...decision, by: "ann" }) }),
    ],
    ["that is too old", (decision) => send(decision, { at: seconds(-limits.hookWindowMs - 5_000) })],
    ["from the future", (decision) => send(decision, { at: seconds(limits.hookWindowMs + 5_000) })],
    ["with a time that is no number", (decision) => send(decision, { at: "now" })],
    [
      "with a token in place of a signature",
      (decision) => send(decision, { signature: "", headers: { authorization: `Bearer ${SHARED}` } }),
    ],
  ])("%s gets 401, and nothing is stored", async (_title, attempt) => {
    const { run, verdict } = await waiting();
    const answer = await attempt({ run, verdict, choice: "approve", by: "ben" });
    expect([answer.status, errorOf(answer)["code"]], answer.text).toEqual([401, "ANT_HOOK_SIGNATURE"]);
    expect(await decisions(run)).toEqual([]);
  });

  it.each([
    ["of the requester is refused as her own", { by: "ann" }, 403, "ANT_APPROVAL_OWN"],
    ["of a person who may only look is refused", { by: "vera" }, 403, "ANT_GATEWAY_ROLE"],
    ["of nobody the deployment knows is refused", { by: "token" }, 403, "ANT_GATEWAY_ROLE"],
    ["about another verdict is stale", { verdict: `sha256-${"A".repeat(43)}` }, 409, "ANT_APPROVAL_STALE"],
    ["that is no choice is refused", { choice: "maybe" }, 400, "ANT_CONTRACT_INVALID"],
    [
      "that asks for changes without saying which is refused",
      { choice: "changes" },
      400,
      "ANT_CONTRACT_INVALID",
    ],
    ["of a run that does not exist is refused", { run: "run_absent" }, 404, "ANT_RUN_NOT_FOUND"],
  ])("%s, and nothing is stored", async (_title, over, status, code) => {
    const { run, verdict } = await waiting();
    const answer = await send({ run, verdict, choice: "approve", by: "ben", ...over });
    expect([answer.status, errorOf(answer)["code"]], answer.text).toEqual([status, code]);
    expect(await decisions(run)).toEqual([]);
  });

  it("from a web page of another site is refused before its signature is looked at", async () => {
    const answer = await send({}, { headers: { origin: "https://evil.example.org" } });
    expect(errorOf(answer)["code"]).toBe("ANT_GATEWAY_ORIGIN");
  });
});
