import { PATH_FAULTS } from "@antiphon/git/trees/path-fault";

/** The named rules by which content that comes out of, or goes into, a sandbox is refused. */
export const REFUSAL_RULES = {
  "tar-header": "a header that is not a tar header, or whose checksum is wrong",
  "tar-number": "a number that is not plain octal",
  "tar-truncated": "the archive ends in the middle of an entry",
  "tar-extension": "an extension header that is too long, unreadable, or global with meaning",
  "type-symlink": "a symbolic link that was not in the workspace before; a change may add only regular files",
  "type-symlink-moved": "a symbolic link that points elsewhere than before; links are left as they are",
  "type-hardlink": "a hard link",
  "type-device": "a device node",
  "type-fifo": "a named pipe",
  "type-sparse": "a sparse file entry",
  "type-unknown": "an entry type that is neither file nor directory",
  ...PATH_FAULTS,
  "path-conflict": "a file below something that is not a directory",
  "path-duplicate": "the same path twice",
  "ignore-work": "ignore rules that take too long to decide",
  "too-many-entries": "more entries than the bound",
  "too-many-files": "more changed files than the bound",
  "too-many-bytes": "more bytes than the bound",
} as const;

export type RefusalRule = keyof typeof REFUSAL_RULES;

export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly rule: RefusalRule;

  constructor(rule: RefusalRule, subject: string) {
    super(`${rule}: ${REFUSAL_RULES[rule]} (${JSON.stringify(subject.slice(0, 200))})`);
    this.rule = rule;
  }
}
