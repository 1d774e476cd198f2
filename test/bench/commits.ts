/**
 * What the Director's verification says of the commits of a real repository: `npm run bench -- commits <clone> <check> [count]`.
 * The newest commits that touch sources are judged one after the other as changes of a BUILD run on their parents. Their people
 * decided them, so each refusal is to be looked at: it is right where nothing in the repository tests the sources.
 *
 * Files that a commit touches on the judging side are granted, as somebody does who asks for such a change. The check runs on this
 * machine, so its programs and the packages that it needs have to be there, and the repository has to be one that you trust.
 */
import { execFileSync } from "node:child_process";
import { besideSources, sourcesLeft } from "@antiphon/git";
import { verdictOn, type Content } from "../cheats/rooms.ts";

const LOOKED_AT = 600;
const MOST_FILES = 12;
type Letter = "A" | "M" | "D" | "T";
const CHANGES = { A: "add", M: "modify", D: "delete", T: "modify" } as const;

interface Touched {
  readonly path: string;
  readonly letter: Letter;
}

export async function run([clone, check, count = "15"]: readonly string[]): Promise<void> {
  if (clone === undefined || check === undefined)
    throw new Error("usage: npm run bench -- commits <clone> <check> [count]");
  const bytes = (...args: string[]): Buffer =>
    execFileSync("git", ["-C", clone, ...args], { maxBuffer: 1 << 28 });
  const git = (...args: string[]): string => bytes(...args).toString();
  const log = ["log", "--no-merges", "--min-parents=1", "--format=%H", "-n", String(LOOKED_AT)];
  const rows: Record<string, string>[] = [];
  for (const commit of linesOf(git(...log))) {
    if (rows.length >= Number(count)) break;
    const touched = touchedBy(git("diff", "--name-status", "--no-renames", `${commit}^`, commit));
    if (touched === null || sourcesIn(touched).length === 0) continue;
    const after = filesAt(bytes, commit);
    const change = touched.map(({ path }) => [path, after[path] ?? null]);
    const { verdict, code, proves, message } = await verdictOn({
      files: filesAt(bytes, `${commit}^`),
      check,
      change: Object.fromEntries(change) as Record<string, Content | null>,
      workflow: "BUILD",
      grants: besideSources(touched.map(asChanged), () => ""),
    });
    if (verdict !== "PASS") console.log(`${commit.slice(0, 10)} ${message ?? ""}`);
    const subject = git("show", "-s", "--format=%s", commit).trim().slice(0, 60);
    rows.push({ commit: commit.slice(0, 10), verdict, code: code ?? "", proves: proves ?? "", subject });
  }
  console.table(rows);
  const passed = rows.filter(({ verdict }) => verdict === "PASS").length;
  console.log(`${passed} of ${rows.length} land by themselves`);
}

const linesOf = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** Null: too much for one change, or names that git quotes. */
function touchedBy(status: string): readonly Touched[] | null {
  const touched = linesOf(status).map((line) => {
    const [letter, path = ""] = line.split("\t");
    return { letter: letter as Letter, path };
  });
  return touched.length > MOST_FILES || touched.some(({ path }) => path.startsWith('"')) ? null : touched;
}

const asChanged = ({ path, letter }: Touched) => ({
  ...{ path, change: CHANGES[letter], from: null, added: 1, removed: 0, binary: false },
});

const sourcesIn = (touched: readonly Touched[]): string[] => sourcesLeft(touched.map(asChanged), () => "");

function filesAt(bytes: (...args: string[]) => Buffer, commit: string): Record<string, Content> {
  const files: Record<string, Content> = {};
  for (const line of linesOf(bytes("ls-tree", "-r", commit).toString())) {
    const [, mode, id = "", path = ""] = /^(\d+) blob (\w+)\t(.*)$/.exec(line) ?? [];
    if (mode === undefined || path.startsWith('"')) continue;
    const content = bytes("cat-file", "blob", id);
    files[path] =
      mode === "120000"
        ? { linksTo: content.toString() }
        : { bytes: content, isExecutable: mode === "100755" };
  }
  return files;
}
