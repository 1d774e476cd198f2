/** Reads back Antiphon's data: the whole journal, the evidence with its files, and the trees that the diffs give. */
import {
  BUCKETS,
  digestOfJson,
  parseJournalSubject,
  topology,
  type BlobRef,
  type EvidenceManifest,
  type StoredRecord,
} from "@antiphon/contracts";
import { openBlobs, openJournal, openKv, type Bus } from "@antiphon/runtime";
import type {
  GitCommit,
  GitRef,
  History,
  PatchedTree,
  StoredBlob,
  StoredManifest,
} from "../checker/history.ts";
import { namedEvidence, registerOf } from "../checker/named-evidence.ts";
import { gitFacts, patchedTree } from "./git-witness.ts";

const READS_AT_ONCE = 16;

export async function readJournal(bus: Bus): Promise<{ records: StoredRecord[] }> {
  const ids = new Set<string>();
  for (const { name } of topology.streams.filter((stream) => stream.name.startsWith("ANT_JOURNAL_"))) {
    const info = await bus.jsm.streams.info(name, { subjects_filter: "antiphon.v1.run.>" });
    for (const subject of Object.keys(info.state.subjects ?? {})) {
      const address = parseJournalSubject(subject);
      if (address !== null) ids.add(address.runId);
    }
  }
  const journal = openJournal(bus);
  const runs = await inTurn([...ids], (runId) => journal.read(runId));
  return { records: runs.flat() };
}

export function readGit(repos: readonly { path: string; base: string }[]): {
  refs: GitRef[];
  commits: GitCommit[];
} {
  const facts = repos.map(({ path, base }) => gitFacts(path, base));
  return { refs: facts.flatMap(({ refs }) => refs), commits: facts.flatMap(({ commits }) => commits) };
}

/** The evidence of all done tasks, and the trees that its diffs give. */
export async function readEvidence(
  bus: Bus,
  records: readonly StoredRecord[],
  commits: readonly GitCommit[],
): Promise<Pick<History, "manifests" | "blobs" | "patched">> {
  const kv = openKv(bus, BUCKETS.evidence);
  const { keys, patches } = namedEvidence(records);
  const manifests = (await inTurn([...keys], async (key) => manifestAt(kv, key))).filter(
    (one) => one !== null,
  );
  const wanted = new Map<string, BlobRef>();
  for (const ref of [
    ...patches.values(),
    ...manifests.flatMap(({ files }) => files.map(({ blob }) => blob)),
  ]) {
    wanted.set(`${ref.bucket}/${ref.name}`, ref);
  }
  const store = openBlobs(bus, BUCKETS.evidenceFiles);
  const bytes = new Map<string, Buffer>();
  const blobs = await inTurn([...wanted.values()], async (ref): Promise<StoredBlob | null> => {
    const read = await store.get(ref.name).catch(() => null); // A lost or changed file is missing in the history.
    if (read === null) return null;
    bytes.set(ref.digest, read);
    return { bucket: ref.bucket, name: ref.name, digest: ref.digest, bytes: read.length };
  });
  const patched = commitsPatched(records, commits, patches, bytes);
  return { manifests, blobs: blobs.filter((one) => one !== null), patched };
}

function commitsPatched(
  records: readonly StoredRecord[],
  commits: readonly GitCommit[],
  patches: ReadonlyMap<string, BlobRef>,
  bytes: ReadonlyMap<string, Buffer>,
): PatchedTree[] {
  return records.flatMap((record) => {
    if (record.type !== "verdict" || record.body.verdict !== "PASS" || record.body.commit === null) return [];
    const commit = commits.find(({ id }) => id === record.body.commit);
    const patch = patches.get(registerOf(record));
    const content = patch === undefined ? undefined : bytes.get(patch.digest);
    if (commit === undefined || patch === undefined || content === undefined) return [];
    return [patchedTree(commit.repo, record.body.head, content, patch.digest)];
  });
}

async function manifestAt(kv: ReturnType<typeof openKv>, key: string): Promise<StoredManifest | null> {
  const entry = await kv.get<EvidenceManifest>(key);
  if (entry === null) return null;
  return { key, digest: digestOfJson(entry.value), files: entry.value.files };
}

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += READS_AT_ONCE) {
    results.push(...(await Promise.all(items.slice(from, from + READS_AT_ONCE).map(work))));
  }
  return results;
}
