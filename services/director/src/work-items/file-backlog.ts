/**
 * The backlog of a repository as a file beside the Director, for deployments without an issue tracker and without an
 * account. People may edit the file; its shape is Backlog.v1.
 *
 * A change is read, made and written under a lock that the kernel holds, and replaces the file by a rename, so a reader finds
 * the old or the new backlog, and a process that is killed leaves one of the two.
 */
import { createHash } from "node:crypto";
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { AntiphonError, limits, validate } from "@antiphon/contracts";
import type { Backlog, BacklogItem, RepoRef, WorkItemDetails } from "@antiphon/contracts";
import { backlogFilter, selects } from "./backlog-filter.ts";
import { withFileLock } from "./file-lock.ts";
import type { WorkItems } from "./work-items.ts";

export class FileBacklog implements WorkItems {
  readonly name = "file";
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The file of a repository: its name, and what tells it from others of that name. */
  pathOf({ path }: RepoRef): string {
    const name = basename(path)
      .replace(/\.git$/, "")
      .replace(/[^A-Za-z0-9._-]/g, "_")
      .slice(0, 80);
    const digest = createHash("sha256").update(path).digest("hex").slice(0, 8);
    return join(this.#directory, `${name}-${digest}.json`);
  }

  async query(repo: RepoRef, filter: string): Promise<WorkItemDetails[]> {
    const { items } = await readBacklog(this.pathOf(repo));
    const wanted = backlogFilter(filter);
    return items.map(detailsOf).filter((item) => selects(wanted, item));
  }

  async item(repo: RepoRef, id: string): Promise<WorkItemDetails> {
    const path = this.pathOf(repo);
    return detailsOf(itemOf(await readBacklog(path), id, path));
  }

  transition(repo: RepoRef, id: string, state: string): Promise<void> {
    return this.#change(repo, id, (item) => ({ ...item, status: state }));
  }

  assign(repo: RepoRef, id: string, assignee: string): Promise<void> {
    return this.#change(repo, id, (item) => ({ ...item, assignee }));
  }

  comment(repo: RepoRef, id: string, { body, key }: { body: string; key: string }): Promise<void> {
    const at = new Date().toISOString();
    return this.#change(repo, id, (item) => {
      const { comments = [] } = item;
      if (comments.some((one) => one.key === key)) return item;
      return { ...item, comments: [...comments, { at, body, key }] };
    });
  }

  async #change(repo: RepoRef, id: string, edit: (item: BacklogItem) => BacklogItem): Promise<void> {
    const path = this.pathOf(repo);
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await withFileLock(`${path}.lock`, async () => {
      const backlog = await readBacklog(path);
      const old = itemOf(backlog, id, path);
      const items = backlog.items.map((item) => (item === old ? edit(old) : item));
      await replace(path, { ...backlog, items });
    });
  }
}

function itemOf({ items }: Backlog, id: string, path: string): BacklogItem {
  const item = items.find((one) => one.id === id);
  if (item !== undefined) return item;
  throw new AntiphonError(
    "ANT_WORK_ITEM_NOT_FOUND",
    `${path} has no item ${JSON.stringify(id.slice(0, 80))}`,
  );
}

function detailsOf({
  id,
  title,
  description = "",
  status,
  assignee,
  tags = [],
}: BacklogItem): WorkItemDetails {
  const held = assignee === undefined ? {} : { assignee };
  return { id, title, description, status, ...held, tags };
}

/** A file that does not exist is an empty backlog. @throws AntiphonError ANT_WORK_ITEMS_UNREADABLE */
async function readBacklog(path: string): Promise<Backlog> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { v: 1, items: [] };
    throw error;
  }
  if (text.length > limits.backlogBytes)
    throw new AntiphonError(
      "ANT_WORK_ITEMS_UNREADABLE",
      `${path} is larger than ${limits.backlogBytes} bytes`,
    );
  const outcome = validate("Backlog", parsed(text, path));
  if (!outcome.ok) {
    const [first] = outcome.errors;
    throw new AntiphonError(
      "ANT_WORK_ITEMS_UNREADABLE",
      `${path}: ${first?.path ?? ""} ${first?.message ?? ""}`,
    );
  }
  return outcome.value;
}

function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AntiphonError("ANT_WORK_ITEMS_UNREADABLE", `${path} is not JSON`, { cause: error });
  }
}

/** The caller holds the lock, so the name of the new file is free; one of a killed process is overwritten. */
async function replace(path: string, backlog: Backlog): Promise<void> {
  const text = `${JSON.stringify(backlog, null, 2)}\n`;
  if (text.length > limits.backlogBytes)
    throw new AntiphonError("ANT_CONTRACT_LIMIT", `the backlog may have ${limits.backlogBytes} bytes`);
  const next = `${path}.new`;
  const file = await open(next, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(next, path);
  const directory = await open(dirname(path), "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
