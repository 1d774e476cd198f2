/**
 * The files that a task was told to leave as evidence (`return.artifacts`). A task that must not change files may write
 * these; they are no part of its change. Pure.
 *
 * Git may ignore such a file, and then it is not among the collected ones, so the sandbox also prints each.
 */
import type { DirectorTask, SandboxOutcome, SandboxStep } from "@antiphon/contracts";
import type { Change } from "../ports.ts";
import type { BundleFile } from "./bundle.ts";

export interface SetAside {
  readonly artifacts: readonly Artifact[];
  /** The change without them. */
  readonly change: Change;
}

export interface Artifact {
  readonly path: string;
  readonly file: BundleFile;
}

/** A file of the tree is from 2000, so one that is older than the image's shell was not written by the agent. */
const SCRIPT = '[ -f "$1" ] && [ "$1" -nt /bin/sh ] && cat -- "$1"';

export function artifactSteps(
  task: DirectorTask,
  env: Readonly<Record<string, string>>,
  timeoutMs: number,
): SandboxStep[] {
  return wantedOf(task).map((path, i) => {
    const argv = ["sh", "-c", SCRIPT, "sh", path];
    return { id: stepOf(i), argv, env: { ...env }, timeoutMs, continueOnFailure: true, quiet: true };
  });
}

export function setAside(task: DirectorTask, change: Change, outcome: SandboxOutcome | null): SetAside {
  const wanted = wantedOf(task);
  if (wanted.length === 0) return { artifacts: [], change };
  const artifacts = wanted.flatMap((path, i) => {
    const file = change.files.find((one) => one.path === path);
    if (file !== undefined) return [{ path, file: inBundle(path, file.content) }];
    const step = outcome?.steps.find(({ id }) => id === stepOf(i));
    if (step?.exitCode !== 0) return [];
    const { blob, tail } = step.stdout;
    return [{ path, file: blob === null ? inBundle(path, tail) : { path: artifactPath(path), blob } }];
  });
  return {
    artifacts,
    change: { ...change, files: change.files.filter(({ path }) => !wanted.includes(path)) },
  };
}

function wantedOf({ kind, return: { artifacts } }: DirectorTask): readonly string[] {
  return kind === "edit_repo" ? [] : artifacts;
}

/** Where the bundle keeps an artifact. */
export function artifactPath(path: string): string {
  return `artifacts/${path}`;
}

const stepOf = (index: number): string => `artifact-${index + 1}`;

function inBundle(path: string, content: Buffer | string): BundleFile {
  return { path: artifactPath(path), text: typeof content === "string" ? content : content.toString("utf8") };
}
