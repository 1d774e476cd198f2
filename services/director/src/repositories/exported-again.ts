/**
 * Exports again what a dispatch names, for an Associate that found an object gone: it waited longer than the object was kept,
 * somebody deleted it, or an old attempt is replayed. The objects are the same, because they are named after their content.
 */
import {
  AntiphonError,
  DEFAULT_HISTORY,
  type DispatchBody,
  type RepoExportRequest,
  type RunOptions,
  type StoredRecord,
} from "@antiphon/contracts";
import type { Journal } from "@antiphon/runtime";
import { GATE_HISTORY, GIT_TASK_HISTORY } from "../effects/histories.ts";
import type { RepositoryPort } from "../ports.ts";
import { namedObjects } from "./named-objects.ts";

type Source = Pick<RepositoryPort, "exportBase" | "exportNamed" | "exportHistory">;

/** The names of the objects, which are in the store. */
export async function exportedAgain(
  { runId, taskId, epoch }: RepoExportRequest,
  journal: Pick<Journal, "find" | "read">,
  repository: Source,
): Promise<string[]> {
  const dispatched = await journal.find("dispatch", runId, taskId, epoch);
  const intent = (await journal.read(runId)).find(isIntent);
  if (dispatched?.type !== "dispatch" || intent === undefined)
    throw new AntiphonError("ANT_RUN_NOT_FOUND", `no attempt ${epoch} of ${taskId} in ${runId}`);
  const { base, options } = intent.body;
  const { body } = dispatched;
  const { linked } = await repository.exportBase(base.repo, body.base.commit);
  const stored = await repository.exportNamed(base.repo, body.base.commit, body.base.object);
  const source = body.environment?.source.tree;
  const behind =
    source === undefined || source === body.base.object
      ? []
      : await repository.exportNamed(base.repo, base.commit, source);
  const history =
    body.history == null
      ? null
      : await repository.exportHistory(base, body.base.commit, commitsOf(options, body));
  const names = namedObjects(body);
  const made = new Set([linked, history?.object, ...stored, ...behind]);
  const missing = names.find((name) => !made.has(name));
  if (missing !== undefined)
    throw new AntiphonError("ANT_BLOB_MISSING", `${missing} cannot be made again from the repository`);
  return names;
}

/** The commits of history that the dispatch asked for. */
function commitsOf({ history }: RunOptions, { task, gate }: DispatchBody): number {
  if (task.kind === "git") return GIT_TASK_HISTORY;
  return gate === undefined ? (history ?? DEFAULT_HISTORY) : GATE_HISTORY;
}

const isIntent = (record: StoredRecord): record is Extract<StoredRecord, { type: "intent" }> =>
  record.type === "intent";
