/**
 * Projects in Python that take their version from git's tags. A sandbox has neither tags nor history, so their tools are told a version.
 * It is higher than any other, because packages that tests need may ask for a newer project than some number.
 */
import { recordOf, tomlOf, type Place } from "./ecosystem.ts";

const VERSION = "9999.0.0";
const SETUPTOOLS_SCM = "SETUPTOOLS_SCM_PRETEND_VERSION";

/** The words of a manifest that name a tool, with the variable that the tool reads. */
const TOOLS: readonly (readonly [said: RegExp, variable: string])[] = [
  [/hatch-vcs|vcs-versioning/, SETUPTOOLS_SCM],
  [/^[ \t]*source[ \t]*=[ \t]*["']scm["']/m, "PDM_BUILD_SCM_VERSION"],
  [/poetry-dynamic-versioning/, "POETRY_DYNAMIC_VERSIONING_BYPASS"],
  [/\bpbr\b/, "PBR_VERSION"],
];

const MANIFESTS = ["pyproject.toml", "setup.py", "setup.cfg"];

export async function versionVariables(place: Place): Promise<Readonly<Record<string, string>>> {
  const texts = await Promise.all(MANIFESTS.map((name) => place.read(name)));
  const all = texts.join("\n");
  const named = TOOLS.filter(([said]) => said.test(all)).map(([, variable]) => variable);
  if (/setuptools[-_]scm/.test(all)) named.push(ofProject(texts[0] ?? null, texts[2] ?? null));
  return Object.fromEntries(named.map((variable) => [variable, VERSION]));
}

/**
 * setuptools-scm takes a version for one project, so that a dependency that is built from its sources keeps its own. The other tools, and
 * setuptools-scm for a project whose name only its setup.py knows, take one for all that is built.
 */
function ofProject(pyproject: string | null, setupCfg: string | null): string {
  const written = recordOf(tomlOf(pyproject)?.["project"])?.["name"];
  const [, configured] = /^name[ \t]*=[ \t]*([\w.-]+)[ \t]*$/m.exec(setupCfg ?? "") ?? [];
  const name = typeof written === "string" ? written : configured;
  return name === undefined
    ? SETUPTOOLS_SCM
    : `${SETUPTOOLS_SCM}_FOR_${name.replace(/[-_.]+/g, "_").toUpperCase()}`;
}
