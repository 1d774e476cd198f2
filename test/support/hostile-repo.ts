/** A repository whose config, hooks and attributes try to run a program in every way git knows. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeRepo, tempDir, type TestRepo } from "./repo.ts";

export interface TrappedRepo extends TestRepo {
  /** The names of the triggered traps. */
  sprung(): string[];
}

const HOOKS = [
  "applypatch-msg",
  "pre-applypatch",
  "pre-commit",
  "prepare-commit-msg",
  "commit-msg",
  "post-commit",
  "post-checkout",
  "post-merge",
  "pre-auto-gc",
  "post-index-change",
  "reference-transaction",
  "fsmonitor-watchman",
  "pre-rebase",
  "update",
  "pre-receive",
  "post-update",
];

export function makeTrappedRepo(): TrappedRepo {
  const repo = makeRepo({
    files: {
      ".gitattributes":
        "* filter=trap diff=trap merge=trap\n*.lock export-ignore\n*.id export-subst ident\n*.crlf text eol=crlf\n",
      "a.txt": "one\ntwo\nthree\n",
      "b.txt": "b\n",
      "kept.lock": "not to be left out\n",
      "x.id": "$Id$ $Format:%H$\n",
      "y.crlf": "line\n",
    },
  });
  const log = join(tempDir(), "sprung");
  const trap = join(tempDir(), "trap.sh");
  writeFileSync(trap, `#!/bin/sh\necho "$1" >> '${log}'\ncat >/dev/null 2>&1 </dev/null\nexit 1\n`);
  chmodSync(trap, 0o755);
  const run = (name: string): string => `${trap} ${name}`;
  const included = join(tempDir(), "included.config");
  writeFileSync(
    included,
    `[core]\n\tpager = "${run("included-pager")}"\n\tfsmonitor = "${run("included-fsmonitor")}"\n`,
  );
  const config: [string, string][] = [
    ["core.fsmonitor", run("fsmonitor")],
    ["core.sshCommand", run("ssh")],
    ["core.gitProxy", run("proxy")],
    ["core.pager", run("pager")],
    ["core.editor", run("editor")],
    ["core.askPass", run("askpass")],
    ["core.alternateRefsCommand", run("alternate-refs")],
    ["filter.trap.clean", run("clean")],
    ["filter.trap.smudge", run("smudge")],
    ["filter.trap.process", run("process")],
    ["filter.trap.required", "true"],
    ["diff.external", run("diff-external")],
    ["diff.trap.command", run("diff-command")],
    ["diff.trap.textconv", run("textconv")],
    ["merge.trap.driver", run("merge-driver")],
    ["merge.default", "trap"],
    ["credential.helper", `!${run("credential")}`],
    ["gpg.program", run("gpg")],
    ["commit.gpgSign", "true"],
    ["log.showSignature", "true"],
    ["trailer.x.command", run("trailer")],
    ["uploadpack.packObjectsHook", run("pack-objects")],
    ["alias.status", `!${run("alias-status")}`],
    ["alias.apply", `!${run("alias-apply")}`],
    ["protocol.allow", "always"],
    ["protocol.ext.allow", "always"],
    ["remote.origin.url", `ext::${run("ext")}`],
    ["remote.origin.promisor", "true"],
    ["remote.origin.partialclonefilter", "blob:none"],
    ["extensions.partialClone", "origin"],
    ["core.repositoryformatversion", "1"],
    ["include.path", included],
    ["core.hooksPath", join(repo.path, ".git", "hooks")],
    ["status.submoduleSummary", "true"],
    ["submodule.recurse", "true"],
    ["core.splitIndex", "false"],
  ];
  for (const hook of HOOKS) {
    const path = join(repo.path, ".git", "hooks", hook);
    mkdirSync(join(repo.path, ".git", "hooks"), { recursive: true });
    writeFileSync(path, `#!/bin/sh\n${run(`hook-${hook}`)}\nexit 0\n`);
    chmodSync(path, 0o755);
  }
  writeFileSync(join(repo.path, ".git", "info", "attributes"), "* filter=trap diff=trap merge=trap\n");
  for (const [key, value] of config) repo.git("config", "--replace-all", key, value);
  return {
    ...repo,
    sprung: () =>
      existsSync(log) ? [...new Set(readFileSync(log, "utf8").split("\n").filter(Boolean))].sort() : [],
  };
}
