/** Compares the policy's answer to each change of a repository with the expected one. */
import { checkPatch, discoverCheck, protectionOf } from "@antiphon/git";
import { PLACES } from "../support/hostile-diffs.ts";
import type { Ground } from "./corpus.ts";

export interface Answer {
  readonly change: string;
  readonly expected: string;
  readonly answer: string;
  readonly why: string;
}

export async function answers(ground: Ground): Promise<Answer[]> {
  const { files } = ground;
  const paths = Object.keys(files).sort();
  const links = new Map(
    Object.entries(files).flatMap(([path, text]) => (text.startsWith("-> ") ? [[path, text.slice(3)]] : [])),
  );
  const found = ground.checks ?? [(await discoverCheck(paths, (path) => files[path] ?? null)) ?? ""];
  const guards = await protectionOf({
    listing: { paths, links },
    read: (wanted) => Promise.resolve(new Map(wanted.map((path) => [path, files[path] ?? ""]))),
    checks: found.filter((check) => check !== ""),
    discovered: ground.checks === null,
  });
  const expected = [
    ...Object.entries(ground.cheats),
    ...ground.honest.map((change) => [change, "allowed"] as const),
    ...(ground.proof ?? []).map((change) => [change, "allowed with proof"] as const),
  ];
  return expected.map(([change, rule]) => {
    const check = checkPatch(diffOf(change, files), { guards });
    if (!check.ok) return { change, expected: rule, answer: check.rule, why: check.message };
    const [unproven] = check.unproven;
    const answer = unproven === undefined ? "allowed" : "allowed with proof";
    return { change, expected: rule, answer, why: unproven?.why ?? "" };
  });
}

function diffOf(change: string, files: Ground["files"]): string {
  const [kind, path] = change.startsWith("+0")
    ? ["add empty", change.slice(2)]
    : change.startsWith("+")
      ? ["add", change.slice(1)]
      : ["modify", change];
  if ((files[path] === undefined) === (kind === "modify"))
    throw new Error(
      `${change}: the corpus says of a file that is ${kind === "modify" ? "not there" : "there"}`,
    );
  return PLACES[kind]?.(path) ?? "";
}
