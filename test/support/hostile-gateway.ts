/**
 * A gateway that answers every request with hostile text wherever a text may be. Its decisions are signed with a key that
 * it publishes itself, so that the command shows them.
 */
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { digestOf, encode } from "@antiphon/contracts";
import { SIGNED_TYPES } from "@antiphon/contracts/journal/record";
import { signatureText, signedBytes } from "@antiphon/contracts/stored/signature";
import { canonicalJson } from "@antiphon/contracts/wire/codec";
import { HOSTILE } from "./hostile-text.ts";

export const RUN = "run_hostile1";
const COMMIT = "c".repeat(40);
const AT = "2026-11-22T00:00:00.000Z";
const EVIDENCE = { key: `bundle ${HOSTILE}`, digest: "sha256-e" };

export const DIFF = `diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n a\r\n+${HOSTILE.replaceAll("\n", " ")}\n`;

const pair = generateKeyPairSync("ed25519");
const { x = "" } = pair.publicKey.export({ format: "jwk" });
const kid = createHash("sha256").update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest("base64url");

function record(seq: number, type: string, taskId: string | null, epoch: number, body: unknown): object {
  const content = { v: 1, type, runId: RUN, taskId, epoch, cause: null, body };
  const digest = digestOf(encode(content));
  const value = sign(null, signedBytes(digest), pair.privateKey).toString("base64url");
  const signed = (SIGNED_TYPES as readonly string[]).includes(type);
  return { ...content, seq, digest, at: AT, ...(signed ? { signature: signatureText({ kid, value }) } : {}) };
}

const CHECK = { command: HOSTILE, exitCode: 1, timedOut: false, durationMs: 5, tail: HOSTILE };

function records(): object[] {
  const agent = { kind: "pack", name: HOSTILE, argv: [HOSTILE] };
  const task = { task: { task_id: "T-001", instruction: HOSTILE, kind: "run" }, deps: [], agent };
  const egress_profile = { mode: "allowlist", allowlist: [HOSTILE] };
  const other = {
    ...{
      task: { task_id: "T-002", instruction: HOSTILE, kind: "run", egress_profile },
      deps: ["T-001"],
      agent,
    },
  };
  const rows: [string, string | null, number, unknown][] = [
    [
      "intent",
      null,
      0,
      {
        intentId: "it_1",
        principal: HOSTILE,
        intent: { goal: HOSTILE, inputs: {}, constraints: {} },
        options: {
          image_note: HOSTILE,
          absent: [HOSTILE],
          agent: { kind: "command", argv: [HOSTILE] },
          checks: [HOSTILE],
        },
        base: { repo: { name: HOSTILE, path: `/${HOSTILE}` }, ref: `refs/heads/${HOSTILE}`, commit: COMMIT },
      },
    ],
    [
      "routed",
      null,
      0,
      {
        workflow: "REVIEW",
        reason: HOSTILE,
        tasks: [task, other],
        confidence: 0.5,
        unsure: true,
        alternatives: [{ workflow: HOSTILE, confidence: 0.4 }],
      },
    ],
    [
      "dispatch",
      "T-001",
      1,
      { feedback: [{ message: HOSTILE }], task: { time_budget_s: 1 }, base: { commit: COMMIT }, agent: {} },
    ],
    ["claim", "T-001", 1, { associate: HOSTILE }],
    ["control", null, 1, { kind: "pause", by: HOSTILE, reason: HOSTILE }],
    [
      "result",
      "T-001",
      1,
      {
        kind: "reported",
        code: HOSTILE,
        patch: null,
        evidence: EVIDENCE,
        result: {
          status: "failed",
          summary: HOSTILE,
          files_changed: [HOSTILE],
          verify: { status: "fail" },
          questions: [HOSTILE],
        },
      },
    ],
    [
      "verdict",
      "T-001",
      1,
      {
        verdict: "FAIL",
        code: HOSTILE,
        message: HOSTILE,
        commit: COMMIT,
        evidence: EVIDENCE,
        checks: [CHECK],
        baseChecks: [CHECK],
        proves: "nothing",
      },
    ],
    ["landing", "T-001", 1, { kind: "refused", code: HOSTILE, message: HOSTILE }],
    ["cancel", null, 1, { by: HOSTILE, reason: HOSTILE }],
    [
      "closed",
      null,
      1,
      { status: "failed", code: HOSTILE, message: HOSTILE, commit: null, landedOn: null, seal: HOSTILE },
    ],
  ];
  return rows.map(([type, taskId, epoch, body], i) => record(i + 1, type, taskId, epoch, body));
}

const REVIEW = JSON.stringify({
  pairs: [
    {
      output: {
        decision: "reject",
        findings: [{ severity: HOSTILE, file: HOSTILE, line: 1, why: HOSTILE, quote: HOSTILE }],
        dropped: [],
      },
    },
  ],
});

/** By their names in a manifest. */
const FILES: Readonly<Record<string, string>> = {
  "diff.patch": DIFF,
  "work/1.stdout.txt": HOSTILE,
  "transcript.jsonl": `${JSON.stringify({ type: HOSTILE, text: HOSTILE })}\n${HOSTILE}`,
  [`skills/results/${RUN}/reviewer.json`]: REVIEW,
  [`skills/results/${RUN}/reviewer.md`]: HOSTILE,
};

const digestOfText = (text: string): string =>
  `sha256-${createHash("sha256").update(text).digest("base64url")}`;

function bundle(kind: "attempt" | "verdict"): object {
  const own = Object.entries(FILES).map(([path, text]) => {
    return { path, blob: { digest: digestOfText(text), bytes: text.length } };
  });
  const manifest = {
    author_id: HOSTILE,
    decision: "PASS",
    summary: HOSTILE,
    base_commit: HOSTILE,
    files_changed: [HOSTILE],
    checks: [{ command: HOSTILE, exit_code: 1, timed_out: false, duration_ms: 1 }],
    files: [...own, { path: HOSTILE, blob: { digest: digestOfText(HOSTILE), bytes: 1 } }],
  };
  return {
    taskId: "T-001",
    epoch: 1,
    kind,
    key: HOSTILE,
    digest: digestOfText(canonicalJson(manifest)),
    manifest,
  };
}

const LETTER = {
  id: HOSTILE,
  seq: 1,
  at: HOSTILE,
  consumer: HOSTILE,
  code: HOSTILE,
  detail: HOSTILE,
  deliveries: 1,
  origin: { subject: HOSTILE, seq: 1 },
};
const HOLDS = [{ name: HOSTILE, place: HOSTILE, rule: null }];
const IMAGE = {
  ref: HOSTILE,
  id: HOSTILE,
  allowed_by: HOSTILE,
  bytes: 1,
  sealed: false,
  programs: [HOSTILE],
};

/** What is asked for, and the answer. The first that fits. */
const ANSWERS: readonly [RegExp, () => unknown][] = [
  [/^POST \/sessions$/, () => ({ token: "t" })],
  [/^POST \/intents$/, () => ({ intentId: "it_1" })],
  [/^POST \/intents\/it_1\/run$/, () => ({ runId: RUN })],
  [/^POST \/runs\/\w+\/retry$/, () => ({ runId: HOSTILE, replayed: false })],
  [/^POST \/runs\/\w+\/(pause|resume)$/, () => ({ already: false })],
  [/^POST \/runs\/\w+\/restore$/, () => ({ records: HOSTILE, restored: 1 })],
  [
    /^POST \/runs\/\w+\/replay$/,
    () => ({
      task: HOSTILE,
      epoch: 1,
      same: false,
      recorded: HOSTILE,
      replayed: HOSTILE,
      calls: 1,
      served: 1,
      divergence: { step: HOSTILE, what: HOSTILE },
    }),
  ],
  [/^POST \/runs\/\w+\/events$/, () => ({ taskId: HOSTILE, verdict: HOSTILE })],
  [/^GET \/runs\/\w+\/events$/, () => ({ records: records() })],
  [
    /^GET \/runs\/\w+\/evidence$/,
    () => ({ bundles: [bundle("attempt"), bundle("verdict")], contracts: [], router: null }),
  ],
  [
    /^GET \/runs\/\w+$/,
    () => ({
      status: HOSTILE,
      steps: [
        { id: HOSTILE, message: HOSTILE, approval: { state: "pending", commit: HOSTILE, verdict: HOSTILE } },
      ],
    }),
  ],
  [
    /^GET \/runs$/,
    () => ({
      runs: [
        {
          runId: RUN,
          status: HOSTILE,
          paused: true,
          goal: HOSTILE,
          repo: HOSTILE,
          startedAt: AT,
          endedAt: null,
          code: HOSTILE,
        },
      ],
    }),
  ],
  [
    /^GET \/keys$/,
    () => ({
      keys: [
        { kty: "OKP", crv: "Ed25519", x, kid, use: "sig" },
        { kid: HOSTILE, x },
      ],
    }),
  ],
  [
    /^(GET \/models|POST \/models\/test)$/,
    () => ({
      ok: true,
      node: HOSTILE,
      file: HOSTILE,
      hosts: [
        {
          ...{
            host: HOSTILE,
            shape: HOSTILE,
            upstream: HOSTILE,
            origin: HOSTILE,
            key: "missing",
            reason: HOSTILE,
          },
          prices: { [HOSTILE]: { input: 1, output: 1, max_output: 1 } },
        },
      ],
      unusable: [{ entry: HOSTILE, reason: HOSTILE }],
      trial: { host: HOSTILE, works: false, said: HOSTILE, models: [HOSTILE], ms: 1 },
    }),
  ],
  [/^(GET|POST) \/images$/, () => ({ ok: true, images: [IMAGE] })],
  [/^POST \/checks$/, () => ({ passed: false, checks: [CHECK], image: HOSTILE, image_note: HOSTILE })],
  [/^GET \/dead-letters$/, () => ({ letters: [LETTER], more: 2 })],
  [/^POST \/dead-letters\//, () => ({ runId: HOSTILE })],
  [/^GET \/dead-letters\//, () => LETTER],
  [
    /^GET \/policy$/,
    () => ({
      repo: HOSTILE,
      principal: HOSTILE,
      holds: HOLDS,
      profiles: [{ name: HOSTILE, paths: [HOSTILE] }],
      globalLimits: { runs: HOSTILE },
    }),
  ],
  [/^POST \/policy\/check$/, () => ({ allowed: true, holds: HOLDS, refusal: null })],
  [
    /^POST \/policy\/simulate$/,
    () => ({
      runs: [
        {
          runId: HOSTILE,
          repo: HOSTILE,
          principal: HOSTILE,
          profiles: [],
          refusal: { profile: HOSTILE, rule: HOSTILE, value: HOSTILE },
        },
      ],
    }),
  ],
  [
    /^GET \/services$/,
    () => ({ services: [{ name: HOSTILE, role: HOSTILE, nodeId: HOSTILE, version: HOSTILE }] }),
  ],
];

export interface HostileGateway {
  readonly url: string;
  /** Answers everything with an error whose every part is hostile. */
  refuse(refusing: boolean): void;
  close(): Promise<void>;
}

export async function openHostileGateway(): Promise<HostileGateway> {
  let refusing = false;
  const server = createServer((request, response) => {
    request.resume();
    if (refusing) return json(response, 409, { error: { code: HOSTILE, message: HOSTILE, remedy: HOSTILE } });
    answer(request, response);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refuse: (on) => (refusing = on),
    close: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? "/", "http://gateway");
  const file = /^\/runs\/\w+\/evidence\/[^/]+\/[^/]+\/files\/(.+)$/.exec(pathname)?.[1];
  if (file !== undefined) {
    const path = decodeURIComponent(file);
    response.end(path === HOSTILE ? HOSTILE : FILES[path]);
    return;
  }
  if (request.headers.accept === "text/event-stream") return stream(request, response);
  const asked = `${request.method} ${pathname}`;
  const found = ANSWERS.find(([form]) => form.test(asked));
  if (found === undefined)
    return json(response, 404, { error: { code: "ANT_TEST", message: asked, remedy: "" } });
  json(response, 200, found[1]());
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** The records, and output of the sandbox between them. */
function stream(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const after = Number(request.headers["last-event-id"] ?? 0);
  const output = (kind: string): string =>
    `event: log\ndata: ${JSON.stringify({ taskId: HOSTILE, epoch: 1, stream: kind, text: HOSTILE })}\n\n`;
  for (const one of records().slice(after)) {
    const { seq, type } = one as { seq: number; type: string };
    response.write(
      `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify(one)}\n\n${output("progress")}${output("stdout")}`,
    );
  }
  response.end();
}
