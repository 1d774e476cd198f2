/** The image of a run's sandboxes, and the abilities of the standard image. */
import { rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { makeBusyboxImage } from "../support/busybox-image.ts";
import { makeMinimalImage, type MinimalImage } from "../support/minimal-image.ts";
import { LANGUAGES } from "./support/languages.ts";
import { makeProject, type Project } from "./support/project.ts";
import { startStack, type Stack } from "./support/stack.ts";

interface Summary {
  runId: string;
  status: string;
  commit: string | null;
  code: string | null;
  tasks: { task: string; verdict: string; epoch?: number }[];
}

let stack: Stack;
let minimal: MinimalImage;
let busybox: MinimalImage;
let withGo: MinimalImage;
let withEnv: MinimalImage;
const projects: Project[] = [];

beforeAll(async () => {
  minimal = makeMinimalImage("e2e");
  busybox = await makeBusyboxImage("e2e-busybox");
  withGo = makeMinimalImage("e2e-go", [], { go: "#!/bin/sh\ngrep -q hello greeting.txt" });
  withEnv = makeMinimalImage("e2e-env", ["ENV GREETING=hello"]);
  stack = await startStack();
});
afterAll(async () => {
  for (const { ref } of [minimal, busybox, withGo, withEnv])
    await stack.antiphon(["images", "disallow", ref]);
  await stack.stop();
  for (const image of [minimal, busybox, withGo, withEnv]) image.remove();
});
afterEach(() => {
  for (const project of projects.splice(0)) project.remove();
});

function project(files: Record<string, string>): Project {
  const made = makeProject(files);
  projects.push(made);
  return made;
}

/** A project whose check detects its image: the minimal one has no bash. */
const GREETING = {
  "greeting.txt": "helo\n",
  "test.sh": "grep -q hello greeting.txt && test ! -e /bin/bash && echo in the minimal image\n",
};
const fixing = (repo: Project): string[] => [
  "run",
  "Fix the broken greeting",
  "--repo",
  repo.path,
  "--command",
  "sed -i s/helo/hello/ greeting.txt",
];

describe("the image of a run", () => {
  test.each([
    ["--image", (): string[] => ["--image", minimal.ref], () => GREETING],
    [
      "antiphon.yaml",
      (): string[] => [],
      () => ({ ...GREETING, "antiphon.yaml": `image: ${minimal.ref}\n` }),
    ],
  ])(
    "is refused at once if %s names one that is not allowed, with its name and a remedy",
    async (by, option, files) => {
      const { code, stdout, stderr } = await stack.antiphon([...fixing(project(files())), ...option()]);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toContain("ANT_SANDBOX_IMAGE_NOT_ALLOWED");
      expect(stderr).toContain(`${by}: the image ${minimal.ref} is not on`);
      expect(stderr).toContain("antiphon images allow");
    },
  );

  test("comes from antiphon.yaml or devcontainer.json, is allowed by digest, and needs only a shell", async () => {
    const allowed = await stack.json<{ images: { ref: string; id: string; sealed: boolean }[] }>([
      "images",
      "allow",
      minimal.ref,
    ]);
    expect(allowed.document.images.at(-1)).toMatchObject({ ref: minimal.ref, id: minimal.id, sealed: true });
    const yaml = project({ ...GREETING, "antiphon.yaml": `image: ${minimal.ref}\nchecks: sh ./test.sh\n` });
    const jsonc = `{\n  // the team's own\n  "image": "${minimal.ref}",\n}\n`;
    const devcontainer = project({ ...GREETING, ".devcontainer/devcontainer.json": jsonc });
    const runs = [yaml, devcontainer].map((repo) => stack.json<Summary>(fixing(repo)));
    for (const [i, { document }] of (await Promise.all(runs)).entries()) {
      expect(document).toMatchObject({ status: "succeeded", tasks: [{ verdict: "PASS" }] });
      expect([yaml, devcontainer][i]?.landed(document.runId)).toHaveLength(1);
    }
    const { stdout } = await stack.antiphon(["images", "list"]);
    expect(stdout).toMatch(/^IMAGE +ID +ALLOWED BY +SIZE +PROGRAMS\n(\S+ \()?default\)? /);
    expect(stdout).toContain(minimal.ref);
  });

  test("may be BusyBox alone: an attempt, its checks and its verdict work as in any other image", async () => {
    const allow = ["images", "allow", busybox.ref];
    const { document: allowed } = await stack.json<{ images: { ref: string; sealed: boolean }[] }>(allow);
    expect(allowed.images.at(-1)).toMatchObject({ ref: busybox.ref, sealed: true });
    const repo = project({ ...GREETING, "antiphon.yaml": `image: ${busybox.ref}\nchecks: sh ./test.sh\n` });
    const { document } = await stack.json<Summary>(fixing(repo));
    expect(document).toMatchObject({ status: "succeeded", tasks: [{ verdict: "PASS" }] });
    expect(repo.landed(document.runId)).toEqual([document.commit]);
  });

  test("is an allowed one with the program that go.mod asks for, or the run says how to make one", async () => {
    const files = {
      ...GREETING,
      "go.mod": "module greeting\n",
      "greeting_test.go": "package greeting\n",
      "antiphon.yaml": "checks: go test ./...\nsetup: []\n",
    };
    const without = await stack.antiphon(fixing(project(files)));
    expect(without.stdout + without.stderr).toContain("`antiphon images build --with go` makes one");
    expect(without.code).toBe(1);
    await stack.json(["images", "allow", withGo.ref]);
    const repo = project(files);
    const { document } = await stack.json<Summary>(fixing(repo));
    expect(document).toMatchObject({ status: "succeeded", tasks: [{ verdict: "PASS" }] });
    expect(repo.landed(document.runId)).toHaveLength(1);
  });

  test("decides which check is found: what needs a program that it lacks is passed over, and the run says so", async () => {
    await stack.json(["images", "allow", minimal.ref]);
    const repo = project({ ...GREETING, Makefile: "test:\n\tfalse\n", "test/a.bats": "" });
    const told = await stack.antiphon([...fixing(repo), "--image", minimal.ref]);
    expect(told.stdout + told.stderr).toContain(
      "it lacks make, bats, npm, so the check is `sh ./test.sh` and not `make test`, `bats test`",
    );
    expect(told.code).toBe(0);
    const report = await stack.json<{ checks: { command: string }[] }>([
      ...["check", "--repo", repo.path, "--image", minimal.ref],
    ]);
    expect(report.document.checks.map(({ command }) => command)).toEqual(["sh ./test.sh"]);
  });

  test("brings its variables (ENV) into the attempt and into the checks", async () => {
    const repo = project({
      "greeting.txt": "helo\n",
      "test.sh": 'test "$GREETING" = hello && grep -q "$GREETING" greeting.txt\n',
    });
    const { code } = await stack.antiphon(["images", "allow", withEnv.ref]);
    expect(code).toBe(0);
    const command = 'sed -i "s/helo/$GREETING/" greeting.txt';
    const run = ["run", "Fix the broken greeting", "--repo", repo.path, "--command", command];
    const { document } = await stack.json<Summary>([...run, "--image", withEnv.ref]);
    expect(document).toMatchObject({ status: "succeeded", tasks: [{ verdict: "PASS" }] });
  });

  test("can be one of its own for a task of a plan, whose checks run in it as well", async () => {
    const repo = project({ ...GREETING, "bash.sh": "test -e /bin/bash && grep -q b other.txt\n" });
    const plan = (image: string): string =>
      JSON.stringify({
        goal: "Fix both",
        tasks: [
          {
            id: 1,
            description: "Fix the greeting",
            image,
            agent: {
              kind: "scripted",
              commands: ["test ! -e /bin/bash && sed -i s/helo/hello/ greeting.txt"],
            },
            allowed_files: ["greeting.txt"],
            checks: ["sh ./test.sh"],
          },
          {
            id: 2,
            description: "Add the other file",
            agent: { kind: "scripted", commands: ["test -e /bin/bash && echo b > other.txt"] },
            allowed_files: ["other.txt"],
            checks: ["sh ./bash.sh"],
          },
        ],
      });
    const file = join(repo.path, "..", `${basename(repo.path)}-plan.json`);
    const run = ["run", "--plan", file, "--repo", repo.path, "--attempts", "1"];
    try {
      writeFileSync(file, plan("team/unknown:1"));
      const refused = await stack.antiphon(run);
      expect(refused.stderr).toContain("/inputs/tasks/0/image: the image team/unknown:1 is not on");
      expect(refused.stderr).toContain("ANT_SANDBOX_IMAGE_NOT_ALLOWED");
      writeFileSync(file, plan(minimal.ref));
      const { document } = await stack.json<Summary>(run);
      expect(document).toMatchObject({
        status: "succeeded",
        tasks: [{ verdict: "PASS", image: minimal.ref }, { verdict: "PASS" }],
      });
      expect(document.tasks[1]).not.toHaveProperty("image");
      const shown = await stack.antiphon(["get", document.runId]);
      expect(shown.stdout).toContain(`[in ${minimal.ref}]`);
    } finally {
      rmSync(file, { force: true });
    }
  });

  test("of a task decides which check is found for that task", async () => {
    await stack.json(["images", "allow", minimal.ref]);
    const repo = project({ ...GREETING, Makefile: "test:\n\tgrep -q b other.txt\n" });
    const agent = (command: string) => ({ kind: "scripted", commands: [command] });
    const tasks = [
      {
        ...{ id: 1, description: "Fix the greeting", image: minimal.ref, allowed_files: ["greeting.txt"] },
        agent: agent("sed -i s/helo/hello/ greeting.txt"),
      },
      {
        ...{ id: 2, description: "Add the other file", allowed_files: ["other.txt"] },
        agent: agent("echo b > other.txt"),
      },
    ];
    const file = join(repo.path, "..", `${basename(repo.path)}-plan.json`);
    try {
      writeFileSync(file, JSON.stringify({ goal: "Fix both", tasks }));
      const run = ["run", "--plan", file, "--repo", repo.path, "--attempts", "1", "--allow-unproven"];
      const { document } = await stack.json<Summary>(run);
      const { body } = await stack.http("GET", `/runs/${document.runId}/events`, undefined, {
        accept: "application/json",
      });
      const records = body["records"] as { type: string; body: { checks?: { command: string }[] } }[];
      const judged = records
        .filter(({ type }) => type === "verdict")
        .map((one) => one.body.checks?.[0]?.command);
      expect(judged.slice(0, 2).toSorted()).toEqual(["make test", "sh ./test.sh"]);
    } finally {
      rmSync(file, { force: true });
    }
  });

  test("is replaced by the standard one if devcontainer.json builds it, and the run reports that", async () => {
    const files = {
      "a.txt": "a\n",
      ".devcontainer/devcontainer.json": '{"build": {"dockerfile": "Dockerfile"}}',
    };
    const repo = project(files);
    const args = [
      "run",
      "Change it",
      "--repo",
      repo.path,
      "--command",
      "echo b > a.txt",
      "--check",
      'test "$(cat *.txt)" = b',
    ];
    const told = await stack.antiphon(args);
    expect(told.stdout + told.stderr).toContain("uses the standard image: .devcontainer/devcontainer.json");
    expect(told.code).toBe(0);
    const { document } = await stack.json<Summary>([...args, "--image", "default"]);
    expect(document.status).toBe("succeeded");
  });

  test("is not looked up if antiphon.yaml is invalid", async () => {
    const repo = project({ "a.txt": "a\n", "antiphon.yaml": "imagee: x\n" });
    const { code, stderr } = await stack.antiphon(fixing(repo));
    expect(stderr).toContain("antiphon.yaml:1: /imagee");
    expect(code).toBe(2);
  });
});

describe("the standard image", () => {
  test("runs the tests of projects in JavaScript, Python, Perl, shell and C, and lands a fix in each", async () => {
    const runs = LANGUAGES.map(async ({ language, files, fix }) => {
      const repo = project({ ...files });
      const args = ["run", `Fix the failing test (${language})`, "--repo", repo.path, "--command", fix];
      const { document } = await stack.json<Summary>(args);
      expect(document, language).toMatchObject({ status: "succeeded", tasks: [{ verdict: "PASS" }] });
      expect(repo.landed(document.runId), language).toEqual([document.commit]);
      const bundle = ["evidence", "get", document.runId, "T-001", "1"];
      const { stdout } = await stack.antiphon([...bundle, "--verdict", "--json"]);
      expect(stdout, language).toContain('"verdict"');
      return language;
    });
    expect(await Promise.all(runs)).toHaveLength(4);
  });
});
