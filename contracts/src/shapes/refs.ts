/** References to stored things: an object in a bucket, an evidence manifest, a base tree. */
import { Type, type Static } from "typebox";
import { CommitId, Digest } from "./ids.ts";
import { closed } from "./shape.ts";

export const BlobRef = closed(
  {
    bucket: Type.String({ minLength: 1, maxLength: 64, description: "The object store bucket." }),
    name: Type.String({ minLength: 1, maxLength: 256, description: "The object's name in the bucket." }),
    digest: Digest,
    bytes: Type.Integer({ minimum: 0, description: "Size in bytes." }),
  },
  { description: "The location of stored bytes, with the digest to check them." },
);
export type BlobRef = Static<typeof BlobRef>;

export const EvidenceRef = closed(
  {
    key: Type.String({ minLength: 1, maxLength: 256, description: "Key in KV `ANT_EVIDENCE`." }),
    digest: Digest,
  },
  { description: "An evidence manifest: its key, and the digest of its canonical JSON." },
);
export type EvidenceRef = Static<typeof EvidenceRef>;

export const RepoRef = closed(
  {
    name: Type.String({ minLength: 1, description: "Its name for people." }),
    path: Type.String({
      minLength: 1,
      description: "Its path on the Director's machine, or the URL of a remote repository.",
    }),
  },
  { description: "A git repository (Contracts v1.3)." },
);
export type RepoRef = Static<typeof RepoRef>;

export const RepoBase = closed(
  {
    repo: RepoRef,
    ref: Type.String({
      minLength: 1,
      description: "The ref as resolved: `refs/heads/main`, or `HEAD` when detached.",
    }),
    commit: CommitId,
  },
  { description: "The commit a run starts from." },
);
export type RepoBase = Static<typeof RepoBase>;

export const TreeRef = closed(
  {
    commit: CommitId,
    tree: CommitId,
    object: Type.String({
      minLength: 1,
      maxLength: 256,
      description: "Name in object store `ANT_REPOS`: `tree-<sha>.tar`.",
    }),
    bytes: Type.Integer({ minimum: 0 }),
    files: Type.Integer({ minimum: 0 }),
    linked: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          "Name in object store `ANT_REPOS` of a tar that is laid over the tree: files of submodules, and the content of files in Git LFS.",
      }),
    ),
  },
  { description: "A base tree as a canonical, uncompressed tar." },
);
export type TreeRef = Static<typeof TreeRef>;

export const HistoryRef = closed(
  {
    object: Type.String({
      minLength: 1,
      maxLength: 256,
      description: "Name in object store `ANT_REPOS`.",
    }),
    commits: Type.Integer({ minimum: 1 }),
    cut: Type.Boolean({ description: "It has fewer commits than asked for, because more would not fit." }),
    bytes: Type.Integer({ minimum: 0 }),
  },
  { description: "A commit and its recent history as the tar of a `.git` directory." },
);
export type HistoryRef = Static<typeof HistoryRef>;
