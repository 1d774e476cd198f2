/**
 * 1,000 runs in a row on one stack, each from intent to landed commit with real sandboxes: does a process grow? Memory and open files
 * of each process at eight times, and the growth from the second of them to the last. `npm run bench -- endurance [runs]`.
 *
 * Not measured: agents that think, days of uptime, archived runs.
 */
import { FIX, BROKEN_CALCULATOR, CHECK, makeProject, type Project } from "../e2e/support/project.ts";
import { startStack, type Stack } from "../e2e/support/stack.ts";
import { eventually } from "../e2e/support/program.ts";
import { nameOf, usageOf, type Usage } from "./process-usage.ts";

const RUNS = 1_000;
const SAMPLES = 8;
/** In flight at a time, on two Associates. */
const LANES = 2;

export async function run([wanted]: readonly string[] = []): Promise<void> {
  const runs = wanted === undefined ? RUNS : Number(wanted);
  const stack = await startStack({ associates: LANES });
  const project = makeProject(BROKEN_CALCULATOR);
  const samples: { readonly at: number; readonly usages: Map<string, Usage> }[] = [];
  const began = performance.now();
  try {
    const step = Math.ceil(runs / SAMPLES);
    for (let done = 0; done < runs; done += step) {
      await some(stack, project, Math.min(step, runs - done));
      samples.push({ at: Math.min(done + step, runs), usages: sample(stack) });
      const { at, usages } = samples.at(-1)!;
      console.log(`${at} runs, ${Math.round((performance.now() - began) / 1000)} s`);
      console.table(Object.fromEntries([...usages].map(([name, usage]) => [name, rounded(usage)])));
    }
  } finally {
    project.remove();
    await stack.stop();
  }
  const [, second = samples[0], ...rest] = samples;
  const last = rest.at(-1) ?? second;
  if (second === undefined || last === undefined) return;
  console.log(`growth from run ${second.at} to run ${last.at}`);
  console.table(
    Object.fromEntries(
      [...last.usages].map(([name, now]) => {
        const before = second.usages.get(name) ?? now;
        return [
          name,
          {
            "RSS MB": `${before.rssMb.toFixed(0)} to ${now.rssMb.toFixed(0)}`,
            "private MB": `${before.privateMb.toFixed(0)} to ${now.privateMb.toFixed(0)}`,
            descriptors: `${before.descriptors} to ${now.descriptors}`,
          },
        ];
      }),
    ),
  );
}

async function some(stack: Stack, project: Project, count: number): Promise<void> {
  let left = count;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await one(stack, project);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

async function one(stack: Stack, project: Project): Promise<void> {
  const intent = {
    goal: "Make add add",
    inputs: { repo: project.path, agent: { kind: "scripted", commands: [FIX] }, checks: [CHECK] },
    constraints: {},
  };
  const { body } = await stack.http("POST", "/intents", intent);
  const accepted = await stack.http("POST", `/intents/${String(body["intentId"])}/run`);
  const runId = String(accepted.body["runId"]);
  const status = await eventually(
    `the end of ${runId}`,
    async () => {
      const seen = await stack.http("GET", `/runs/${runId}`);
      const said = String(seen.body["status"]);
      return ["succeeded", "failed", "canceled"].includes(said) ? said : null;
    },
    120_000,
  );
  if (status !== "succeeded" || project.landed(runId).length !== 1) throw new Error(`${runId}: ${status}`);
}

function sample(stack: Stack): Map<string, Usage> {
  return new Map(
    Object.keys(stack.ready.pids).map((name) => {
      const pid = stack.pid(name);
      return [name === "associate-2" || name === "associate-1" ? name : nameOf(pid), usageOf(pid)];
    }),
  );
}

function rounded({ rssMb, pssMb, privateMb, cpuS, descriptors }: Usage): Record<string, number> {
  const whole = Math.round;
  return {
    "RSS MB": whole(rssMb),
    "PSS MB": whole(pssMb),
    "private MB": whole(privateMb),
    "CPU s": whole(cpuS),
    descriptors,
  };
}
