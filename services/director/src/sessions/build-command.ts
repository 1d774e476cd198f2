/**
 * The shell command that builds a project of a repository, by its project file. Pure. An option that the build tool does
 * not have is refused, because a build that ignores it would be another one than the one that was asked for.
 */
import { AntiphonError } from "@antiphon/contracts";
import { shellWord } from "./shell-word.ts";

export interface BuildOrder {
  readonly projectPath: string;
  readonly configuration?: string;
  readonly targetFramework?: string;
  readonly targets?: readonly string[];
}

type Option = "configuration" | "targetFramework" | "targets";

interface Project {
  readonly file: string;
  readonly dir: string;
  readonly configuration: string | null;
  readonly framework: string | null;
  readonly targets: readonly string[];
}

interface Tool {
  /** The name of its project file. */
  readonly file: RegExp;
  readonly takes: readonly Option[];
  command(project: Project): string;
}

const given = (flag: string, value: string | null): string[] => (value === null ? [] : [flag, value]);
const joined = (...words: readonly string[]): string => words.join(" ");

/** In the order in which a directory is searched. */
const TOOLS: readonly Tool[] = [
  {
    file: /\.(?:sln|csproj|fsproj|vbproj)$/,
    takes: ["configuration", "targetFramework", "targets"],
    command: ({ file, configuration, framework, targets }) =>
      joined(
        ...["dotnet", "build", file, ...given("-c", configuration), ...given("-f", framework)],
        ...(targets.length === 0 ? [] : [`'-t:${targets.map((one) => one.replaceAll("'", "")).join(";")}'`]),
      ),
  },
  {
    file: /^package\.json$/,
    takes: ["targets"],
    command: ({ dir, targets }) =>
      [`cd ${dir}`, ...(targets.length === 0 ? ["build"] : targets).map((one) => `npm run ${one}`)].join(
        " && ",
      ),
  },
  {
    file: /^Cargo\.toml$/,
    takes: ["configuration", "targetFramework", "targets"],
    command: ({ file, configuration, framework, targets }) =>
      joined(
        ...["cargo", "build", "--offline", "--manifest-path", file],
        ...given("--profile", configuration === null ? null : profileOf(configuration)),
        ...given("--target", framework),
        ...targets.flatMap((one) => ["-p", one]),
      ),
  },
  {
    file: /^go\.mod$/,
    takes: ["targets"],
    command: ({ dir, targets }) =>
      `cd ${dir} && ${joined("go", "build", ...(targets.length === 0 ? ["./..."] : targets))}`,
  },
  {
    file: /^pom\.xml$/,
    takes: ["configuration", "targets"],
    command: ({ file, configuration, targets }) =>
      joined(
        ...["mvn", "-o", "-B", "-q", "-f", file, ...given("-P", configuration)],
        ...(targets.length === 0 ? ["package"] : targets),
      ),
  },
  {
    file: /^build\.gradle(?:\.kts)?$/,
    takes: ["targets"],
    command: ({ dir, targets }) =>
      joined("gradle", "--offline", "-q", "-p", dir, ...(targets.length === 0 ? ["build"] : targets)),
  },
  {
    file: /^CMakeLists\.txt$/,
    takes: ["configuration", "targets"],
    command: ({ dir, configuration, targets }) => {
      const type = configuration === null ? [] : [`-DCMAKE_BUILD_TYPE=${configuration}`];
      const wanted = targets.length === 0 ? [] : ["--target", ...targets];
      const build = joined("cmake", "--build", `${dir}/build`, ...wanted);
      return `${joined("cmake", "-S", dir, "-B", `${dir}/build`, ...type)} && ${build}`;
    },
  },
  {
    file: /^(?:GNUm|M|m)akefile$/,
    takes: ["targets"],
    command: ({ dir, targets }) => joined("make", "-C", dir, ...targets),
  },
];

/** Cargo names its profiles otherwise than most. */
function profileOf(configuration: string): string {
  const name = configuration.toLowerCase();
  return name === "debug" ? "dev" : name;
}

/** @throws AntiphonError ANT_SESSION_BUILD */
export function buildCommand(order: BuildOrder, files: readonly string[]): string {
  const file = projectFileIn(order.projectPath, files);
  const tool = TOOLS.find((one) => one.file.test(nameOf(file)));
  if (tool === undefined) throw unbuilt(`${file} is no project file of a known build tool`);
  const options: Option[] = ["configuration", "targetFramework", "targets"];
  const foreign = options.find((one) => order[one] !== undefined && !tool.takes.includes(one));
  if (foreign !== undefined) throw unbuilt(`the build of ${file} has no ${foreign}`);
  const words = [order.configuration, order.targetFramework, ...(order.targets ?? [])];
  const option = words.find((word) => word?.startsWith("-") === true || word === "");
  if (option !== undefined) throw unbuilt(`${JSON.stringify(option)} is an option, not a name`);
  const dir = file.includes("/") ? file.slice(0, file.lastIndexOf("/")) : ".";
  return tool.command({
    file: shellWord(`./${file}`),
    dir: shellWord(dir === "." ? dir : `./${dir}`),
    configuration: order.configuration === undefined ? null : shellWord(order.configuration),
    framework: order.targetFramework === undefined ? null : shellWord(order.targetFramework),
    targets: (order.targets ?? []).map(shellWord),
  });
}

/** The file itself, or the project file of a directory. */
function projectFileIn(path: string, files: readonly string[]): string {
  const plain = path.replace(/^(?:\.\/)+/, "").replace(/\/$/, "");
  if (files.includes(plain)) return plain;
  const prefix = plain === "" || plain === "." ? "" : `${plain}/`;
  const inside = files.filter((file) => file.startsWith(prefix) && !file.slice(prefix.length).includes("/"));
  for (const tool of TOOLS) {
    const found = inside.find((file) => tool.file.test(nameOf(file)));
    if (found !== undefined) return found;
  }
  throw unbuilt(`there is no project file at ${path}`);
}

function nameOf(file: string): string {
  return file.slice(file.lastIndexOf("/") + 1);
}

function unbuilt(detail: string): AntiphonError {
  return new AntiphonError("ANT_SESSION_BUILD", detail);
}
