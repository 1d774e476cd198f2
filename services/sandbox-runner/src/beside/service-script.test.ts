import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { serviceArgv, WordListener } from "./service-script.ts";

function run(argv: readonly string[] | null): { status: number | null; output: string } {
  const [program = "", ...args] = argv ?? [];
  const { status, stdout } = spawnSync(program, args, { encoding: "utf8" });
  return { status, output: stdout };
}

it("a service whose image starts nothing and that has no command cannot run", () => {
  expect(serviceArgv({ name: "db", port: 1 }, {}, "word")).toBeNull();
});

it("a service that ends before it is ready has failed, even with status 0", () => {
  const argv = serviceArgv({ name: "db", command: "echo over", ready: "false" }, {}, "word");
  expect(run(argv)).toEqual({ status: 1, output: "over\n" });
});

it("the word is said once, when the command of readiness succeeds", () => {
  const command = 'echo "starting $1"; sleep 0.2';
  const start = ["sh", "-c", command, "sh", "it is"];
  const { status, output } = run(serviceArgv({ name: "db", ready: "true" }, { start }, "word"));
  expect([
    status,
    output
      .split("\n")
      .filter((line) => line !== "")
      .sort(),
  ]).toEqual([0, ["starting it is", "word"]]);
});

it("a word is heard across pieces, and not before its end", () => {
  const listener = new WordListener("ready x");
  const heard = ["rea", "dy ", "y ready", " ", "x and", " more"].map((text) =>
    listener.heard(Buffer.from(text)),
  );
  expect(heard).toEqual([false, false, false, false, true, true]);
});
