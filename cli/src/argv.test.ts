import { describe, expect, it } from "vitest";
import { prepare } from "./argv.ts";

describe("the command line before it is parsed", () => {
  it("reads `run get <run id>` as the verb get", () => {
    expect(prepare(["run", "get", "run_abc1", "--json"]).args).toEqual(["get", "run_abc1", "--json"]);
    expect(prepare(["run", "--json", "get", "run_abc1"]).args).toEqual(["run", "--json", "get", "run_abc1"]);
  });

  it("reads `run cancel` and `run answer` of a run id as their verbs", () => {
    expect(prepare(["run", "cancel", "run_abc1"]).args[0]).toBe("cancel");
    expect(prepare(["run", "answer", "run_abc1", "blue"]).args).toEqual(["answer", "run_abc1", "blue"]);
  });

  it("reads `run get ...` without a run id as an intent", () => {
    const argv = ["run", "get the tests green", "--repo", "."];
    expect(prepare(argv).args).toEqual(argv);
    expect(prepare(["run", "get", "the", "tests", "green"]).args[0]).toBe("run");
  });

  it("shows the help of the verb when nothing or --help follows", () => {
    expect(prepare(["run", "get"]).args).toEqual(["get"]);
    expect(prepare(["run", "cancel", "--help"]).args).toEqual(["cancel", "--help"]);
  });

  it("takes the words after a bare -- as a program", () => {
    const { args, program } = prepare(["run", "x", "--repo", ".", "--", "agent", "--json", "--"]);
    expect(args).toEqual(["run", "x", "--repo", "."]);
    expect(program).toEqual(["agent", "--json", "--"]);
    expect(prepare(["runs"]).program).toBeNull();
  });
});
