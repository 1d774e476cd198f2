/**
 * The next words of a model in a session, in the tools that an agent offers: a function of the request alone, so that many
 * agents can be answered at once. Pure.
 */
import type { Line } from "../support/model-script.ts";
import type { Session, Step } from "./session.ts";

type Json = Readonly<Record<string, unknown>>;

interface Tool {
  readonly name: string;
  readonly fields: readonly string[];
}

/** Where agents keep the work tree. Some take absolute paths only. */
const ROOT = "/workspace/";

export function answerIn(sessions: readonly Session[], body: Json): Line {
  const tools = toolsIn(body);
  if (tools.length === 0) return { text: "Mend a bug" };
  const asked = JSON.stringify(body["messages"]);
  const session = sessions.find(({ goal }) => asked.includes(JSON.stringify(goal).slice(1, -1)));
  if (session === undefined) throw new Error(`a request of no session: ${asked.slice(0, 400)}`);
  const step = session.steps[resultsIn(body)];
  if (step !== undefined) return { text: "I go on.", calls: [callOf(step, tools)] };
  const finish = tools.find(({ name }) => name === "finish");
  if (finish === undefined) return { text: "Done: the check passes." };
  return { calls: [[finish.name, { outcome: "done", summary: session.goal }]] };
}

/** Tools as the shapes of OpenAI and Anthropic name them. */
function toolsIn({ tools = [] }: Json): Tool[] {
  return (tools as readonly Json[]).map((tool) => {
    const { name, parameters, input_schema } = (tool["function"] ?? tool) as Json;
    const { properties = {} } = (parameters ?? input_schema ?? {}) as { properties?: object };
    return { name: String(name), fields: Object.keys(properties) };
  });
}

function resultsIn({ messages = [] }: Json): number {
  return (messages as readonly { readonly role: string; readonly content: unknown }[]).reduce(
    (sum, { role, content }) => {
      if (role === "tool") return sum + 1;
      if (!Array.isArray(content)) return sum;
      return sum + (content as readonly Json[]).filter(({ type }) => type === "tool_result").length;
    },
    0,
  );
}

function callOf(step: Step, tools: readonly Tool[]): readonly [name: string, input: object] {
  if ("bash" in step) {
    const { name, fields } = toolCalled(tools, /^bash$/i);
    const described = fields.includes("description") ? { description: "Runs a command" } : {};
    return [name, { command: step.bash, ...described }];
  }
  if ("read" in step) {
    const { name, fields } = toolCalled(tools, /^read(_file)?$/i);
    return [name, pathFor(fields, step.read)];
  }
  const { name, fields } = toolCalled(tools, /^edit(_file)?$/i);
  const [path, old, instead] = step.edit;
  if (fields.includes("edits"))
    return [name, { ...pathFor(fields, path), edits: [{ oldText: old, newText: instead }] }];
  const words = { [named(fields, /^old/i)]: old, [named(fields, /^new/i)]: instead };
  return [name, { ...pathFor(fields, path), ...words }];
}

function toolCalled(tools: readonly Tool[], pattern: RegExp): Tool {
  const found = tools.find(({ name }) => pattern.test(name));
  if (found === undefined) throw new Error(`no ${pattern.source} in ${tools.map(({ name }) => name).join()}`);
  return found;
}

function pathFor(fields: readonly string[], path: string): object {
  const field = named(fields, /path/i);
  return { [field]: field === "path" ? path : `${ROOT}${path}` };
}

function named(fields: readonly string[], pattern: RegExp): string {
  return fields.find((field) => pattern.test(field)) ?? pattern.source;
}
