import { RUN_FLAGS } from "@antiphon/contracts/runs/run-options";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { ERROR_CODES, ERRORS } from "@antiphon/contracts/errors";
import { describe, expect, it } from "vitest";
import { readConfig } from "../config.ts";
import { buildProgram } from "../program.ts";
import { openScreen } from "./screen.ts";

/** Checks every text that suggests an antiphon command against the real commands. */
const program = buildProgram({
  screen: openScreen(false, process),
  config: readConfig("/nowhere", {}),
  version: "0.0.0",
  root: "/nowhere",
  bundle: "/nowhere",
  program: null,
  runFlags: RUN_FLAGS,
  gateway: () => Promise.reject(new Error("not in this test")),
  setExitCode: () => undefined,
});

/** Flags of other programs that our texts mention. */
const FOREIGN = new Set([
  ...["--all", "--binary", "--full-index", "--refetch", "--no-filter", "--prune", "--raw", "--chmod"],
]);

function flagsOf(command: Command): string[] {
  const own = command.options.flatMap(({ long, short }) => [long, short].filter((flag) => flag != null));
  return [...own, "--help", "-h", "--version", ...command.commands.flatMap(flagsOf)];
}

/** The fault in `antiphon <words>`; null if it is valid. */
function faultIn(words: string): string | null {
  let command: Command = program;
  const [own = ""] = words.replaceAll(/"[^"]*"|'[^']*'/g, "words").split("|"); // Quoted words are data.
  const parts = own.trim().split(/\s+/);
  const [verb = ""] = parts;
  if (verb === "" || verb.startsWith("<") || !/^[a-z-]+$/.test(verb)) return null;
  for (const part of parts) {
    const child = command.commands.find((one) => one.name() === part || one.aliases().includes(part));
    if (child !== undefined) command = child;
    else if (command === program && part.startsWith("-"))
      return flagsOf(program).includes(part) ? null : part;
    else if (command === program) return `no verb ${part}`;
    else if (part === "--") return null;
    else if (/^--[a-z]/.test(part) && !flagsOf(command).includes(part.replace(/[=).,;:]+.*$/, "")))
      return `${command.name()} takes no ${part}`;
  }
  return null;
}

/** `run get <id>` and similar forms are other spellings of verbs (argv.ts). */
const spelling = (words: string): string =>
  words.replace(/^\s*run (get|cancel|pause|resume|answer|events) (?=<|run_)/, "$1 ");

function faults(text: string): string[] {
  const commands = [...text.matchAll(/`(?:npx )?antiphon ([^`]*)`/g)].map(([, words = ""]) => words);
  return commands.map((words) => faultIn(spelling(words))).filter((fault) => fault !== null);
}

describe("every suggested command exists", () => {
  it.each(ERROR_CODES)("in the meaning and the remedy of %s", (code) => {
    const { meaning, remedy } = ERRORS[code];
    const text = `${meaning} ${remedy}`;
    expect(faults(text)).toEqual([]);
    const known = new Set([...flagsOf(program), ...FOREIGN]);
    const flags = [...text.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([flag]) => flag);
    expect(flags.filter((flag) => !known.has(flag))).toEqual([]);
  });

  const root = fileURLToPath(new URL("../../..", import.meta.url));
  const guides = readdirSync(`${root}docs/guides`).map((name) => `docs/guides/${name}`);
  const services = readdirSync(`${root}services`).map((name) => `services/${name}/README.md`);
  it.each(["README.md", "SECURITY.md", "docs/failure-modes.md", "cli/README.md", ...guides, ...services])(
    "in %s",
    (path) => {
      const text = readFileSync(root + path, "utf8");
      const shown = [...text.matchAll(/^(?:npx )?antiphon ([^#\n\\]*)/gm)].map(([, words = ""]) => words);
      const wrong = shown.map((words) => faultIn(spelling(words))).filter((fault) => fault !== null);
      expect([...faults(text), ...wrong]).toEqual([]);
    },
  );

  it("in the examples of every verb", () => {
    const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
    for (const command of all(program)) {
      let help = "";
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      const shown = [...help.matchAll(/^ {2}\$ antiphon (.*)$/gm)].map(([, words = ""]) => words);
      expect(shown.map((words) => faultIn(spelling(words))).filter((fault) => fault !== null)).toEqual([]);
    }
  });
});
