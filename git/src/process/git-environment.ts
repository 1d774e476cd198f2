/**
 * The environment of every git process that Antiphon starts.
 *
 * A repository's config can name programs: hooks, filters, fsmonitor, ssh commands, credential and merge drivers,
 * pagers, gpg. Three layers keep them from running: (1) object work happens in a scratch repository with our own config
 * and the user's objects as an alternate, so the user's config is not read; (2) the few commands that must run in the
 * user's repository (finding it, resolving and moving refs) are plumbing without filters, and get the settings below at
 * command scope, which overrides every file; (3) GIT_ALLOW_PROTOCOL refuses every transport and overrides
 * `protocol.*.allow`; only remote/transport.ts allows one, for a URL that the deployment serves.
 *
 * Promises:
 *   git/G1 Because a repository belongs to strangers and a service to its operator, no program named by a repository's
 *     config, attributes or hooks is ever started, and no system, global or XDG config is read, so that a result does not
 *     depend on who runs git.
 */
import { gitSearchPath } from "../config.ts";

/** git/G1: settings at command scope. They override `.git/config`, `config.worktree` and the files these include. */
const SETTINGS: readonly (readonly [string, string])[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.attributesFile", "/dev/null"],
  ["core.excludesFile", "/dev/null"],
  ["core.alternateRefsCommand", "false"],
  ["core.sshCommand", "false"],
  ["core.gitProxy", "false"],
  ["core.askPass", "false"],
  ["core.pager", "cat"],
  ["core.editor", "false"],
  ["core.untrackedCache", "false"],
  ["core.splitIndex", "false"],
  ["core.protectHFS", "true"],
  ["core.protectNTFS", "true"],
  ["core.filesRefLockTimeout", "2000"],
  ["core.quotePath", "true"],
  ["protocol.allow", "never"],
  ["credential.helper", ""],
  ["gpg.program", "false"],
  ["commit.gpgSign", "false"],
  ["submodule.recurse", "false"],
  ["diff.external", ""],
  ["merge.directoryRenames", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  // Honoured at command scope since git 2.38. Git's owner check protects against config that is already disarmed here.
  ["safe.directory", "*"],
];

const FIXED: Readonly<Record<string, string>> = {
  LC_ALL: "C",
  TZ: "UTC",
  // Set, because a local `include.path = ~/x` is an error without HOME, and is ignored when the file is absent.
  HOME: "/nonexistent",
  XDG_CONFIG_HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "false",
  SSH_ASKPASS: "false",
  GIT_SSH_COMMAND: "false",
  GIT_EDITOR: "false",
  GIT_PAGER: "cat",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_NO_LAZY_FETCH: "1",
  // An allow list that names no transport: no ssh, no ext::, no remote helper, not even for a lazy fetch.
  GIT_ALLOW_PROTOCOL: "none",
  GIT_AUTHOR_NAME: "Antiphon",
  GIT_AUTHOR_EMAIL: "antiphon@localhost",
  GIT_COMMITTER_NAME: "Antiphon",
  GIT_COMMITTER_EMAIL: "antiphon@localhost",
};

export type GitSettings = readonly (readonly [string, string])[];

function configVariables(settings: GitSettings): Record<string, string> {
  const variables: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length) };
  settings.forEach(([key, value], index) => {
    variables[`GIT_CONFIG_KEY_${index}`] = key;
    variables[`GIT_CONFIG_VALUE_${index}`] = value;
  });
  return variables;
}

const PLAIN = configVariables(SETTINGS);

/** git/G1: built from scratch, so that no GIT_* variable of the service leaks in. */
export function gitEnvironment(
  extra: Readonly<Record<string, string>>,
  settings: GitSettings,
): NodeJS.ProcessEnv {
  const config = settings.length === 0 ? PLAIN : configVariables([...SETTINGS, ...settings]);
  return { PATH: gitSearchPath(), ...FIXED, ...config, ...extra };
}
