/** Compares the policy's answer to each change of a repository with the expected one. */
import { checkPatch, discoverChecks, protectionOf } from "@antiphon/git";
import { PLACES } from "../support/hostile-diffs.ts";
import type { Ground } from "./corpus.ts";
import type { Tried } from "./table.ts";

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
  const found = ground.checks ?? (await discoverChecks(paths, (path) => files[path] ?? null));
  const guards = await protectionOf({
    listing: { paths, links },
    read: (wanted) => Promise.resolve(new Map(wanted.map((path) => [path, files[path] ?? ""]))),
    checks: found.filter((check) => check !== ""),
    discovered: ground.checks === null,
  });
  return expectations(ground).map(({ change, expected }) => {
    const check = checkPatch(diffOf(change, files), { guards });
    if (!check.ok) return { change, expected, answer: check.rule, why: check.message };
    const [unproven] = check.unproven;
    const answer = unproven === undefined ? "allowed" : "allowed with proof";
    return { change, expected, answer, why: unproven?.why ?? "" };
  });
}

/** The expected answers, as if they were given. */
export function expectations({ cheats, honest, proof = [] }: Ground): Answer[] {
  const expected = [
    ...Object.entries(cheats),
    ...honest.map((change) => [change, "allowed"] as const),
    ...proof.map((change) => [change, "allowed with proof"] as const),
  ];
  return expected.map(([change, rule]) => ({ change, expected: rule, answer: rule, why: "" }));
}

/** A source that may change with proof is no cheat. */
export function triedIn({ ecosystem, name }: Ground, all: readonly Answer[]): Tried[] {
  return all.map(({ change, expected, answer }) => ({
    ecosystem,
    name: `${name}: ${change}`,
    cheat: !expected.startsWith("allowed"),
    refused: !answer.startsWith("allowed"),
  }));
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
