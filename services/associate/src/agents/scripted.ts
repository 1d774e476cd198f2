/**
 * The scripted agent applies a given Patch.v0, then runs given shell commands; either may be absent. It uses no model, so
 * the same dispatch is done the same way every time.
 *
 * A command that names antiphon-ask or antiphon-inbox has both on its PATH: it can wait for a person's answer, and reads what a
 * person says meanwhile.
 *
 * With `ask` it stops with a question until the dispatch carries answers. With `claim: "ok"` it reports success without
 * running a check; tests use this to prove that the clean room does not rely on the report.
 */
import type { AgentOf } from "@antiphon/contracts";
import { NO_CHANGE } from "../ports.ts";
import type { Agent } from "../ports.ts";
import { changeOf } from "./patched.ts";

export function scriptedAgent(spec: AgentOf<"scripted">): Agent {
  return {
    async prepare(context) {
      const { task, answers } = context.dispatch;
      if (spec.ask !== undefined && answers.length === 0) return { kind: "ask", questions: [spec.ask] };
      const change = spec.patch === undefined ? NO_CHANGE : await changeOf(spec.patch, context);
      const commands = spec.commands ?? task.commands;
      return {
        kind: "work",
        change,
        steps: commands.map((command) => ({ command, argv: ["sh", "-c", command] })),
        selfVerify: spec.claim !== "ok",
        mayAsk: commands.some((command) => /antiphon-(ask|inbox)/.test(command)), // Others need not wait for their place.
        transcript: null,
        note: noteOf(spec.patch?.files.length ?? 0, commands.length),
      };
    },
  };
}

function noteOf(patched: number, commands: number): string {
  const did = [
    ...(patched > 0 ? [`applied a patch of ${counted(patched, "file")}`] : []),
    ...(commands > 0 ? [`ran ${counted(commands, "command")}`] : []),
  ];
  return did.length === 0 ? "had nothing to run" : did.join(" and ");
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}
