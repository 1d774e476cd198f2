/** The environment variables of setup and of every step in a prepared environment. Pure. */
import { SANDBOX_HOME, type EnvironmentSpec } from "@antiphon/contracts";

type Variables = Readonly<Record<string, string>>;

/** Downloads that nothing needs once they are installed stay out of the home directory, and so out of the layer. */
const SCRATCH: Variables = {
  CI: "true",
  npm_config_cache: "/tmp/.cache/npm",
  npm_config_store_dir: "/tmp/.cache/pnpm",
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_update_notifier: "false",
  YARN_CACHE_FOLDER: "/tmp/.cache/yarn",
  PIP_NO_CACHE_DIR: "1",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  PIP_NO_INPUT: "1",
  UV_NO_CACHE: "1",
  UV_LINK_MODE: "copy",
  POETRY_CACHE_DIR: "/tmp/.cache/poetry",
  COMPOSER_CACHE_DIR: "/tmp/.cache/composer",
};

/** @param own the variables of a step in a plain sandbox */
export function environmentVariables(
  own: Variables,
  spec: Pick<EnvironmentSpec, "path" | "variables"> | undefined,
): Variables {
  if (spec === undefined) return own;
  const { path, variables } = spec;
  const directories = [...path, own["PATH"] ?? ""].filter((directory) => directory !== "");
  return { ...own, HOME: SANDBOX_HOME, PATH: directories.join(":"), ...variables };
}

export function setupVariables(own: Variables, spec: Pick<EnvironmentSpec, "path" | "variables">): Variables {
  return { ...environmentVariables(own, spec), ...SCRATCH };
}
