/**
 * The commands of a session that run programs: its tests and its build, each in a fresh sandbox with the session's tree,
 * uncommitted changes included, and without a network. Nothing runs on this machine, and nothing of the sandbox comes back
 * but the output and the exit codes.
 *
 * The commit that the session started from decides which tests are run, so a session cannot pass by naming others; if it
 * names none, the session's own tree does. This is no verdict: it says that the tests pass, not what they prove.
 */
import { AntiphonError, DEFAULT_HISTORY, type BlobRef, type CheckOutcome } from "@antiphon/contracts";
import type { SessionWorkspace } from "@antiphon/contracts";
import { requiredHistory } from "../verification/history.ts";
import { ONCE } from "../verification/trials.ts";
import type { CleanRoomPort, RoomOutcome } from "../ports.ts";
import { buildCommand } from "./build-command.ts";
import { workspaceOf } from "./branch-deeds.ts";
import type { Deed, DeedOf, DeedResult, MadeArtifact } from "./deed.ts";
import type { SessionRepository } from "./session-repository.ts";
import { filteredTest } from "./test-filter.ts";

export interface SandboxDeedParts {
  readonly repository: SessionRepository;
  readonly room: CleanRoomPort;
  readonly files: { get(blob: BlobRef): Promise<Buffer> };
}

type Setting = Pick<DeedOf<"RunTests">, "repo" | "room" | "deedId">;

export function runTests(parts: SandboxDeedParts): Deed<"RunTests"> {
  return async (deed, signal) => {
    const { repository } = parts;
    const workspace = await workspaceOf(repository, deed);
    const { filter } = deed.payload;
    const checks = await testsOf(repository, deed, workspace);
    if (checks.length === 0)
      return {
        ...{ workspace, code: "ANT_VERIFY_NO_CHECK" },
        message: "no test of the repository was found",
      };
    const packageJson = await textOf(repository, deed, workspace, "package.json");
    const commands = checks.map((check) =>
      filter === undefined ? check : withFilter(check, filter, packageJson),
    );
    const { checks: outcomes, reports } = await carryOut(parts, deed, workspace, commands, signal);
    const artifacts = [await output(parts, outcomes, "TestResults", "tests.txt")];
    const failed = outcomes.find(({ exitCode }) => exitCode !== 0);
    if (failed !== undefined)
      return {
        ...{ workspace: { ...workspace, tested: null }, artifacts },
        ...{ code: "ANT_VERIFY_CHECK_FAILED", message: failureOf(failed) },
      };
    if (filter !== undefined && testsIn(reports) === 0)
      return {
        ...{ workspace, artifacts, code: "ANT_SESSION_FILTER" },
        message: `no runner reports a test that matches ${filter}`,
      };
    if (filter !== undefined) return { workspace, artifacts, message: `passed: ${commands.join("; ")}` };
    const tested = await repository.treeOf(deed.repo, workspace.work ?? workspace.head);
    return { workspace: { ...workspace, tested }, artifacts, message: `passed: ${commands.join("; ")}` };
  };
}

export function buildProject(parts: SandboxDeedParts): Deed<"BuildProject"> {
  return async (deed, signal) => {
    const workspace = await workspaceOf(parts.repository, deed);
    const { projectPath, configuration, targetFramework, targets } = deed.payload;
    const order = {
      projectPath,
      ...(configuration === undefined ? {} : { configuration }),
      ...(targetFramework === undefined ? {} : { targetFramework }),
      ...(targets === undefined ? {} : { targets }),
    };
    const names = await parts.repository.names(deed.repo, workspace.work ?? workspace.head);
    const command = buildCommand(order, names);
    const { checks } = await carryOut(parts, deed, workspace, [command], signal);
    const artifacts = [await output(parts, checks, "Log", "build.txt")];
    const failed = checks.find(({ exitCode }) => exitCode !== 0);
    if (failed === undefined) return { workspace, artifacts, message: `built: ${command}` };
    return { workspace, artifacts, code: "ANT_VERIFY_CHECK_FAILED", message: failureOf(failed) };
  };
}

async function testsOf(
  repository: SessionRepository,
  { repo, room }: Setting,
  { base, head, work }: SessionWorkspace,
): Promise<string[]> {
  const known = await repository.discoverChecks(repo, base, room?.lacks);
  return known.length > 0 ? known : repository.discoverChecks(repo, work ?? head, room?.lacks);
}

async function textOf(
  repository: SessionRepository,
  { repo }: Setting,
  { head, work }: SessionWorkspace,
  path: string,
): Promise<string | null> {
  return (await repository.texts(repo, work ?? head, [path])).get(path) ?? null;
}

function withFilter(check: string, filter: string, packageJson: string | null): string {
  const command = filter === "" ? null : filteredTest(check, filter, packageJson);
  if (command !== null) return command;
  throw new AntiphonError("ANT_SESSION_FILTER", `the filter cannot be passed to ${JSON.stringify(check)}`);
}

async function carryOut(
  { repository, room }: SandboxDeedParts,
  { repo, deedId, room: asked }: Setting,
  { base, head, work }: SessionWorkspace,
  commands: readonly string[],
  signal: AbortSignal,
): Promise<{ checks: readonly CheckOutcome[]; reports: RoomOutcome["reports"] }> {
  if (asked === undefined) throw new AntiphonError("ANT_CONTRACT_INVALID", "the command names no room");
  const commit = work ?? head;
  const tree = await repository.exportTree(repo, commit);
  const at = { repo, ref: "HEAD", commit };
  const history = asked.git === true ? await requiredHistory(at, commit, DEFAULT_HISTORY, repository) : null;
  const { trials, reports } = await room.check(
    {
      ...{ run: deedId, task: "session", epoch: 1, purpose: "verify", trials: ONCE },
      ...{ tree, history, candidate: null, checks: commands, image: asked.image, budgetMs: asked.budgetMs },
      setup: { repo, base, lacks: asked.lacks },
      again: true,
      ...(asked.services === undefined ? {} : { room: { services: asked.services } }),
    },
    signal,
  );
  return { checks: trials[0] ?? [], reports };
}

/** Tests that ran, without files that a runner counts as one test each. */
function testsIn(reports: RoomOutcome["reports"]): number {
  const all = (reports ?? []).map(
    ({ runners, bareFiles }) => [...runners.values()].reduce((sum, { ran }) => sum + ran, 0) - bareFiles.size,
  );
  return all.reduce((sum, ran) => sum + Math.max(0, ran), 0);
}

function failureOf({ command, exitCode, timedOut }: CheckOutcome): string {
  if (timedOut) return `${command} took too long`;
  return exitCode === null ? `${command} did not end by itself` : `${command} ended with ${exitCode}`;
}

/** The whole output, one section for each command. */
async function output(
  { files }: SandboxDeedParts,
  outcomes: readonly CheckOutcome[],
  kind: MadeArtifact["kind"],
  pathHint: string,
): Promise<NonNullable<DeedResult["artifacts"]>[number]> {
  const sections = await Promise.all(
    outcomes.map(async ({ command, exitCode, stdout, stderr, tail }) => {
      const stored = [stdout, stderr].filter((blob) => blob !== null);
      const texts =
        stored.length === 0 ? [Buffer.from(tail)] : await Promise.all(stored.map((one) => files.get(one)));
      return [Buffer.from(`$ ${command}\n`), ...texts, Buffer.from(`\n[exit ${exitCode ?? "none"}]\n`)];
    }),
  );
  return { kind, pathHint, bytes: Buffer.concat(sections.flat()) };
}
