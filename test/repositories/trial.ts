/**
 * Tries one public repository from end to end: `antiphon init` finds and tries setup and check on the last commit, a fault
 * is seeded, a wrong change must not land, and the change that takes the fault back must.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { PublicRepository } from "./catalogue.ts";
import { commit, DigestDiffers, fetchRepository } from "./sources.ts";

/** Calls the command line, and returns its JSON. */
export type Call = <T>(args: readonly string[]) => Promise<{ code: number | null; document: T }>;

export interface Trial {
  readonly name: string;
  readonly language: string;
  readonly setup: string;
  readonly check: string;
  /** Null: everything went as it should. */
  readonly cause: string | null;
  /** Its client, or the registry, did not give it. */
  readonly isUntried: boolean;
  readonly seconds: number;
}

interface Findings {
  readonly found: readonly { command: string; exitCode: number | null; durationMs: number; tail: string }[];
  readonly further: Findings["found"];
  readonly text: string;
}

interface Summary {
  readonly status: string;
  readonly code: string | null;
  readonly message: string;
}

/** Why a repository did not get through, in words for the table. */
class Stopped extends Error {}

/** @param digest what the release's archive must have; null: any */
export async function tryRepository(
  call: Call,
  repository: PublicRepository,
  digest: string | null = null,
): Promise<Trial> {
  const begun = performance.now();
  const seen = { setup: "", check: "" };
  let at: string | null = null;
  let cause: string | null = null;
  let isUntried = false;
  try {
    at = fetchRepository(repository, digest);
    await through(call, repository, at, seen);
  } catch (error) {
    isUntried = at === null && !(error instanceof DigestDiffers);
    cause = error instanceof Stopped ? error.message : `not tried: ${firstLine(String(error))}`;
  } finally {
    if (at !== null) rmSync(dirname(at), { recursive: true, force: true });
  }
  const { name, language } = repository;
  return { name, language, ...seen, cause, isUntried, seconds: (performance.now() - begun) / 1000 };
}

async function through(
  call: Call,
  { fault, project }: PublicRepository,
  at: string,
  seen: { setup: string; check: string },
): Promise<void> {
  if (project !== undefined) {
    writeFileSync(join(at, "antiphon.yaml"), project);
    commit(at, "What its owner says of it");
  }
  const { document } = await call<Findings>([
    "init",
    "--repo",
    at,
    ...(project === undefined ? [] : ["--dry-run"]),
  ]);
  const error = (document as { error?: { code?: string; message?: string } }).error;
  if (error !== undefined) throw new Stopped(`init: ${error.code ?? ""} ${firstLine(error.message ?? "")}`);
  const passing = [...document.found, ...document.further].find(({ exitCode }) => exitCode === 0);
  seen.setup = /^# setup:? ?(.*)$/m.exec(document.text)?.[1] ?? "";
  seen.check = (passing ?? document.found[0])?.command ?? "";
  if (passing === undefined) {
    const [first] = document.found;
    throw new Stopped(first === undefined ? "no check was found" : `HEAD fails: ${lastLine(first.tail)}`);
  }
  const file = join(at, fault.path);
  const right = readFileSync(file, "utf8");
  if (!right.includes(fault.from)) throw new Stopped(`${fault.path} has no text to make a fault of`);
  const place = Buffer.byteLength(right.slice(0, right.indexOf(fault.from)));
  writeFileSync(
    file,
    right.replace(fault.from, () => fault.to),
  );
  commit(at, "A change with a fault");
  const run = async (command: string): Promise<Summary> => {
    const flags = ["--attempts", "1", "--allow-dirty", "--check", passing.command];
    return (await call<Summary>(["run", "Mend the fault", "--repo", at, "--command", command, ...flags]))
      .document;
  };
  const wrong = await run("echo 'a note' > antiphon-note.txt");
  if (wrong.status === "succeeded")
    throw new Stopped("a wrong change landed: the check does not see the fault");
  const mended = await run(replacement(fault.path, place, fault.to, fault.from));
  if (mended.status !== "succeeded")
    throw new Stopped(`the fix: ${mended.code ?? ""} ${firstLine(mended.message)}`);
}

/** The text may occur elsewhere, so it is replaced where it is. Perl is in every image, and hexadecimal needs no quotes. */
function replacement(path: string, at: number, from: string, to: string): string {
  const hex = Buffer.from(to).toString("hex");
  return `perl -0777 -pi -e 'substr($_, ${at}, ${Buffer.byteLength(from)}) = pack "H*", "${hex}"' ${path}`;
}

const firstLine = (text: string): string =>
  (text.split("\n").find((line) => line.trim() !== "") ?? "").slice(0, 160);
const lastLine = (text: string): string => (text.trim().split("\n").at(-1) ?? "").slice(0, 160);
