/**
 * Sources whose checks run once more in other surroundings (services/director/src/verification/elsewhere.ts). None is refused
 * for its text. Pure.
 */
import { CODE as ANY_CODE, isHarness } from "./side.ts";
import { CODE } from "./whereabouts.ts";

/** Where it runs, what is around it, and other programs. */
const LOOKS =
  /\b(?:cwd|getcwd\w*|pwd|PWD|Getwd|chdir|__dirname|__filename|__file__|__dir__|__FILE__|__DIR__|import\.meta|user\.dir|current_(?:dir|exe|path)|hostname|gethostname|uname|exists\w*|l?stat(?:Sync)?|accessSync|isfile|isdir|file_exists|readdir\w*|opendir|listdir|glob|os\.Args|argv|ARGV|orig_argv|cmdline|realpath\w*|readlink\w*|abspath|toAbsolutePath|spawn\w*|popen|ProcessBuilder|subprocess|child_process|readFile\w*|fopen|ifstream|filesystem|Directory|traceback)\b|\b(?:access|absolute|open|caller|Caller)\s?\(|(?<![.\w])exec\w*\s?\(|\bCommand::|\bexec\.Command|\bos\.exec|\bsystem[\s(]{1,2}["'(\w]|\.stack\b|\binspect\.|\bresolve\(\s?["'`.]|["'`](?:node:)?(?:fs|os|path|module|url)(?:\/\w{1,20})?["'`]|\$\(|\/proc\//;
/** Variables of its process, also as the kernel or a program tells them. */
const READS =
  /\b(?:env|environb?|environment|Environ|ENV|printenv|_ENV|_SERVER|option_env|get_?env\w*|get_?Env\w*|[lL]ookup_?Env\w*|Getenv|GetEnvironmentVariable\w*|Platform|ProcessInfo)\b|["'`](?:node:)?process["'`]|\/proc\//;
/** Ways to any name that is put together while it runs. */
const PUT_TOGETHER =
  /\b(?:eval|getattr|import_module|__import__|atob|fromCharCode|b64decode|base64|unhexlify|public_send|instance_eval|reflect)\b|\b(?:Function|Command)\s?\(|["'`](?:node:)?vm["'`]|["'`]\s*\+\s*["'`]|\]\.join\(|\\x[0-9a-fA-F]{2}|\\u00[0-9a-fA-F]{2}/;
/** In a shell, a variable is read by its name alone. Those in capitals are mostly the environment's. */
const READS_IN_SHELL = /\$\{?[A-Z][A-Z_]/;
const SHELL = /\.(?:sh|bash|bats)$/;
const IN_BACKTICKS = /`[a-z]/;
const RUNS_BACKTICKS = /\.(?:sh|bash|bats|rb|rake|pl|pm|php|jl|ex|exs|r|R)$/;
const SOURCE = new RegExp(`\\.${ANY_CODE}$`);

/** A source that may find out where it runs: its checks run in another directory, too. */
export function mayLookAround(path: string, text: string): boolean {
  if (!isSource(path)) return false;
  const runs = RUNS_BACKTICKS.test(path) && IN_BACKTICKS.test(text);
  return runs || LOOKS.test(text) || mayReadVariables(path, text);
}

/** A source that may ask for a variable: its checks run once with variables that a sandbox lacks. */
export function mayReadVariables(path: string, text: string): boolean {
  if (!isSource(path)) return false;
  return READS.test(text) || PUT_TOGETHER.test(text) || (SHELL.test(path) && READS_IN_SHELL.test(text));
}

const isSource = (path: string): boolean => (CODE.test(path) || SOURCE.test(path)) && !isHarness(path);
