/** The file backlog under processes that write to it at the same time and are killed. */
import { fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { validate, type Backlog } from "@antiphon/contracts";
import { FileBacklog } from "../../../services/director/src/work-items/file-backlog.ts";
import { cleanUpRepos, tempDir } from "../../support/repo.ts";
import { builtProgram } from "../../support/built-program.ts";

const PROGRAM = await builtProgram(new URL("../../support/backlog-writer.ts", import.meta.url));
const repo = { name: "app", path: "/srv/app" };
afterAll(cleanUpRepos);

function backlogIn(directory: string): { file: string; backlog: FileBacklog } {
  mkdirSync(directory, { recursive: true });
  const backlog = new FileBacklog(directory);
  const file = backlog.pathOf(repo);
  writeFileSync(file, JSON.stringify({ v: 1, items: [{ id: "1", title: "One", status: "open" }] }));
  return { file, backlog };
}

function read(file: string): Backlog {
  const outcome = validate("Backlog", JSON.parse(readFileSync(file, "utf8")));
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.errors));
  return outcome.value;
}

it("loses no acknowledged change of processes that write at the same time and are killed in the middle", async () => {
  const directory = tempDir();
  const { file, backlog } = backlogIn(directory);
  const acknowledged = new Map<string, number>();
  const writers = ["a", "b", "c"].map((name): [string, ChildProcess] => {
    const child = fork(PROGRAM, [directory, repo.path, name], { execArgv: [] });
    child.on("message", (i: number) => acknowledged.set(name, i));
    return [name, child];
  });
  for (const [name, child] of writers) {
    while ((acknowledged.get(name) ?? 0) < 3) await once(child, "message");
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    read(file);
  }
  await backlog.assign(repo, "1", "ada"); // The lock of the killed ones is gone.
  const [item] = read(file).items;
  const keys = (item?.comments ?? []).map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
  for (const [name, last] of acknowledged)
    expect(keys.filter((key) => key?.startsWith(`${name}/`)).slice(0, last + 1)).toEqual(
      Array.from({ length: last + 1 }, (_, i) => `${name}/${i}`),
    );
});

it("waits for a living holder of the lock, and does not take it from it", async () => {
  const { file, backlog } = backlogIn(tempDir());
  const lock = `${file}.lock`;
  writeFileSync(lock, "");
  const holder = spawn("flock", [lock, "cat"], { stdio: ["pipe", "pipe", "inherit"] });
  holder.stdin.write("held\n");
  await once(holder.stdout, "data");
  let isDone = false;
  const change = backlog.transition(repo, "1", "done").then(() => (isDone = true));
  expect((await backlog.item(repo, "1")).status).toBe("open"); // Readers do not wait.
  holder.stdin.write("still\n");
  await once(holder.stdout, "data");
  expect(isDone).toBe(false);
  holder.stdin.end();
  await change;
  expect((await backlog.item(repo, "1")).status).toBe("done");
});

it("makes a comment once for each command", async () => {
  const { file, backlog } = backlogIn(tempDir());
  for (const body of ["first", "first", "second"])
    await backlog.comment(repo, "1", { body, key: `s/${body}` });
  expect(read(file).items[0]?.comments?.map(({ body }) => body)).toEqual(["first", "second"]);
});
