/** A program that ends with its question: it is started again in its container with the answer, or in a fresh one from its files. */
import { execFileSync } from "node:child_process";
import type { AgentSpec } from "@antiphon/contracts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dispatchOf } from "../../../services/associate/src/testing/dispatch.fixture.ts";
import { eventually } from "../../support/nats.ts";
import { cleanUpRepos } from "../../support/repo.ts";
import { openWorld, type Sent, type World } from "./associate-world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
  await world.associate("as_one");
});

afterAll(async () => {
  await world.close();
  cleanUpRepos();
});

const QUESTION = "Which word?";
const ANSWER = { question: QUESTION, answer: "hello" };
const LEFT = `mkdir -p .antiphon; echo '{"question":"${QUESTION}"}' > .antiphon/question.json; exit 78`;

/** At its first start it leaves a mark and a process, and asks; at its second it writes what it finds, and works. */
const program = (ask: string, first = "sleep 300 & echo $! > /tmp/process") => [
  ...["sh", "-c"],
  [
    "echo start >> starts",
    `[ -e /tmp/mark ] || { echo part > part.txt; echo here > /tmp/mark; ${first}; ${ask}; }`,
    `{ cat /tmp/mark; kill -0 "$(cat /tmp/process)" && echo alive; echo "$ANTIPHON_EPOCH"; cat; } > found.txt`,
    "echo hello > hello.txt",
  ].join("; "),
];
const command = (ask: string, first?: string) => ({ kind: "command" as const, argv: program(ask, first) });
const pack = (argv: readonly string[], over: object = {}): AgentSpec => ({
  ...{ kind: "pack" as const, name: "own", install: [], tools: [], path: [], prompt: "stdin" as const },
  ...{ env: {}, junk: [], argv: [...argv], ...over },
});

async function asked(agent: AgentSpec, over = {}): Promise<Sent> {
  const sent = await world.dispatch({ agent, ...over });
  const { result } = await world.reported(sent);
  expect(result).toMatchObject({ status: "needs_input", questions: [QUESTION] });
  return sent;
}
const answered = (sent: Sent, agent: AgentSpec, answers = [ANSWER], epoch = 2) =>
  world.dispatch({ agent, answers }, { runId: sent.runId, epoch });
const patchOf = async (sent: Sent) => world.text(await world.manifest(sent), "diff.patch");
const starts = (patch: string) => (patch.match(/^\+start$/gm) ?? []).length;

/** In a fresh container: the first program's mark is gone, so it works there by what it is told. */
const TOLD = `case "$ANTIPHON_TASK" in *'"answer":"hello"'*) echo hello > hello.txt; exit 0;; esac`;

describe("a program that ends with its question", () => {
  test.each<[string, string, AgentSpec]>([
    ["the file of its variable", "brief", command(`echo "${QUESTION}" > "$ANTIPHON_QUESTION_FILE"; exit 0`)],
    ["the reserved code and file", "brief", command(LEFT)],
    [
      "the code and file of its pack",
      "prompt",
      pack(program(`echo "${QUESTION}" > .own; exit 9`), { asks: { exit_code: 9, file: ".own" } }),
    ],
    [
      "the code of its pack and what it prints",
      "prompt",
      pack(program(`echo "${QUESTION}"; exit 9`), { asks: { exit_code: 9 } }),
    ],
  ])("is started again in its container with the answer (%s)", async (_, told, agent) => {
    const sent = await asked(agent);
    expect(await patchOf(sent)).not.toContain("question.json");
    const [container, ...others] = world.containers(sent.runId);
    expect([container === undefined, others]).toEqual([false, []]);
    const second = await answered(sent, agent);
    const { result } = await world.reported(second);
    expect(result).toMatchObject({
      status: "ok",
      files_changed: ["found.txt", "hello.txt", "part.txt", "starts"],
    });
    const patch = await patchOf(second);
    expect([starts(patch), patch.includes("+here\n+alive\n+2\n")]).toEqual([2, true]);
    if (told === "brief") expect(patch).toContain('"answers":[{"answer":"hello","question":"Which word?"}]');
    else expect(patch).toContain("+You asked: Which word?\n+The answer: hello\n");
    const { sandbox } = JSON.parse(
      await world.text(await world.manifest(second), "provenance/environment.json"),
    ) as { sandbox: { containerId: string } };
    expect(sandbox.containerId.slice(0, 12)).toBe(container);
    await eventually("the container is gone", () => world.containers(sent.runId).length === 0);
  });

  test.each([
    ["has ended", LEFT],
    ["waits", `antiphon-ask "${QUESTION}" > hello.txt`],
  ])("leaves what it has printed in the evidence of the attempt that asked, where it %s", async (_, ask) => {
    const argv = ["sh", "-c", `echo said; echo seen >&2; ${ask}`];
    const sent = await asked(pack(argv, { transcript: { format: "text" } }));
    const manifest = await world.manifest(sent);
    expect(await world.text(manifest, "work/1.stdout.txt")).toBe("said\n");
    expect(await world.text(manifest, "work/1.stderr.txt")).toBe("seen\n");
    expect(await world.text(manifest, "transcript.txt")).toBe("said\n");
    const { result } = await world.reported(sent);
    expect(result.commands_run).toMatchObject([{ exit_code: null }]);
  });

  test.each(["stdin", "argument"] as const)(
    "goes on with its conversation by the command of its pack, and is told the answer alone (%s)",
    async (prompt) => {
      const resume = [
        "sh",
        "-c",
        'echo "$0 $#" > hello.txt; cat /tmp/mark - > found.txt; echo "$*" > words',
        "on",
      ];
      const agent = pack(program(`echo "${QUESTION}" > "$ANTIPHON_QUESTION_FILE"; exit 0`), {
        resume,
        prompt,
      });
      const over = {
        task: { ...dispatchOf().task, verify_profile: { mode: "none" as const, commands: [] } },
      };
      const sent = await asked(agent, over);
      const second = await world.dispatch(
        { agent, answers: [ANSWER], ...over },
        { runId: sent.runId, epoch: 2 },
      );
      await world.reported(second);
      const patch = await patchOf(second);
      expect([starts(patch), patch.includes(prompt === "stdin" ? "+on 0" : "+on 1")]).toEqual([1, true]);
      expect(patch).toContain("+You asked: Which word?\n+The answer: hello\n+\n+Go on with the task.");
      expect(patch).not.toContain("It is done when");
    },
  );

  test("asks several questions in one container, each of a person", async () => {
    const again =
      'grep -c start starts | grep -q 2 && { echo "And now?" > "$ANTIPHON_QUESTION_FILE"; exit 0; }';
    const first = `[ "$(wc -l < starts)" = 1 ] && { ${LEFT}; }`;
    const agent = {
      ...{ kind: "command" as const },
      argv: ["sh", "-c", `echo start >> starts; ${first}; ${again}; echo hello > hello.txt`],
    };
    const sent = await asked(agent);
    const [container] = world.containers(sent.runId);
    const second = await answered(sent, agent);
    expect((await world.reported(second)).result.questions).toEqual(["And now?"]);
    expect(world.containers(sent.runId)).toEqual([container]);
    const answers = [ANSWER, { question: "And now?", answer: "go" }];
    const third = await answered(sent, agent, answers, 3);
    expect((await world.reported(third)).result.status).toBe("ok");
    expect(starts(await patchOf(third))).toBe(3);
  });
});

describe("a program that has ended with its question, and whose container", () => {
  const agent = {
    ...{ kind: "command" as const },
    argv: ["sh", "-c", `echo start >> starts; ${TOLD}; echo part > part.txt; ${LEFT}`],
  };
  const inFresh = async (sent: Sent): Promise<void> => {
    const second = await answered(sent, agent);
    const { result } = await world.reported(second);
    expect(result.status).toBe("ok");
    expect(result.files_changed.toSorted()).toEqual(["hello.txt", "part.txt", "starts"]);
    expect(starts(await patchOf(second))).toBe(2);
    await eventually("the containers are gone", () => world.containers(sent.runId).length === 0, 20_000);
  };

  test("is killed before the answer starts in a fresh one, on its files", async () => {
    const sent = await asked(agent);
    execFileSync("docker", ["rm", "--force", ...world.containers(sent.runId)]);
    await eventually("it is gone", () => world.containers(sent.runId).length === 0);
    await inFresh(sent);
  });

  test("is gone with its sandbox-runner starts in a fresh one, on its files", async () => {
    const sent = await asked(agent);
    for (const runner of world.runners.splice(0)) await runner.stop();
    await eventually("it is gone", () => world.containers(sent.runId).length === 0);
    await world.runner();
    await inFresh(sent);
  });

  test("lost its Associate starts in a fresh one, on its files", async () => {
    await world.stopAssociates();
    const first = await world.associate("as_asked");
    const sent = await asked(agent);
    await first.crash();
    await world.associate("as_one");
    await inFresh(sent);
  });

  test("is answered with the answer to another question starts in a fresh one", async () => {
    const sent = await asked(agent);
    const second = await answered(sent, agent, [{ question: "Another one?", answer: "hello" }]);
    expect((await world.reported(second)).result.status).toBe("ok");
    expect(starts(await patchOf(second))).toBe(2);
  });

  test("is removed when its run is canceled while it waits", async () => {
    const { runId } = await asked(agent);
    const body = { by: "test", reason: "enough" };
    await world.journal.append({ type: "cancel", runId, taskId: null, epoch: 0, cause: null, body });
    await eventually("the container is gone", () => world.containers(runId).length === 0, 10_000);
  });

  test("is not held for what cannot be read as a question: the program has failed", async () => {
    const bad = "mkdir -p .antiphon; echo '{\"question\":' > .antiphon/question.json; exit 78";
    const { runId, ...sent } = await world.dispatch({ agent: { kind: "command", argv: ["sh", "-c", bad] } });
    const { result, code } = await world.reported({ runId, ...sent });
    expect([result.status, code]).toEqual(["failed", "ANT_AGENT_FAILED"]);
    await eventually("the container is gone", () => world.containers(runId).length === 0);
  });

  test("is not held again for the question that was answered: a person is asked, and a fresh one starts", async () => {
    const deaf = { kind: "command" as const, argv: ["sh", "-c", `echo start >> starts; ${LEFT}`] };
    const sent = await asked(deaf);
    const second = await answered(sent, deaf);
    const { result } = await world.reported(second);
    expect(result).toMatchObject({ status: "needs_input", questions: [QUESTION] });
    expect(starts(await patchOf(second))).toBe(2);
    await eventually("the container is gone", () => world.containers(sent.runId).length === 0);
  });
});

test("a program that fails is not started again, and its exit code is kept", async () => {
  const sent = await world.dispatch({
    agent: { kind: "command", argv: ["sh", "-c", "echo start >> starts; exit 3"] },
  });
  const { result } = await world.reported(sent);
  expect(result.commands_run.map(({ exit_code }) => exit_code)).toEqual([3]);
  expect(starts(await patchOf(sent))).toBe(1);
});
