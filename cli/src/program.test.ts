import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import { RUN_FLAGS } from "@antiphon/contracts/runs/run-options";
import { describe, expect, it } from "vitest";
import { readConfig, colourWish } from "./config.ts";
import type { CliContext } from "./context.ts";
import { buildProgram } from "./program.ts";
import { OTHER_NAMES } from "./screen/other-names.ts";
import { openScreen } from "./screen/screen.ts";

const context: CliContext = {
  screen: openScreen(false, process),
  config: readConfig("/nowhere", {}),
  version: "0.0.0",
  root: "/nowhere",
  bundle: "/nowhere",
  program: null,
  runFlags: RUN_FLAGS,
  gateway: () => Promise.reject(new Error("not in this test")),
  setExitCode: () => undefined,
};
const program = buildProgram(context);

function leaves(command: typeof program): (typeof program)[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap((child) => leaves(child));
}

describe("the command tree", () => {
  it.each(leaves(program).map((command) => [command.name(), command] as const))(
    "gives `%s` a summary, --json and an example",
    (_name, command) => {
      let help = "";
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      expect(command.summary()).not.toBe("");
      if (command.name() !== "mcp") expect(help).toContain("--json"); // Its output is the protocol's.
      expect(help).toMatch(/Examples:\n {2}\$ /);
    },
  );
});

it("`antiphon run` takes several agents in one --agent or in several", () => {
  const run = buildProgram(context).commands.find((command) => command.name() === "run");
  run?.parseOptions(["--agent", "pi@small,claude", "--agent", "codex"]);
  expect(run?.opts()).toMatchObject({ agent: "pi@small,claude,codex" });
});

describe("an option with an empty value", () => {
  const refusal = (...words: string[]): Promise<unknown> =>
    buildProgram(context)
      .parseAsync(words, { from: "user" })
      .then(
        () => null,
        (error: unknown) => error,
      );

  it.each([
    ["--repo", ["run", "Fix it", "--repo", "", "--patch", "fix.diff"]],
    ["--check", ["run", "Fix it", "--check", "npm test", "--check", "  ", "--patch", "fix.diff"]],
    ["--check", ["check", "--check", ""]],
    ["--repo", ["runs", "--repo="]],
    ["--out", ["evidence", "export", "run_1", "--out", ""]],
    ["--state-dir", ["dev", "--stop", "--state-dir", ""]],
  ])("is refused as a mistake of its caller: %s of %j", async (name, words) => {
    expect(await refusal(...words)).toMatchObject({
      code: "ANT_USAGE",
      exitCode: 2,
      message: expect.stringMatching(new RegExp(`^${name} has an empty value: ${name} <`)) as string,
    });
  });

  it("is refused after a bare -- of `check` as well", async () => {
    const bare = buildProgram({ ...context, program: [] }).parseAsync(["check"], { from: "user" });
    await expect(bare).rejects.toMatchObject({ code: "ANT_USAGE", message: "no command follows --" });
  });

  it("may be a reason, which is text for people", async () => {
    expect(await refusal("cancel", "run_1", "--reason", "")).toMatchObject({ message: "not in this test" });
  });
});

describe("the names of other tools", () => {
  const found = (words: string): boolean =>
    words
      .split(" ")
      .reduce<typeof program | undefined>(
        (at, word) => at?.commands.find((child) => child.name() === word),
        program,
      ) !== undefined;

  it.each(OTHER_NAMES)("`%s` is no command, and `%s` is one", (name, meant) => {
    expect([found(name), found(meant)]).toEqual([false, true]);
  });
});

it("a decision about what is no digest is refused before anything is sent", async () => {
  const words = ["approve", "run_1", "--verdict", "sha256-typo"];
  await expect(buildProgram(context).parseAsync(words, { from: "user" })).rejects.toMatchObject({
    code: "ANT_USAGE",
    message: '--verdict takes a digest (sha256-...), not "sha256-typo"',
    remedy: "`antiphon get run_1` shows it",
  });
});

describe("the environment of the CLI", () => {
  it("has a default for every setting", () => {
    expect(readConfig("/app", {})).toMatchObject({
      gatewayUrl: "http://127.0.0.1:3001",
      isGatewayNamed: false,
      token: null,
    });
  });

  it("keeps the state of a checkout beside its sources, and of an installed package in the user's directory", () => {
    const stateDir = (root: string, env: NodeJS.ProcessEnv): string => readConfig(root, env).stateDir;
    const checkout = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
    expect(stateDir(checkout, {})).toBe(`${checkout}/.antiphon`);
    expect(stateDir("/app", {})).toBe(`${homedir()}/.local/state/antiphon`);
    expect(stateDir("/app", { XDG_STATE_HOME: "/states" })).toBe("/states/antiphon");
    expect(stateDir("/app", { XDG_STATE_HOME: "relative" })).toBe(`${homedir()}/.local/state/antiphon`);
    expect(stateDir(checkout, { ANTIPHON_STATE_DIR: "/elsewhere" })).toBe("/elsewhere");
  });

  it("accepts a gateway URL with or without a slash at its end", () => {
    expect(readConfig("/app", { ANTIPHON_GATEWAY_URL: "https://ant.example/" }).gatewayUrl).toBe(
      "https://ant.example",
    );
  });

  it("refuses a gateway URL that is not an http URL", () => {
    const refused = expect.objectContaining({ code: "ANT_CONFIG_INVALID", exitCode: 2 }) as Error;
    expect(() => readConfig("/app", { ANTIPHON_GATEWAY_URL: "localhost:3001" })).toThrow(refused);
  });

  it("refuses a misspelt setting, and says which one is meant", () => {
    const message = "ANTIPHON_TOKNE is no setting; ANTIPHON_TOKEN is";
    const refused = expect.objectContaining({ code: "ANT_CONFIG_INVALID", message, exitCode: 2 }) as Error;
    expect(() => readConfig("/app", { ANTIPHON_TOKNE: "x" })).toThrow(refused);
  });

  it("has no colours under NO_COLOR", () => {
    expect(colourWish({ NO_COLOR: "1", FORCE_COLOR: "1" })).toBe(false);
    expect(colourWish({ FORCE_COLOR: "1" })).toBe(true);
    expect(colourWish({ TERM: "dumb" })).toBe(false);
    expect(colourWish({ TERM: "xterm" })).toBe(null); // Each stream decides for itself.
  });
});
