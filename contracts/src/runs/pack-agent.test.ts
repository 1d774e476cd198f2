import { expect, it } from "vitest";
import { validate } from "../validation/validate.ts";
import type { AgentPack } from "../settings/agent-pack.ts";
import { fileCommand, isPinnedInstall, packAgent } from "./pack-agent.ts";

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

it("knows a file of the pack's own as an install that reads nothing of a work tree", () => {
  const own = {
    ...pack,
    install: { commands: [fileCommand("a.mjs", "aGk=")] },
    argv: ["node", "${files}/a.mjs"],
  };
  const agent = packAgent(own);
  expect(agent.tools).toEqual(["base64", "gzip"]);
  expect(agent.argv).toEqual(["node", "/tmp/home/.agent/lib/a.mjs"]);
  expect(agent.install.map(isPinnedInstall)).toEqual([true]);
  const [install = ""] = agent.install;
  for (const other of ["aGk= | sh; echo x", "$(cat /workspace/x)", "aGk= > /tmp/x | cat"])
    expect(isPinnedInstall(install.replace("aGk=", other))).toBe(false);
  expect(isPinnedInstall(`${install} /workspace/x`)).toBe(false);
});
