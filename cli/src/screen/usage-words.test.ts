import { Argument, Command, CommanderError, Option } from "commander";
import { expect, test } from "vitest";
import { usageWords } from "./usage-words.ts";

/** What commander itself says of a command line. */
function refusalOf(...words: string[]): CommanderError {
  const program = new Command("antiphon").exitOverride().configureOutput({ writeErr: () => undefined });
  program
    .command("runs")
    .exitOverride()
    .addOption(new Option("-s, --status <status>", "only these").choices(["open", "failed"]));
  program.command("get").exitOverride().argument("<runId>");
  program.command("export").exitOverride().requiredOption("--out <dir>");
  program
    .command("completion")
    .exitOverride()
    .addArgument(new Argument("<shell>").choices(["bash", "zsh"]));
  try {
    program.parse(words, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) return error;
    throw error;
  }
  throw new Error("commander refuses nothing");
}

test.each([
  [["runs", "--status"], "--status needs a value: -s, --status <status>"],
  [["runs", "--status", "done"], '--status takes one of open, failed, not "done"'],
  [["get"], "<runId> is missing"],
  [["export"], "--out <dir> is missing"],
  [["completion", "tcsh"], '<shell> is one of bash, zsh, not "tcsh"'],
  [["get", "run_a", "--nonsense"], "unknown option '--nonsense'"],
])("%j is refused in plain words", (words, message) => {
  expect(usageWords(refusalOf(...words), words)).toEqual({ message, hint: null });
});

test("the command that was probably meant is the hint", () => {
  expect(usageWords(refusalOf("rns"), ["rns"])).toEqual({
    message: "unknown command 'rns'",
    hint: "Did you mean runs?",
  });
});

test.each([
  [["list"], "antiphon runs"],
  [["status", "run_a"], "antiphon get"],
])("of a name that other tools give a command, the hint is the command: %j", (words, command) => {
  expect(usageWords(refusalOf(...words), words).hint).toBe(`Did you mean ${command}?`);
});
