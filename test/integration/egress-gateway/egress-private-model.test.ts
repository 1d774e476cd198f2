/**
 * A model that the deployment serves itself, at a private address that is not loopback and below a path of its own, like the one of
 * a router of models. The gateway reads its real configuration; the address is the one of this machine on the engine's bridge.
 */
import dns from "node:dns/promises";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { BUCKETS, type EgressConfig } from "@antiphon/contracts";
import { openKv } from "@antiphon/runtime";
import { readEgressConfig } from "../../../services/egress-gateway/src/config.ts";
import { isPublicAddress } from "../../../services/egress-gateway/src/proxy/ip-address.ts";
import { egressWorld, grantOf, type EgressWorld, type Job } from "../../support/egress-world.ts";
import { INPUT_TOKENS, OUTPUT_TOKENS } from "../../support/model-shapes.ts";
import { startModelScript, type ModelScript } from "../../support/model-script.ts";

const MODEL = "models.corp.test";
/** A name of the same server that the deployment does not know. */
const OTHER = "other.corp.example.test";
const PATH = "/api/v1";
/** Pays for a free model only. */
const BUDGET = { usd_micro: 1 };
const { lookup } = dns;

let address: string;
let directory: string;
let config: EgressConfig = {};
let script: ModelScript;
let world: EgressWorld;

beforeAll(async () => {
  // A new engine does not name the gateway of its bridge before it is started again, and the bridge is down without containers.
  const shown = execFileSync("ip", ["-4", "-o", "address", "show", "docker0"], { encoding: "utf8" });
  address = /inet ([\d.]+)/.exec(shown)?.[1] ?? "";
  directory = mkdtempSync(join(tmpdir(), "antiphon-private-model-"));
  script = await startModelScript([{ text: "Hello." }], undefined, { address, path: PATH });
  dns.lookup = (async (host: string, options: { all: true }) =>
    host === OTHER ? [{ address, family: 4 }] : lookup(host, options)) as typeof lookup;
  syncBuiltinESMExports();
  world = await egressWorld("private-model", () => {
    const file = join(directory, "egress.json");
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
    return readEgressConfig({ ANTIPHON_EGRESS_CONFIG: file });
  });
});
afterAll(async () => {
  dns.lookup = lookup;
  syncBuiltinESMExports();
  await world.close();
  await script.close();
  rmSync(directory, { recursive: true, force: true });
});

/** As the guide shows it. */
const named = (): EgressConfig => ({
  models: [
    {
      ...{ host: MODEL, shape: "openai", base_url: `http://${address}:${script.port}${PATH}` },
      prices: { "*": { input: 0, output: 0, max_output: 16_384 } },
    },
  ],
});

/** A call of the model from a sandbox of a run. */
function asked(run: string, url: string, allowlist: readonly string[] = []): Promise<Job> {
  const body = JSON.stringify({ model: "own/coder", messages: [{ role: "user", content: "Say hello." }] });
  const call = `curl -sS -w ' %{http_code}' -H 'content-type: application/json' -d '${body}' ${url}`;
  return world.run(grantOf(allowlist, BUDGET), call, { run });
}

it("is called at its path over the metered gateway, for its tokens and no money", async () => {
  expect([address.startsWith("127."), isPublicAddress(address)]).toEqual([false, false]);
  config = named();
  for (const path of ["/v1/chat/completions", `${PATH}/chat/completions`]) {
    const { out, log } = await asked("run_named", `https://${MODEL}${path}`);
    expect(out).toContain("Hello.");
    expect(out).toMatch(/ 200$/);
    expect(log).toMatchObject([
      { decision: "allow", rule: "model:chat", model: { charged_tokens: INPUT_TOKENS + OUTPUT_TOKENS } },
    ]);
  }
  expect(script.heard).toHaveLength(2);
  const account = await openKv(world.bus, BUCKETS.budgets).get<{ used: object; reserved: object }>(
    "run_named",
  );
  expect(account?.value).toMatchObject({
    used: { tokens: 2 * (INPUT_TOKENS + OUTPUT_TOKENS), usd_micro: 0 },
    reserved: { tokens: 0, usd_micro: 0 },
  });
});

it("egress-gateway/E3: is reached at its address in no other way, also where the deployment names it as a model", async () => {
  config = named();
  const before = script.heard.length;
  const at = `:${script.port}${PATH}/chat/completions`;
  for (const host of [address, OTHER]) {
    const allowlist = host === OTHER ? [`${OTHER}:${script.port}`] : [];
    const { out, log } = await asked("run_direct", `http://${host}${at}`, allowlist);
    expect(out, JSON.stringify(log)).toContain("ANT_EGRESS_ADDRESS");
  }
  expect(script.heard).toHaveLength(before);
});

it.each([
  ["its host", (): string => `https://${MODEL}/v1/chat/completions`, [], "ANT_EGRESS_HOST"],
  [
    "its address",
    (): string => `http://${address}:${script.port}${PATH}/chat/completions`,
    [],
    "ANT_EGRESS_ADDRESS",
  ],
  [
    "a name of its address that the run allows",
    (): string => `https://${OTHER}/v1/chat/completions`,
    [OTHER],
    "ANT_EGRESS_ADDRESS",
  ],
] as const)("is refused where the deployment does not name it: %s", async (_what, url, allowlist, code) => {
  config = {};
  const before = script.heard.length;
  const { out, log } = await asked("run_unnamed", url(), allowlist);
  expect(`${out} ${JSON.stringify(log)}`).toContain(code);
  expect(script.heard).toHaveLength(before);
});
