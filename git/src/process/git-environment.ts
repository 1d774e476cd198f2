/**
 * The environment every git process of ours runs in.
 *
 * A repository's own config can name programs: hooks, filters, fsmonitor, ssh commands, credential and merge
 * drivers, pagers, gpg. None of them may run. Three layers see to that: (1) object work happens in a scratch
 * repository whose config we wrote, with the user's objects as an alternate, so that the user's config is not
 * read at all; (2) the few commands that must run in the user's repository (finding it, resolving and moving
 * refs) are plumbing that knows no filter, and get the settings below at command scope, which wins over any
 * file; (3) every transport is refused by GIT_ALLOW_PROTOCOL, which wins over `protocol.*.allow`.
 *
 * Invariants:
 *   G4  No program named by a repository's config, attributes or hooks is ever started.
 *   G5  No system, global or XDG config is read; the result does not depend on who runs it.
 */
import { gitSearchPath } from "../config.ts";

/** G4: command-scope settings. They beat `.git/config`, `config.worktree` and whatever those include. */
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
  // Honoured at command scope since git 2.38. The owner check guards against the config that G4 disarms.
  ["safe.directory", "*"],
];

const FIXED: Readonly<Record<string, string>> = {
  LC_ALL: "C",
  TZ: "UTC",
  // Not unset: a local `include.path = ~/x` is an error without HOME, and nothing when the file is absent.
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
  // A list of allowed transports that names none: no ssh, no ext::, no remote helper, also from a lazy fetch.
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

/** G5: built from nothing, so no GIT_* variable of ours leaks in. */
export function gitEnvironment(
  extra: Readonly<Record<string, string>>,
  settings: GitSettings,
): NodeJS.ProcessEnv {
  const config = settings.length === 0 ? PLAIN : configVariables([...SETTINGS, ...settings]);
  return { PATH: gitSearchPath(), ...FIXED, ...config, ...extra };
}
