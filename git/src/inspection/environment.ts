/**
 * Finds which commands prepare a repository's environment, and which files decide what they make. Pure: works on a
 * listing and a read function.
 *
 * Precedence: the run's own commands, `setup` of antiphon.yaml, else what the lock files and manifests of each ecosystem
 * ask for. An ecosystem without a manifest in the root is looked for one directory below, Gradle
 * only if the root has no other build.
 */
import type { ProjectFile } from "@antiphon/contracts";
import type { ReadText } from "./checks.ts";
import { GO, GRADLE, MAVEN, RUST } from "./ecosystems/compiled.ts";
import { placeOf, type Ecosystem, type Finding, type Place } from "./ecosystems/ecosystem.ts";
import { NODE } from "./ecosystems/node.ts";
import { PYTHON } from "./ecosystems/python.ts";
import { BATS, PHP, RUBY } from "./ecosystems/scripted.ts";
import { pathMatcher } from "../patch/glob.ts";

export interface EnvironmentPlan {
  readonly commands: readonly string[];
  /** The files that decide what the commands make, sorted. */
  readonly inputs: readonly string[];
  readonly tools: readonly string[];
  readonly path: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** Why: one line for each source. */
  readonly found: readonly string[];
  /** Each sandbox owns what they make. */
  readonly owned: boolean;
}

export interface EnvironmentInput {
  readonly listing: readonly string[];
  readonly read: ReadText;
  /** The repository's antiphon.yaml; null if it has none. */
  readonly project: Pick<ProjectFile, "setup" | "setup_inputs" | "setup_owned"> | null;
  /** Programs that the image lacks: what needs one of them is not prepared. Default: none. */
  readonly lacks?: readonly string[] | undefined;
  /** The run's own commands; an empty list: no environment. */
  readonly named?: readonly string[] | undefined;
}

const ECOSYSTEMS: readonly Ecosystem[] = [NODE, PYTHON, GO, RUST, MAVEN, GRADLE, RUBY, PHP, BATS];

/** Directories whose manifests are not those of the project. */
const ASIDE =
  /^(\..*|docs?|website|examples?|samples?|demos?|tests?|test[-_]?data|fixtures|vendor|third_party|node_modules|bench(marks?)?|build|dist)$/i;
/** Marks of a build that needs no environment of its own. */
const OTHER_BUILDS = ["CMakeLists.txt", "meson.build"];
/** In the root, they say that the repository itself is built. */
const BUILDS = new Set([...OTHER_BUILDS, ...ECOSYSTEMS.flatMap(({ markers }) => markers)]);
/** A repository of more projects than this names its setup itself. */
const MAX_PLACES = 8;
/** An installed package's manifest decides nothing. */
const INSTALLED = /(^|\/)(node_modules|vendor|\.venv)\//;

/** Null: the repository needs no environment. */
export async function discoverEnvironment(input: EnvironmentInput): Promise<EnvironmentPlan | null> {
  const { listing, project, named } = input;
  const said = named ?? listOf(project?.setup);
  if (said === null) return found(input);
  if (said.length === 0) return null;
  const from = named === undefined ? "antiphon.yaml" : "the run";
  return {
    commands: said,
    inputs: decidingFiles(listing, ECOSYSTEMS, project?.setup_inputs),
    tools: [],
    path: [],
    variables: {},
    found: [`${from}: ${said.join("; ")}`.slice(0, MAX_LINE)],
    owned: isOwned(project, said),
  };
}

const MAX_LINE = 512;

/** To add a program, these set the modes of those already installed, which only the owner of a file may do. */
const SETS_MODES = /(^|[\s;&|/])(pnpm|yarn|yarnpkg|bun)(\s|$)/;

function isOwned(project: EnvironmentInput["project"], commands: readonly string[]): boolean {
  return project?.setup_owned ?? commands.some((command) => SETS_MODES.test(command));
}

async function found({
  listing,
  read,
  project,
  lacks = [],
}: EnvironmentInput): Promise<EnvironmentPlan | null> {
  const findings: { ecosystem: Ecosystem; place: Place; finding: Finding }[] = [];
  for (const ecosystem of ECOSYSTEMS) {
    for (const place of placesOf(ecosystem, listing, read)) {
      const finding = await ecosystem.probe(place);
      if (finding === null || finding.tools.some((tool) => lacks.includes(tool))) continue;
      findings.push({ ecosystem, place, finding });
    }
  }
  if (findings.length === 0) return null;
  const commands = findings.flatMap(({ place, finding }) =>
    finding.commands.map((one) => within(place, one)),
  );
  const ecosystems = findings.map(({ ecosystem }) => ecosystem);
  return {
    commands: [...new Set(commands)],
    owned: isOwned(project, commands),
    inputs: decidingFiles(listing, ecosystems, project?.setup_inputs),
    tools: [...new Set(findings.flatMap(({ finding }) => finding.tools))],
    path: [...new Set(findings.flatMap(({ finding }) => finding.path ?? []))],
    variables: Object.assign({}, ...findings.map(({ finding }) => finding.variables ?? {})) as Record<
      string,
      string
    >,
    found: findings.map(({ place, finding }) => {
      const at = place.directory === "" ? finding.because : `${place.directory}/${finding.because}`;
      return `${at}: ${finding.commands.at(-1) ?? ""}`.slice(0, MAX_LINE);
    }),
  };
}

/** The root if it has a marker, else the directories below it that have one. */
function placesOf(ecosystem: Ecosystem, listing: readonly string[], read: ReadText): Place[] {
  const { marks, rootFirst } = ecosystem;
  if (marks !== undefined && listing.some((path) => marks.test(path))) return [placeOf("", listing, read)];
  const isMarker = new Set(ecosystem.markers);
  const directories = new Set<string>();
  for (const path of listing) {
    const parts = path.split("/");
    if (parts.length === 1 && isMarker.has(path)) return [placeOf("", listing, read)];
    const [directory = "", name = ""] = parts;
    if (parts.length === 2 && isMarker.has(name) && !ASIDE.test(directory)) directories.add(directory);
  }
  if (rootFirst === true && listing.some((path) => BUILDS.has(path))) return [];
  return [...directories]
    .sort()
    .slice(0, MAX_PLACES)
    .map((directory) => placeOf(directory, listing, read));
}

function within({ directory }: Place, command: string): string {
  return directory === "" ? command : `cd ${quoted(directory)} && { ${command}; }`;
}

function quoted(word: string): string {
  return /^[A-Za-z0-9_./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function decidingFiles(
  listing: readonly string[],
  ecosystems: readonly Ecosystem[],
  globs: readonly string[] | undefined,
): string[] {
  if (globs !== undefined) {
    const matcher = pathMatcher(globs);
    return listing.filter((path) => matcher.matches(path)).sort();
  }
  const decides = (path: string): boolean => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    return !INSTALLED.test(path) && ecosystems.some((ecosystem) => ecosystem.decides.test(name));
  };
  return listing.filter(decides).sort();
}

function listOf(setup: ProjectFile["setup"]): readonly string[] | null {
  if (setup === undefined) return null;
  return typeof setup === "string" ? [setup] : setup;
}
