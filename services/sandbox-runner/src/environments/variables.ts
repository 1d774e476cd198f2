/** The environment variables of a command in a sandbox, of one in a prepared environment, and of the setup of one. Pure. */
import { SANDBOX_HOME, type EnvironmentSpec } from "@antiphon/contracts";
import type { ImageFacts } from "../ports.ts";

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

type Prepared = Pick<EnvironmentSpec, "path" | "variables">;

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Variables of an image that mean something else in a sandbox, or that the sandbox sets itself. */
const NOT_FROM_IMAGE = /^(HOME|HOSTNAME|PWD|OLDPWD|SHLVL|USER|LOGNAME|_)$|^ANTIPHON_|_proxy$|_PROXY$/;

/**
 * The whole environment of a command, before the variables of its step: those of the image, such as JAVA_HOME, too. An empty
 * SHELL stands for the image's bash, or its sh (conversation/step-script.ts).
 * @param prepared the environment that is laid; its home is SANDBOX_HOME
 */
export function stepEnvironment(
  image: Pick<ImageFacts, "env">,
  home: string,
  prepared?: Prepared,
): Variables {
  const own = image.env.flatMap((entry): [string, string][] => {
    const at = entry.indexOf("=");
    const name = entry.slice(0, Math.max(0, at));
    return name === "" || NOT_FROM_IMAGE.test(name) ? [] : [[name, entry.slice(at + 1)]];
  });
  const usual = { PATH: DEFAULT_PATH, LANG: "C.UTF-8", SHELL: "", TERM: "dumb" };
  const plain: Variables = { ...usual, ...Object.fromEntries(own), HOME: home };
  if (prepared === undefined) return plain;
  const directories = [...prepared.path, plain["PATH"] ?? ""].filter((directory) => directory !== "");
  return { ...plain, HOME: SANDBOX_HOME, PATH: directories.join(":"), ...prepared.variables };
}

export function setupVariables(image: ImageFacts, prepared: Prepared): Variables {
  return { ...stepEnvironment(image, SANDBOX_HOME, prepared), ...SCRATCH };
}
