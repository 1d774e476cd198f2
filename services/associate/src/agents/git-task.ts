/**
 * Carries out a task of kind `git`: one verb in the repository of the sandbox. Pure. No agent is asked.
 *
 * The repository is ours, with no hook and no filter, and what the files say about themselves (`.gitattributes`) changes no byte
 * of them. Nothing of the repository is read back: the files are, if the verb brings earlier ones.
 */
import { AntiphonError, globAlternatives, type DispatchBody, type GitAction } from "@antiphon/contracts";
import { NO_CHANGE, type PreparedWork } from "../ports.ts";

export function gitTask({ task, base, scope, scope_except = [] }: DispatchBody): PreparedWork {
  const { git_action, base_ref = base.commit } = task;
  const verb = git_action === undefined ? undefined : VERBS[git_action];
  if (git_action === undefined || verb === undefined)
    throw new AntiphonError("ANT_TASK_KIND_UNSUPPORTED", `no git verb ${JSON.stringify(git_action)}`);
  const brings = git_action === "git_checkout";
  const paths = brings ? scope.flatMap(pathspecsOf) : [];
  const except = brings
    ? scope_except.flatMap(pathspecsOf).map((one) => one.replace(":(", ":(exclude,"))
    : [];
  const to = base_ref.slice(0, SHORT_ID);
  const command = `${verb.shown.replace("%", to)}${[...except, ...paths].map((path) => ` ${path}`).join("")}`;
  const argv = [
    "sh",
    "-c",
    `${START}\n${verb.script}`,
    "sh",
    base_ref,
    ...except,
    ...(paths.length === 0 ? ["."] : paths),
  ];
  return {
    kind: "work",
    change: NO_CHANGE,
    steps: [{ command, argv, env: ENV }],
    selfVerify: true,
    transcript: null,
    note: verb.note.replace("%", git_action === "git_checkpoint" ? base.commit : to),
  };
}

const SHORT_ID = 12;

/** Nothing that the image sets for git counts. */
const ENV = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
};

/** `$1` is the commit to go back to. Attributes named here are stronger than those in files. */
const START = `set -e
[ -d .git ] || { echo "the sandbox has no git repository: the objects of its commit are too large" >&2; exit 3; }
echo '* -text -eol -ident -filter -working-tree-encoding' > .git/info/attributes
git() { command git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.autocrlf=false "$@"; }
reach() { git cat-file -e "$1^{commit}" 2>/dev/null; }
back() { reach "$1" || { echo "the history in the sandbox does not reach $1" >&2; exit 3; }; }`;

interface Verb {
  readonly script: string;
  /** The command as people see it, and what was done; \`%\`: the commit. */
  readonly shown: string;
  readonly note: string;
}

const VERBS: Readonly<Partial<Record<string, Verb>>> = {
  git_status: {
    script: `git status --short --branch
if reach "$1"; then
  git --no-pager log --oneline --no-decorate "$1..HEAD"
  git --no-pager diff --no-color --stat "$1" HEAD
else
  git --no-pager log --oneline --no-decorate
fi`,
    shown: "git status",
    note: "git_status",
  },
  git_checkpoint: {
    // Files that git does not know may belong to the prepared environment. A change by the task is found without git.
    script: `[ -z "$(git status --porcelain --untracked-files=no)" ] || { git status --short >&2; echo "the files are not those of the commit" >&2; exit 3; }
echo "commit $(git rev-parse HEAD)"
echo "tree $(git rev-parse 'HEAD^{tree}')"`,
    shown: "git rev-parse HEAD",
    note: "git_checkpoint at %",
  },
  git_reset: {
    script: `back "$1"
git --no-pager diff --no-color --stat HEAD "$1"
git reset --quiet --hard "$1"`,
    shown: "git reset --hard %",
    note: "git_reset to %",
  },
  git_checkout: {
    // Git refuses all names if one of them matches nothing, so those are left out. The second index holds the files of the
    // commit, without those that the task leaves alone; these are named first.
    script: `back "$1"
earlier() ( GIT_INDEX_FILE=.git/earlier; export GIT_INDEX_FILE; git "$@" )
commit=$1
earlier read-tree "$commit"
shift
asked=$*
for names in "$@"; do
  shift
  case $names in
    ":(exclude,"*) earlier rm --cached -r -q -f --ignore-unmatch -- ":(\${names#":(exclude,"}" ;;
    *) [ -z "$(earlier ls-files -- "$names")" ] || set -- "$@" "$names" ;;
  esac
done
[ "$#" -gt 0 ] || { echo "no file of $commit matches $asked" >&2; exit 3; }
tree=$(earlier write-tree)
git checkout --quiet "$tree" -- "$@"
git --no-pager diff --no-color --stat HEAD`,
    shown: "git checkout % --",
    note: "git_checkout of %",
  },
} satisfies Record<GitAction, Verb>;

/** A glob of ours as git reads it: there, brackets are a set. */
function pathspecsOf(glob: string): string[] {
  return (globAlternatives(glob) ?? []).map((one) => `:(glob)${one.replace(/[[\]]/g, "\\$&")}`);
}
