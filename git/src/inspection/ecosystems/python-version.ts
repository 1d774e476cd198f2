/**
 * Projects in Python that take their version from git's tags. A sandbox has neither tags nor history, so their tools are told a version.
 * It is higher than any other, because packages that tests need may ask for a newer project than some number.
 */
import type { Place } from "./ecosystem.ts";

const VERSION = "9999.0.0";

/** The words of a manifest that name a tool, with the variable that the tool reads. */
const TOOLS: readonly (readonly [said: RegExp, variable: string])[] = [
  [/setuptools[-_]scm|hatch-vcs|vcs-versioning/, "SETUPTOOLS_SCM_PRETEND_VERSION"],
  [/^[ \t]*source[ \t]*=[ \t]*["']scm["']/m, "PDM_BUILD_SCM_VERSION"],
  [/poetry-dynamic-versioning/, "POETRY_DYNAMIC_VERSIONING_BYPASS"],
  [/\bpbr\b/, "PBR_VERSION"],
];

const MANIFESTS = ["pyproject.toml", "setup.py", "setup.cfg"];

export async function versionVariables(place: Place): Promise<Readonly<Record<string, string>>> {
  const texts = await Promise.all(MANIFESTS.map((name) => place.read(name)));
  const all = texts.join("\n");
  const named = TOOLS.filter(([said]) => said.test(all)).map(([, variable]) => variable);
  return Object.fromEntries(named.map((variable) => [variable, VERSION]));
}
