/**
 * Reads the repository's own settings from the base tree, never from the work tree: `antiphon.yaml`, or, if there is
 * none, the image of its `devcontainer.json`. One git process.
 *
 * Precedence of images: the run's own (`--image`), then `image:` of antiphon.yaml, then the `image` of
 * devcontainer.json if there is no antiphon.yaml, then the runner's default.
 */
import {
  AntiphonError,
  limits,
  validateDocument,
  type DocumentProblem,
  type GateSkill,
  type NamedImage,
  type ProjectFile,
  type ServiceSpec,
} from "@antiphon/contracts";
import { readDevcontainer } from "./devcontainer.ts";
import type { Scratch } from "../repository/scratch.ts";

export const OWN_FILES = ["antiphon.yaml", "antiphon.yml"] as const;
const DEVCONTAINERS = [".devcontainer/devcontainer.json", ".devcontainer.json"] as const;

const MAX_BYTES = 1024 * 1024;

export interface ProjectSettings {
  image: NamedImage | null;
  /** The checks need a repository. */
  verifyGit: boolean;
  services: ServiceSpec[];
  /** Skills that judge each change before it lands. */
  gates: GateSkill[];
}

/**
 * @param imageNamed true if the run names its image: devcontainer.json is not read, but antiphon.yaml must still be valid
 * @throws AntiphonError ANT_REPO_CONFIG_INVALID, ANT_REPO_DEVCONTAINER
 */
export async function projectSettings(
  scratch: Scratch,
  tree: string,
  imageNamed: boolean,
): Promise<ProjectSettings> {
  const texts = await readTexts(scratch, tree, [...OWN_FILES, ...DEVCONTAINERS]);
  for (const from of OWN_FILES) {
    const text = texts.get(from);
    if (text === undefined) continue;
    const { image, verify, services = {}, gates = [] } = projectFileOf(text, from);
    const named = image === undefined || imageNamed ? null : { ref: image, from };
    return { image: named, verifyGit: verify?.git ?? false, services: servicesOf(services, from), gates };
  }
  const from = imageNamed ? undefined : DEVCONTAINERS.find((path) => texts.has(path));
  const none = { verifyGit: false, services: [], gates: [] };
  if (from === undefined) return { image: null, ...none };
  return { image: { ref: devcontainerImage(texts.get(from) ?? "", from), from }, ...none };
}

/**
 * @param shown what a refusal calls the file
 * @throws AntiphonError ANT_REPO_CONFIG_INVALID
 */
export function projectFileOf(text: string, filename: string, shown: string = filename): ProjectFile {
  if (text.length > limits.manifestBytes) {
    const told = `${shown} is larger than ${limits.manifestBytes} bytes`;
    throw new AntiphonError("ANT_REPO_CONFIG_INVALID", told, { data: { path: filename } });
  }
  const checked = validateDocument(text, { filename, schema: "ProjectFile" });
  if (checked.ok) return checked.value as ProjectFile;
  const told = checked.errors.map((problem) => problemText(shown, problem)).join("; ");
  throw new AntiphonError("ANT_REPO_CONFIG_INVALID", told, { data: { path: filename } });
}

/** Without a sign of readiness, checks would begin before the service listens. */
function servicesOf(services: NonNullable<ProjectFile["services"]>, filename: string): ServiceSpec[] {
  return Object.entries(services).map(([name, settings]) => {
    const refuse = (what: string): AntiphonError =>
      new AntiphonError("ANT_REPO_CONFIG_INVALID", `${filename}: services.${name} needs ${what}`, {
        data: { path: filename },
      });
    if (settings.port === undefined && settings.ready === undefined)
      throw refuse("`port` or `ready`, which tell when the checks can begin");
    if (settings.image === undefined && settings.command === undefined)
      throw refuse("`image` or `command`, which tell what runs");
    return { name, ...settings };
  });
}

function problemText(filename: string, { line, path, message, found, hint }: DocumentProblem): string {
  const where = `${filename}:${line}: ${path === "" ? "" : `${path}: `}`;
  const also = hint === undefined ? "" : `; ${hint}`;
  return path === "" || message.includes(found)
    ? `${where}${message}${also}`
    : `${where}${message}, found ${found}${also}`;
}

function devcontainerImage(text: string, from: string): string {
  const found = readDevcontainer(text);
  if (found.kind === "image") return found.ref;
  const why = found.kind === "build" ? `its image is built from ${found.dockerfile} first` : found.reason;
  throw new AntiphonError("ANT_REPO_DEVCONTAINER", `${from}: ${why}`, { data: { path: from } });
}

const isOwn = (path: string): boolean => OWN_FILES.some((own) => own === path);

/** Settings that nobody could read would be passed over. */
export function noFile(filename: string, shown: string): AntiphonError {
  const told = `${shown} is a directory or a submodule; it must be a file`;
  return new AntiphonError("ANT_REPO_CONFIG_INVALID", told, { data: { path: filename } });
}

/** Reads those of the paths that are files of the tree, as UTF-8. */
async function readTexts(
  scratch: Scratch,
  tree: string,
  paths: readonly string[],
): Promise<Map<string, string>> {
  const bytes = await scratch.git({
    args: ["cat-file", "--batch"],
    stdin: paths.map((path) => `${tree}:${path}\n`).join(""),
    maxOutputBytes: paths.length * (MAX_BYTES + 1024),
  });
  const texts = new Map<string, string>();
  let at = 0;
  for (const path of paths) {
    const lineEnd = bytes.indexOf(10, at);
    const words = bytes.toString("utf8", at, lineEnd).split(" ");
    at = lineEnd + 1;
    if (words.at(-1) === "missing") continue;
    const size = Number(words[2]);
    if (words[1] === "blob") texts.set(path, bytes.toString("utf8", at, at + size));
    else if (isOwn(path)) throw noFile(path, path);
    at += size + 1;
  }
  return texts;
}
