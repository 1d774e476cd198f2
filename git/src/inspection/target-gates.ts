/**
 * The skills that the branch a run lands on demands in its `antiphon.yaml`. The commit a run starts from is its requester's choice, and
 * an older one may demand none. One git process, and another one if there is an `antiphon.yaml`.
 */
import { AntiphonError, type GateSkill } from "@antiphon/contracts";
import type { ResolvedRef } from "../repository/repo.ts";
import type { Scratch } from "../repository/scratch.ts";
import { noFile, OWN_FILES, projectFileOf } from "./project-file.ts";

/** @throws AntiphonError ANT_REPO_CONFIG_INVALID, ANT_REPO_INCOMPLETE: what the branch demands is not known then */
export async function targetGates(scratch: Scratch, { ref, tree }: ResolvedRef): Promise<GateSkill[]> {
  const listed = await scratch.run({ args: ["ls-tree", "-z", "--full-tree", tree, "--", ...OWN_FILES] });
  if (listed.exitCode !== 0) throw missing(ref, listed.stderr);
  const entries = new Map(listed.stdout.toString("utf8").split("\0").map(entryOf));
  for (const path of OWN_FILES) {
    const entry = entries.get(path);
    if (entry === undefined) continue;
    const { type, id } = entry;
    if (type !== "blob") throw noFile(path, `${path} of ${ref}`);
    const read = await scratch.run({ args: ["cat-file", "blob", id] });
    if (read.exitCode !== 0) throw missing(ref, read.stderr);
    return projectFileOf(read.stdout.toString("utf8"), path, `${path} of ${ref}`).gates ?? [];
  }
  return [];
}

/** `100644 blob <id>\t<path>` */
function entryOf(line: string): [path: string, entry: { type: string; id: string }] {
  const [facts = "", path = ""] = line.split("\t");
  const [, type = "", id = ""] = facts.split(" ");
  return [path, { type, id }];
}

function missing(ref: string, stderr: string): AntiphonError {
  const detail = `antiphon.yaml of ${ref} cannot be read: the clone is partial or damaged`;
  return new AntiphonError("ANT_REPO_INCOMPLETE", detail, { data: { stderr } });
}
