/** Parsers of the gateway, the egress gateway and the sandbox-runner: requests, model traffic, messages of a sandbox. */
import type { Command } from "@antiphon/contracts";
import { judgeCaller } from "../../services/gateway/src/http/caller-guard.ts";
import { runOptionsOf } from "../../services/gateway/src/intents/run-options.ts";
import { checkPatchSyntax } from "../../services/gateway/src/intents/patch-syntax.ts";
import { commandDeed } from "../../services/gateway/src/sessions/command-deed.ts";
import { readClientHello } from "../../services/egress-gateway/src/tls/client-hello.ts";
import { endToEnd, framing } from "../../services/egress-gateway/src/proxy/headers.ts";
import { parseAuthority } from "../../services/egress-gateway/src/policy/host-name.ts";
import { isPublicAddress } from "../../services/egress-gateway/src/proxy/ip-address.ts";
import { readCall } from "../../services/egress-gateway/src/models/model-call.ts";
import { maskedAnswer } from "../../services/egress-gateway/src/models/masked-answer.ts";
import { UsageReader } from "../../services/egress-gateway/src/models/model-usage.ts";
import { parseEntry, passRule } from "../../services/egress-gateway/src/policy/policy.ts";
import { maskOf } from "../../services/egress-gateway/src/policy/secret-shapes.ts";
import { Scrubber, scrubbed } from "../../services/egress-gateway/src/policy/scrubber.ts";
import { parseAbsolute, parseOrigin } from "../../services/egress-gateway/src/policy/target.ts";
import { attemptNamed } from "../../services/sandbox-runner/src/reaper/stale-epoch.ts";
import { Collector } from "../../services/sandbox-runner/src/workspace/collected.ts";
import {
  EngineDemux,
  FrameDecoder,
  encodeFrame,
} from "../../services/sandbox-runner/src/conversation/frames.ts";
import { IgnoreRules } from "../../services/sandbox-runner/src/workspace/ignore-rules.ts";
import { OutputBound } from "../../services/sandbox-runner/src/conversation/output-bound.ts";
import { checkPath } from "../../services/sandbox-runner/src/workspace/path-rule.ts";
import { ruleFilesOf, SurveyReader } from "../../services/sandbox-runner/src/workspace/survey.ts";
import { parseExit, parseHello } from "../../services/sandbox-runner/src/conversation/step-script.ts";
import { TarReader } from "../../services/sandbox-runner/src/workspace/tar-reader.ts";
import { planted, tarOf } from "./archives.ts";
import { directorParsers } from "./director-parsers.ts";
import type { Parser } from "./growth.ts";
import { nested, numbered, repeated } from "./shapes.ts";

/** Pieces of a few bytes, like a hostile stream. */
function* dribbled(text: string, piece = 7): Generator<Buffer> {
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
}

const PRICES = { m: { input: 1, output: 1, cache_read: 1, cache_write: 1, max_output: 100 } };
const target = parseOrigin("/a", { host: "a.example", port: 443 });
const git = { host: "a.example", kind: "git", ports: [443], terminate: true } as const;

const gatewayParsers: readonly Parser[] = [
  {
    name: "headers of a caller",
    reads: ["services/gateway/src/http/caller-guard.ts"],
    shapes: repeated(["a", ".", ":", "[", "eyJ", "Bearer ", "-", "127."]),
    run: (text) => {
      const rest = { origin: undefined, secFetchSite: undefined };
      judgeCaller({ ...rest, host: text, authorization: undefined }, { allowedHosts: [], token: "t" });
      judgeCaller(
        { ...rest, host: "localhost", authorization: `Bearer ${text}` },
        { allowedHosts: [], token: "t" },
      );
    },
  },
  {
    name: "inputs of an intent",
    reads: [
      "services/gateway/src/intents/run-options.ts",
      "services/gateway/src/intents/bounded-options.ts",
      "services/gateway/src/intents/given-plan.ts",
      "contracts/src/documents/glob.ts",
    ],
    shapes: [
      ...repeated(["*", "{", "{a,b}", "}", ",", "\\", "**/"], (body) =>
        JSON.stringify({ scope: chunks(body) }),
      ),
      ...repeated(["/", "a", ".", "~", "\n", ".lock/"], (body) =>
        JSON.stringify({ base_ref: body, land_on: body }),
      ),
      ...repeated(["\n", "@@", "@@ -1,9 +1 @@\n", "+a\n"], (diff) =>
        JSON.stringify({ agent: { kind: "scripted", patch: { files: [{ path: "x", diff }] } } }),
      ),
      numbered(
        "tasks",
        (i) => `{"id":${i + 1},"description":"d","dependencies":[]},`,
        (body) => `{"tasks":[${body.slice(0, -1)}]}`,
      ),
      numbered(
        "strangers",
        (i) => `"k${i}":1,`,
        (body) => `{${body}"checks":[]}`,
      ),
      ...nested([["[", "]"]]).map((shape) => ({
        ...shape,
        make: (size: number) => `{"tasks":${shape.make(size)}}`,
      })),
    ],
    run: (text) => {
      const inputs = { repo: "/r", agent: { kind: "command", argv: ["x"] }, ...(JSON.parse(text) as object) };
      return runOptionsOf({ goal: "g", inputs, constraints: {} });
    },
  },
  {
    name: "the syntax of a patch",
    reads: ["services/gateway/src/intents/patch-syntax.ts"],
    shapes: repeated([
      "\n",
      "@@ -1,999999 +1,9 @@\n",
      "@@ -1 +1 @@\n-a\n+b\n",
      "\\\n",
      "+\n",
      "rename from \n",
      "@@ -1",
    ]),
    run: checkPatchSyntax,
  },
  {
    name: "the patch of a command",
    reads: [
      "services/gateway/src/sessions/command-deed.ts",
      "services/gateway/src/sessions/command-policy.ts",
    ],
    shapes: repeated(["\n", "diff --git a/a b/a\n", "--- a\n+++ b\n", "\t"]),
    run: (patchContent) =>
      commandDeed(
        { command: "ApplyPatch", payload: { repo: "/r", patchContent } } as unknown as Command,
        [],
        null,
      ),
  },
];

/** Globs of at most the allowed length. */
function chunks(text: string): string[] {
  const most = 1024;
  return Array.from({ length: Math.min(256, Math.ceil(text.length / most)) }, (_, i) =>
    text.slice(i * most, (i + 1) * most),
  );
}

const egressParsers: readonly Parser[] = [
  {
    name: "the first bytes of a TLS connection, in pieces",
    reads: ["services/egress-gateway/src/tls/client-hello.ts"],
    shapes: repeated(
      ["\x16\x03\x01\x00\x01\x01", "\x16\x03\x01\x00\x01\x00", "\x16\x03\x01\x3f\xff", "\x00"],
      (body) => `\x16\x03\x01\x00\x04\x01\x00\x3f\xf0${body}`,
    ),
    largest: 16 * 1024,
    run: (text) => {
      const bytes = Buffer.from(text, "latin1");
      for (let end = 512; end < bytes.length; end += 512)
        if (readClientHello(bytes.subarray(0, end)) !== null) return;
    },
  },
  {
    name: "headers of a request",
    reads: ["services/egress-gateway/src/proxy/headers.ts"],
    shapes: [numbered("names", (i) => `h${i},`), ...repeated([",", "a,", " ", ", "])],
    largest: 16 * 1024,
    run: (text) => {
      const names = text.split(",");
      framing(names.flatMap((name) => [name, "1"]));
      const headers = Object.fromEntries(names.map((name) => [name.trim(), "1"]));
      return endToEnd({ ...headers, connection: text });
    },
  },
  {
    name: "the target of a request",
    reads: [
      "services/egress-gateway/src/policy/target.ts",
      "services/egress-gateway/src/policy/host-name.ts",
      "services/egress-gateway/src/proxy/ip-address.ts",
      "services/egress-gateway/src/policy/policy.ts",
    ],
    shapes: repeated(["/", "a", ".", "%2e", "%25", ":", "[", "?", "-", "a.", "/a", "@", "0x"]),
    run: (text) => {
      const tries = [
        () => parseAbsolute(`http://${text}/`),
        () => parseAbsolute(`http://a.example/${text}`),
        () => parseOrigin(`/${text}`, { host: "a.example", port: 443 }),
        () => parseAuthority(text, 80),
        () => parseEntry(text),
        () =>
          passRule(git, {
            target: { ...target, path: `/${text}` },
            method: "GET",
            body: false,
            contentType: "",
          }),
        () => isPublicAddress(text),
      ];
      for (const one of tries) refusalAllowed(one);
    },
  },
  {
    name: "a model call",
    reads: [
      "services/egress-gateway/src/models/model-call.ts",
      "services/egress-gateway/src/models/call-content.ts",
      "services/egress-gateway/src/models/call-fields.ts",
      "services/egress-gateway/src/models/call-tools.ts",
      "services/egress-gateway/src/models/token-bound.ts",
    ],
    shapes: [
      ...nested([
        ['{"content":', "}"],
        ["[", "]"],
        ['[{"type":"text","content":', "}]"],
      ]).map((shape) => ({
        ...shape,
        make: (size: number) => `{"model":"m","messages":${shape.make(size)}}`,
      })),
      ...nested([["[", "]"]]).map((shape) => ({
        ...shape,
        make: (size: number) => `{"model":${shape.make(size)}}`,
      })),
      ...nested([["[", "]"]]).map((shape) => ({
        ...shape,
        make: (size: number) => `{"model":"m","tools":[{"type":${shape.make(size)}}]}`,
      })),
      ...nested([["[", "]"]]).map((shape) => ({
        ...shape,
        make: (size: number) => `{"model":"m","user":${shape.make(size)}}`,
      })),
      numbered(
        "fields",
        (i) => `"k${i}":1,`,
        (body) => `{${body}"model":"m"}`,
      ),
      numbered(
        "messages",
        () => `{"role":"user","content":"x"},`,
        (body) => `{"model":"m","messages":[${body.slice(0, -1)}]}`,
      ),
    ],
    run: (text) => JSON.stringify(readCall("chat", Buffer.from(text), PRICES).bodyWith(1)),
  },
  {
    name: "an answer of a model, in pieces",
    smallest: 16 * 1024,
    reads: ["services/egress-gateway/src/models/model-usage.ts"],
    shapes: [
      ...repeated(["\n", "\r", "data:", "a", "data:{}\n", "[", '{"usage":', "\r\n"]),
      ...nested([['{"usage":', "}"]]).map((shape) => ({
        ...shape,
        make: (size: number) => `data:${shape.make(size)}\n`,
      })),
    ],
    run: (text) => {
      for (const isStream of [true, false]) {
        const reader = new UsageReader("chat", isStream);
        for (const piece of dribbled(text)) reader.push(piece.toString("latin1"));
        reader.end();
      }
    },
  },
  {
    name: "a recorded answer, without what looks like a secret",
    reads: [
      "services/egress-gateway/src/models/masked-answer.ts",
      "services/egress-gateway/src/policy/secret-shapes.ts",
    ],
    shapes: [
      ...repeated(["data:{}\n", 'data:{"a":"sk-"}\n', "sk-a", "-eyJ", "eyJaaaaaaaaaa.", "ghp_", "a", "\n"]),
      ...repeated(["-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n"]),
      ...nested([['{"a":', "}"]]).map((shape) => ({
        ...shape,
        make: (size: number) => `data:${shape.make(size)}\n`,
      })),
    ],
    run: (text) => maskedAnswer(text, true, maskOf(["a canary of the run"])),
  },
  {
    name: "a stream, without its secrets",
    reads: [
      "services/egress-gateway/src/policy/scrubber.ts",
      "services/egress-gateway/src/policy/escaped-text.ts",
      "services/egress-gateway/src/policy/secret-forms.ts",
    ],
    shapes: repeated(["a", "aaaaaaaab", "b", "ab"]),
    run: (text) => {
      const needles = ["a".repeat(64) + "b", "ab"];
      const scrubber = new Scrubber(needles);
      for (const piece of dribbled(text, 100)) scrubber.push(piece);
      return scrubbed(text, needles);
    },
  },
];

/** A refusal is allowed here; a stack overflow is not. */
function refusalAllowed(call: () => unknown): void {
  try {
    call();
  } catch (error) {
    if (!(error instanceof Error) || error.name === "RangeError" || error.name === "TypeError") throw error;
  }
}

/** The rules count their steps. A small budget shows that no work is left uncounted. */
const FEW_STEPS = 100_000;
const bounds = { maxEntries: 100_000, maxFiles: 100_000, maxBytes: 1 << 26 };
const hasher = { update: () => undefined, digest: () => "" };

const sandboxParsers: readonly Parser[] = [
  {
    name: "frames of a supervisor, in pieces",
    smallest: 16 * 1024,
    reads: ["services/sandbox-runner/src/conversation/frames.ts"],
    shapes: [
      ...repeated([encodeFrame("o", "a").toString("latin1"), "o 000262144\n", "o 000000000\n"]),
      ...repeated(["a", "\n"], (body) => `o 000262144\n${body}`),
    ],
    run: (text) => {
      const frames = new FrameDecoder();
      for (const piece of dribbled(text, 1)) frames.push(piece);
    },
  },
  {
    name: "the stream of an engine, in pieces",
    reads: ["services/sandbox-runner/src/conversation/frames.ts"],
    shapes: repeated(["\x01\0\0\0\0\0\0\x01a", "\x01\0\0\0\x7f\0\0\0", "\x02\0\0\0\0\0\0\0"]),
    run: (text) => {
      const demux = new EngineDemux();
      for (const piece of dribbled(text, 3)) demux.push(piece);
    },
  },
  {
    name: "words of a supervisor",
    reads: [
      "services/sandbox-runner/src/conversation/step-script.ts",
      "services/sandbox-runner/src/reaper/stale-epoch.ts",
    ],
    shapes: repeated(["1", " ", "1 ", "perl sealed=1 landlock=", "-", "antiphon-i-run_a-T-1-", "-1"]),
    run: (text) => [parseHello(text), parseExit(text), attemptNamed(`/antiphon-i-run_a-${text}`, "i")],
  },
  {
    name: "what changed in a workspace, in pieces",
    smallest: 16 * 1024,
    reads: ["services/sandbox-runner/src/workspace/survey.ts"],
    shapes: [
      ...repeated(["+a", "\0", "+a/.gitignore\0", "/", "+a/"]),
      numbered("names", (i) => `+d/f${i}\0`),
    ],
    run: (text) => {
      const reader = new SurveyReader(100_000);
      for (const piece of dribbled(text)) reader.push(piece);
      return ruleFilesOf(reader.result(), new Map(), new IgnoreRules([], ["node_modules/"], FEW_STEPS));
    },
  },
  {
    name: "a .gitignore, against paths",
    reads: [
      "services/sandbox-runner/src/workspace/ignore-file.ts",
      "services/sandbox-runner/src/workspace/ignore-glob.ts",
      "services/sandbox-runner/src/workspace/ignore-rules.ts",
    ],
    shapes: repeated(["*", "**/", "[", "[a", "[!a-z]", "?", "\\", " ", "/", "*a", "!", "\n", "[a-bc-d]"]),
    run: (content) => {
      const rules = new IgnoreRules([{ directory: "", content }], [], FEW_STEPS);
      return [rules.ignores("a".repeat(200)), rules.ignores("a/".repeat(100) + "b")];
    },
  },
  {
    name: "a path, against a .gitignore",
    reads: ["services/sandbox-runner/src/workspace/ignore-rules.ts"],
    shapes: repeated(["a", "/", "a/", "node_modules/", "\u00e9"]),
    run: (path) => new IgnoreRules([], ["node_modules/", "**/x/**/y", "*.log"], FEW_STEPS).ignores(path),
  },
  {
    name: "a tar archive of a sandbox, in pieces",
    reads: [
      "services/sandbox-runner/src/workspace/tar-reader.ts",
      "services/sandbox-runner/src/workspace/collected.ts",
    ],
    shapes: planted,
    run: (text) => {
      const collector = new Collector(new Map(), bounds, () => hasher);
      const reader = new TarReader(collector);
      const bytes = tarOf(text);
      for (let at = 0; at < bytes.length; at += 100) reader.push(bytes.subarray(at, at + 100));
      reader.finish();
      return collector.result();
    },
  },
  {
    name: "a path of a sandbox",
    reads: ["git/src/trees/path-fault.ts"],
    shapes: repeated(["a", "/", ". ", ".", ":", "\u200c", "a/"]),
    run: checkPath,
  },
  {
    name: "output of a step, in pieces",
    reads: ["services/sandbox-runner/src/conversation/output-bound.ts"],
    shapes: repeated(["a", "\x80", "\n"]),
    run: (text) => {
      const bound = new OutputBound(16 * 1024);
      for (const piece of dribbled(text, 1)) bound.push(piece);
      return bound.finish();
    },
  },
];

export const serviceParsers: readonly Parser[] = [
  ...gatewayParsers,
  ...egressParsers,
  ...sandboxParsers,
  ...directorParsers,
];
