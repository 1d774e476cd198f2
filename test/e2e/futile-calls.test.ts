/** Attempts that no retry helps: each ends the run with the code of its cause and a remedy, and nothing is lost. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ERRORS, type ErrorCode } from "@antiphon/contracts";
import { startModelStub, type ModelStub } from "../support/model-stub.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

interface Summary {
  runId: string;
  status: string;
  code: string | null;
  message: string;
  tasks: { attempts: number }[];
}

const HOST = "models.futile.test";
const price = { input: 1, output: 1, max_output: 100 };

let stack: Stack;
let stub: ModelStub;
let project: Project;
let directory: string;

/** A pack with one file: it asks its model once, and fails if that fails. Returns its directory. */
function packOf(name: string, script: string): string {
  const place = join(directory, name);
  mkdirSync(place, { recursive: true });
  const pack = {
    ...{ name, description: "A test", argv: ["sh", "-c", script], prompt: "stdin" },
    model: { shape: "openai", host: HOST, name: "small" },
  };
  writeFileSync(join(place, "agent.yaml"), JSON.stringify(pack));
  return place;
}

const asking = (then: string): string =>
  [
    `curl -sS -f -o /dev/null https://\${model_host}/v1/chat/completions -H content-type:application/json`,
    `-d '{"model":"\${model}","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}' ${then}`,
  ].join(" ");

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "antiphon-futile-"));
  stub = await startModelStub(FIX);
  const base_url = `http://127.0.0.1:${stub.port}/v1`;
  const file = join(directory, "egress.json");
  const models = [{ host: HOST, shape: "openai", base_url, prices: { small: price } }];
  writeFileSync(file, JSON.stringify({ models }), { mode: 0o600 });
  stack = await startQuickStack({ env: { ANTIPHON_EGRESS_CONFIG: file, OPENAI_API_KEY: "" } });
  project = makeProject(BROKEN_CALCULATOR);
});
afterAll(async () => {
  project.remove();
  await stack.stop();
  await stub.close();
  rmSync(directory, { recursive: true, force: true });
});

const started = (script: string, flags: readonly string[]): string[] => [
  ...["run", "Fix the broken add", "--repo", project.path, "--check", CHECK],
  ...["--agent", packOf("asker", script), ...flags],
];

const paid = ["--model-usd", "1"];

test.each<[string, ErrorCode, string, string, readonly string[]]>([
  ["an unknown model", "ANT_EGRESS_MODEL", "no-such", asking(`&& ${FIX}`), [...paid, "--model", "no-such"]],
  [
    ...(["no key", "ANT_EGRESS_NO_KEY", "OPENAI_API_KEY is not set", asking(`&& ${FIX}`)] as const),
    [...paid, "--model", "gpt-6.1-sol", "--model-host", "api.openai.com"],
  ],
  [
    ...(["an unknown model host", "ANT_EGRESS_HOST", "no model host nowhere.test"] as const),
    ...([asking(`&& ${FIX}`), [...paid, "--model-host", "nowhere.test"]] as const),
  ],
  [
    ...([
      "an unknown model of an agent that hides it",
      "ANT_EGRESS_MODEL",
      "no-such",
      asking("|| true"),
    ] as const),
    [...paid, "--model", "no-such"],
  ],
  [
    ...([
      "a budget that is used up",
      "ANT_EGRESS_BUDGET",
      "budget was used up",
      asking(`&& ${FIX}`),
    ] as const),
    ["--model-tokens", "1"],
  ],
])("%s ends the run in its first attempt, as %s with its remedy", async (_what, code, why, script, flags) => {
  const { code: exit, document } = await stack.json<Summary>(started(script, flags));
  expect(document).toMatchObject({ status: "failed", code, tasks: [{ attempts: 1 }] });
  expect(document.message).toContain(why);
  expect(exit).not.toBe(0);
  const shown = await stack.antiphon(["get", document.runId]);
  expect(shown.stdout).toContain(code);
  const kept = await stack.antiphon(["evidence", "get", document.runId]);
  expect(kept.stdout).toContain("egress/requests.jsonl");
});

test.each<[string, ErrorCode, string, readonly string[]]>([
  ["no model budget", "ANT_EGRESS_BUDGET", "has no model budget", []],
  ["no network", "ANT_INTENT_OPTIONS", "egress none closes the way", [...paid, "--egress", "none"]],
])("an agent that calls a model with %s starts no run", async (_what, code, why, flags) => {
  const refused = await stack.antiphon(started("true", flags));
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toMatch(new RegExp(`error ${code}: .*${why}`));
  expect(refused.stderr).toContain(`remedy: ${ERRORS[code].remedy}`);
  const pack = await stack.antiphon([
    "run",
    "Fix it",
    "--repo",
    project.path,
    "--agent",
    join(directory, "none"),
  ]);
  expect(pack).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/error ANT_.*\nremedy: /) as string,
  });
});

test("an agent that prints nothing and changes nothing ends with a code and a remedy, and its attempts are kept", async () => {
  const { document } = await stack.json<Summary>(started("true", [...paid, "--attempts", "2"]));
  expect(document).toMatchObject({ status: "failed", tasks: [{ attempts: 2 }] });
  expect(document.code).toBe("ANT_VERIFY_SELF_FAILED");
  expect(document.message).toContain("the agent printed nothing and changed nothing");
  const { stdout } = await stack.antiphon(["evidence", "get", document.runId]);
  for (const epoch of [1, 2]) expect(stdout).toMatch(new RegExp(`^T-001 ${epoch} +attempt by .+: fail`, "m"));
});

test("an agent whose model is unknown hands over to the next one", async () => {
  const next = packOf("next", FIX);
  const { document } = await stack.json<Summary>([
    ...["run", "Fix the broken add", "--repo", project.path, "--check", CHECK, ...paid],
    ...["--agent", `${packOf("lost", asking("").replace("${model}", "no-such"))},${next}`],
  ]);
  expect(document).toMatchObject({ status: "succeeded", tasks: [{ attempts: 2 }] });
});

test("a PATH of the run comes before that of the image, and its commands find their shell", async () => {
  project.write("bin/fixed", `#!/bin/sh\n${FIX}\n`, 0o755);
  project.commitAll("A program");
  const { document } = await stack.json<Summary>([
    ...["run", "Fix the broken add", "--repo", project.path, "--check", CHECK],
    ...["--env", "PATH=/workspace/bin", "--command", "fixed"],
  ]);
  expect(document).toMatchObject({ status: "succeeded" });
});
