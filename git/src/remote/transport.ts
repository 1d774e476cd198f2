/**
 * The calls of git that may reach another machine: `ls-remote`, `fetch` and `push`, each for one URL. Only the URL's own
 * protocol is allowed, redirects are not followed, and the credentials are the deployment's. They are read by git from
 * files, so they are in no argument, no environment variable, no config of a repository and no message.
 */
import { AntiphonError, repositoryUrl } from "@antiphon/contracts";
import type { GitSettings } from "../process/git-environment.ts";
import { firstLine, gitFailure, runGit, type GitCall, type GitResult } from "../process/git-process.ts";

/** How the deployment proves who it is. Absent: not at all. */
export interface RemoteAccess {
  /** File with a line `https://user:secret@host` for each host, as git's own credential store has it. */
  readonly credentialsFile?: string;
  /** Private key for ssh, and the file with the keys of known hosts. An unknown host is refused. */
  readonly sshKeyFile?: string;
  readonly knownHostsFile?: string;
  /** Certificate authorities in PEM, in place of the system's. */
  readonly caFile?: string;
}

const DEADLINE_MS = 600_000;
/** A transfer slower than this many bytes a second for this many seconds is given up. */
const SLOWEST: GitSettings = [
  ["http.lowSpeedLimit", "1000"],
  ["http.lowSpeedTime", "300"],
];
/** The helper only gives: git would have the store forget a credential that a server refused once. */
const GIVE_ONLY =
  '!f() { test "$1" = get || exit 0; exec git credential-store --file="$ANTIPHON_GIT_CREDENTIALS" get; }; f';
const SSH =
  'ssh -F /dev/null -o BatchMode=yes -o IdentitiesOnly=yes -o IdentityAgent=none -o StrictHostKeyChecking=yes -o ConnectTimeout=10 -o "UserKnownHostsFile=$ANTIPHON_GIT_KNOWN_HOSTS" -i "$ANTIPHON_GIT_SSH_KEY"';
/**
 * The other side of a file URL runs here, and nothing that its repository names may run: no hooks, no command for
 * alternates, no monitor, no filters of an updated work tree. Git drops the caller's settings for it, so they stand here.
 */
const INERT = [
  ...["core.hooksPath=/dev/null", "core.alternateRefsCommand=false", "core.fsmonitor=false"],
  ...["receive.denyCurrentBranch=refuse", "receive.autogc=false", "gc.auto=0", "safe.directory=*"],
];
export const LOCAL_RECEIVER = `git ${INERT.map((setting) => `-c ${setting}`).join(" ")} receive-pack`;
export const LOCAL_SENDER = "git -c safe.directory=* upload-pack";

/** Runs git with the transport of `url` and returns the result with any exit code. */
export function runRemote(url: string, call: GitCall, access: RemoteAccess): Promise<GitResult> {
  const parsed = repositoryUrl(url);
  if ("fault" in parsed) throw new AntiphonError("ANT_REPO_URL_INVALID", `the URL ${parsed.fault}`);
  const { credentialsFile, sshKeyFile, knownHostsFile, caFile } = access;
  // Without a proxy command, over the one in the settings of all other calls, which fails.
  const variables: Record<string, string> = { GIT_ALLOW_PROTOCOL: parsed.scheme, GIT_PROXY_COMMAND: "" };
  const settings: (readonly [string, string])[] = [["http.followRedirects", "false"], ...SLOWEST];
  if (credentialsFile !== undefined) {
    variables["ANTIPHON_GIT_CREDENTIALS"] = credentialsFile;
    settings.push(["credential.helper", GIVE_ONLY]);
  }
  if (parsed.scheme === "ssh") {
    variables["GIT_SSH_COMMAND"] = SSH;
    variables["GIT_SSH_VARIANT"] = "ssh";
    variables["ANTIPHON_GIT_SSH_KEY"] = sshKeyFile ?? "/dev/null";
    variables["ANTIPHON_GIT_KNOWN_HOSTS"] = knownHostsFile ?? "/dev/null";
  }
  if (caFile !== undefined) settings.push(["http.sslCAInfo", caFile]);
  return runGit({
    deadlineMs: DEADLINE_MS,
    ...call,
    settings: [...settings, ...(call.settings ?? [])],
    transport: variables,
  });
}

/** Like `runRemote`; a non-zero exit becomes the error that says what failed. */
export async function remoteGit(url: string, call: GitCall, access: RemoteAccess): Promise<Buffer> {
  const result = await runRemote(url, call, access);
  if (result.exitCode !== 0) throw remoteFault(url, call, result);
  return result.stdout;
}

const DENIED =
  /Authentication failed|could not read Username|could not read Password|Permission denied|Host key verification failed|error: 40[13]\b/i;
const ABSENT =
  /not found|does not appear to be a git repository|does not exist|not exported|no such file or directory/i;

/** A failure of the other side or of the way to it. Only an absent repository is for good. */
export function remoteFault(url: string, call: GitCall, result: GitResult): AntiphonError {
  const { stderr } = result;
  const told = stderr.split("\n").find((line) => /^(?:fatal|error|ssh|git)\b|denied/i.test(line));
  const detail = `${url}: ${(told ?? firstLine(stderr)).slice(0, 500)}`;
  const cause = gitFailure(call, result);
  if (DENIED.test(stderr)) return new AntiphonError("ANT_REPO_REMOTE_DENIED", detail, { cause });
  if (ABSENT.test(stderr)) return new AntiphonError("ANT_REPO_NOT_FOUND", detail, { cause });
  return new AntiphonError("ANT_REPO_REMOTE_UNREACHABLE", detail, { cause });
}
