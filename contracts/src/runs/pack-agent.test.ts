import { expect, it } from "vitest";
import { validate } from "../validation/validate.ts";
import type { AgentPack } from "../settings/agent-pack.ts";
import { isPinnedInstall, packAgent } from "./pack-agent.ts";

const pack: AgentPack = {
  name: "a",
  argv: ["a", "--model", "${model}"],
  prompt: "stdin",
  env: { URL: "https://${model_host}/v1" },
  install: { npm: ["@x/a@1.2.3"], pip: ["a[b]==1.0"], commands: ["./fetch.sh"] },
  model: { shape: "openai", host: "api.example.com", name: "m-1" },
};

it("fills in the pack's own model, or the one that was asked for", () => {
  expect(packAgent(pack)).toMatchObject({
    argv: ["a", "--model", "m-1"],
    env: { URL: "https://api.example.com/v1" },
  });
  expect(packAgent(pack, { model: "m-2", modelHost: "models.test" })).toMatchObject({
    argv: ["a", "--model", "m-2"],
    env: { URL: "https://models.test/v1" },
  });
  expect(validate("AgentSpec", packAgent(pack))).toMatchObject({ ok: true });
});

it("knows which installs read nothing of a work tree", () => {
  const [npm = "", pip = "", other = ""] = packAgent(pack).install;
  expect([npm, pip, other].map(isPinnedInstall)).toEqual([true, true, false]);
  for (const word of [
    "/workspace/evil",
    "./evil@1.0",
    "a@1.0;x",
    "a@1.0 --registry=http://x",
    "a@latest",
    "$(x)@1",
  ])
    expect(isPinnedInstall(npm.replace("@x/a@1.2.3", word))).toBe(false);
  expect(isPinnedInstall(`${npm} && sh /workspace/x`)).toBe(false);
});
