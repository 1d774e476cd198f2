/**
 * Lines by which a source asks where or when it runs: they compare the clock with a date that is still to come, the working
 * directory with a path of a sandbox, the host's name with a sandbox's, look for a test beside the source, or search the
 * command line for a test. A source that branches on these answers a check as it answers nobody else. Pure.
 *
 * The table is narrow: reading the clock, the directory, the arguments or a variable is no sign, nor is a date that has
 * passed, because the check then ran the branch that runs from now on. A name that is bound to one side of a comparison in
 * the same file counts as that side.
 */
import { isTestByName } from "./side.ts";

export interface Whereabouts {
  readonly what: string;
  /** Counted from 1. */
  readonly line: number;
  /** The line without blanks around it. */
  readonly text: string;
}

export const CODE =
  /\.(?:[mc]?[jt]sx?|pyi?|rb|rake|go|rs|java|kts?|scala|groovy|php|sh|bash|bats|pl|pm|cs|swift|lua|exs?)$/;
const MOST_NAMES = 16;
/** Longer lines are read in pieces, which overlap by more than one comparison. */
const MOST_LINE = 2_000;
const OVERLAP = 400;

/** The clock, in many languages, with what is read of it. */
const NOW = [
  "Date\\.now\\(\\)",
  "new\\s+Date\\(\\)",
  "time\\.time(?:_ns)?\\(\\)",
  "(?:datetime|date|DateTime|Date|Time|LocalDate|LocalDateTime|Instant|ZonedDateTime|OffsetDateTime|Year|Utc|Local|SystemTime|Clock\\.System|Carbon)(?:\\.|::|->)(?:now|utcnow|today|utc_now|UtcNow|Now|Today)\\b(?:\\([^()\\n]{0,40}\\))?",
  "time\\.Now\\(\\)",
  "System\\.currentTimeMillis\\(\\)",
  "Process\\.clock_gettime\\(Process::CLOCK_REALTIME\\)",
  "(?<![\\w.>:$])time\\(\\)",
  "microtime\\(true\\)",
  "os\\.time\\(\\)",
  "new\\s+DateTime(?:Immutable)?\\(\\)",
  "\\$\\(\\s*date\\s+[^()\\n]{1,30}\\)",
  "\\$\\{?EPOCH(?:SECONDS|REALTIME)\\b\\}?",
].join("|");
/** A moment as a number of seconds or milliseconds, a date in a call or in quotes, or a year. */
const MOMENT =
  "(?:\\d(?:_?\\d){9}(?:(?:_?\\d){3})?|\\d(?:\\.\\d{1,12})?[eE]\\+?\\d{1,2})[lLn]?(?![\\w.])|(?:new\\s+)?[\\w.:]{0,30}\\(\\s*[\"'`]?20\\d\\d\\b[^()\\n]{0,60}\\)|[\"'`]20\\d\\d-?\\d\\d[^\"'`\\n]{0,30}[\"'`]|20\\d\\d(?:\\d{4})?\\b";
const READ_OF_NOW =
  "(?:\\)|[\"'`]|\\s*(?:\\.|->|::)\\s*\\w+[?!]?(?:\\([^()\\n]{0,60}\\))?|\\s+as\\s+\\w+|\\s*//?\\s*1_?000\\b){0,5}";
const ORDER =
  "\\s*(?:<=?|>=?|[!=]==?|<=>|-(?:lt|le|gt|ge|eq|ne)\\b)\\s*|(?:\\.|->)(?:is_?)?(?:[bB]efore|[aA]fter|compareTo|cmp|lt|gt|lte|gte|Compare|Equal)\\??\\(\\s*";

/** The directory, or the place of the program or of the source. */
const HERE =
  'process\\.(?:cwd\\(\\)|env(?:\\.|\\[["\'`])(?:PWD|HOME)\\b)|(?<![\\w.])cwd\\(\\)|__dirname|__filename|import\\.meta\\.(?:url|dirname|filename)|os\\.getcwdb?\\(\\)|Path\\.cwd\\(\\)|__file__|os\\.environ(?:\\.get\\(|\\[)\\s*["\'](?:PWD|HOME)["\']|Dir\\.(?:pwd|getwd)|__dir__|__FILE__|os\\.(?:Getwd|Executable)\\(\\)|os\\.Getenv\\("(?:PWD|HOME)"\\)|current_(?:dir|exe)\\(\\)|System\\.getProperty\\(\\s*"user\\.(?:dir|home)"|getcwd\\(\\)|__DIR__|\\$\\{?(?:PWD|HOME)\\b|\\$\\(\\s*pwd\\s*\\)|`pwd`|\\$FindBin::';
const OF_SANDBOX = "/(?:workspace|tmp)(?=[/\"'`*)|\\s\\]]|$)";
const HOST_NAME =
  "hostname\\(\\)|gethostname\\(\\)|platform\\.node\\(\\)|Socket\\.gethostname|os\\.Hostname\\(\\)|getHostName\\(\\)|\\$\\{?HOSTNAME\\b|\\$\\(\\s*hostname\\s*\\)|process\\.env\\.HOSTNAME";
const BRANCH =
  "[!=]==?|=~|(?:^|\\s)\\[{1,2}\\s|\\bany\\?|\\b(?:case|when|in|match|grep)\\b|\\b(?:starts?_?with|startsWith|StartsWith|ends?_?with|EndsWith|endsWith|includes?|contains?|Contains|indexOf|HasPrefix|HasSuffix|str_starts_with|str_contains|strpos|is_relative_to|relativeTo|search|test|EqualFold)\\b";
const EXISTS =
  "\\b(?:exists(?:Sync)?|access(?:Sync)?|l?stat(?:Sync)?|isfile|isdir|is_file|is_dir|file_exists|Exists|Stat|Lstat|isDirectory|isRegularFile|try_exists|metadata)\\b|\\b(?:file|directory|exist)\\?|(?:\\[|\\btest\\b)\\s+!?\\s*-[efdsr]\\b|(?<![\\w-])-[efdsr]\\s+[\"'/$]";
const BESIDE = "__dirname|__filename|import\\.meta|__file__|__dir__|__FILE__|__DIR__";

/** All of the command line, or that of a process as the kernel tells it. */
const WORDS =
  'process\\.argv\\s*(?:\\.slice\\([^()\\n]{0,20}\\))?\\s*(?:\\?\\.|\\.)(?:join|some|find\\w*|filter|toString|map|every|reduce)\\b|(?:String|stringify)\\(\\s*process\\.argv|\\$\\{\\s*process\\.argv\\s*\\}|(?:join|str|repr|any|all|filter)\\((?=[^\\n]{0,80}\\bsys\\.(?:orig_)?argv\\b)|\\bin\\s+(?:["\'].{0,3}["\']\\.join\\()?\\(?sys\\.orig_argv\\b|\\bARGV\\.(?:join|any\\?|to_s|inspect|find|grep)|\\$PROGRAM_NAME\\b|strings\\.\\w+\\(\\s*(?:strings\\.Join\\(\\s*)?os\\.Args\\b|\\benv::args(?:_os)?\\(\\)|"sun\\.java\\.command"|getInputArguments\\(\\)|/proc/(?:self|\\d+|\\$\\{?\\w+\\}?|\\$\\$)/cmdline';
/** The program's name, where `$0` is that and not the first parameter of a closure. In a shell, awk has one of its own. */
const NAMED = /\.(?:rb|rake|php|pl|pm)$/;
const SHELL = /\.(?:sh|bash|bats)$/;
const PROGRAM = "\\$0\\b";
const PROGRAM_OF_SHELL = "\\$0\\b(?!\\s*!?~)";
const IN_QUOTES = /'[^'\n]*'/g;
const TESTED =
  "[\"'`/](?:[^\"'`/\\n]{0,40}[^\"'`/\\n\\w-])?-{0,2}\\.?(?:tests?|specs?|jest|vitest|mocha|py\\.?test|unittest|rspec|minitest|phpunit|junit|surefire|prove)\\b|\\*-?(?:tests?|specs?|pytest|bats)\\b";

/** A word at a fixed place is a command of the program, and `--test` its own option: no runner hands these over. */
const OWN_WORD =
  /[\w)](?:\[\d{1,2}\]|\.(?:nth|get|at)\(\d{1,2}\))[^\n=!"'`]{0,30}[!=]==?\s*(?:Some\()?&?["'`](?:tests?|specs?)["'`]|["'`]--?(?:tests?|specs?)\b[^"'`\n]{0,20}["'`]/g;
const AS_TOLD_BY_KERNEL = /cmdline|orig_argv|sun\.java/;

const GAP = "[^\\n]{0,160}?";
/** Within one comparison. */
const SIDE = "(?:(?!\\|\\||&&|\\b(?:or|and)\\b)[^\\n]){0,160}?";
/** Years that a date may have at all. */
const CENTURY = /\b1\d{3}\s*<=?\s*[^\n<>]{1,80}<=?\s*(?:2099|2[1-9]\d\d|9999)\b/;
const QUOTED = /["'`]([^"'`\n]{1,200})["'`]|(?<=\s)(\/workspace\/[^\s"'`\]]{1,200})/g;

const CLOCK = "compares the clock with a date that is still to come";
const DIRECTORY = "asks whether it runs in a sandbox";
const NEIGHBOUR = "looks for a test";
const COMMAND_LINE = "asks whether a test runs it";

/**
 * @param isKnown whether a file of this name is in the tree
 * @param now the time of the change, in milliseconds
 */
export function whereaboutsIn(
  path: string,
  text: string,
  isKnown: (name: string) => boolean,
  now: number,
): readonly Whereabouts[] {
  if (!CODE.test(path)) return [];
  const lines = text
    .split("\n")
    .flatMap((line, i) => piecesOf(line).map((piece) => ({ piece, line: i + 1 })));
  const whole = lines.map(({ piece }) => piece).join("\n");
  const clock = either(NOW, boundTo(whole, `(?:${NOW})${READ_OF_NOW}\\s*;?\\s*$`));
  const moments = boundMoments(whole, now);
  const moment = either(MOMENT, moments);
  const order = [
    new RegExp(`(?:${clock})${READ_OF_NOW}(?:${ORDER})\\(*\\s*["']?(${moment})`),
    new RegExp(
      `(${moment})["')\\]]*(?:\\.\\w+\\(\\))?(?:${ORDER})["'(]*(?:${clock})(?!(?:\\([^()\\n]{0,40}\\))?${READ_OF_NOW}\\s*-(?!>|[ao]\\s))`,
    ),
  ];
  const here = either(HERE, boundTo(whole, `[^=\\n]{0,60}?(?:${HERE})[^\\n]{0,80}$`));
  const places = [
    new RegExp(`(?:${here})${SIDE}${OF_SANDBOX}`),
    new RegExp(`${OF_SANDBOX}${SIDE}(?:${here})`),
  ];
  const host = new RegExp(
    `(?:${HOST_NAME})${GAP}["'\`]sandbox["'\`]|["'\`]sandbox["'\`]${GAP}(?:${HOST_NAME})`,
  );
  const branch = new RegExp(BRANCH);
  const exists = new RegExp(EXISTS);
  const all = wordsOf(path);
  const words = either(all, boundTo(whole, `[^=\\n]{0,40}?(?:${all})[^\\n]{0,80}$`));
  const tested = new RegExp(`(?:${words})${GAP}(?:${TESTED})|(?:${TESTED})${GAP}(?:${words})`);
  const known = new Set(moments);
  return lines.flatMap(({ piece: line, line: number }) => {
    const at = (what: string): Whereabouts => ({ what, line: number, text: line.trim() });
    if (isRemark(line)) return [];
    if (!CENTURY.test(line) && order.some((form) => isAhead(form.exec(line)?.[1], known, now)))
      return [at(CLOCK)];
    if (places.some((form) => form.test(line)) && branch.test(line)) return [at(DIRECTORY)];
    if (host.test(line)) return [at(DIRECTORY)];
    if (exists.test(line) && asksForTest(line, isKnown)) return [at(NEIGHBOUR)];
    if (tested.test(told(path, line)) && branch.test(line)) return [at(COMMAND_LINE)];
    return [];
  });
}

function piecesOf(line: string): string[] {
  if (line.length <= MOST_LINE) return [line];
  const step = MOST_LINE - OVERLAP;
  return Array.from({ length: Math.ceil((line.length - OVERLAP) / step) }, (_, i) =>
    line.slice(i * step, i * step + MOST_LINE),
  );
}

function wordsOf(path: string): string {
  if (SHELL.test(path)) return `${WORDS}|${PROGRAM_OF_SHELL}`;
  return NAMED.test(path) ? `${WORDS}|${PROGRAM}` : WORDS;
}

/** The line without words that are no runner's. */
function told(path: string, line: string): string {
  const plain = SHELL.test(path)
    ? line.replaceAll(IN_QUOTES, (text) => (text.includes("$0") ? "''" : text))
    : line;
  return AS_TOLD_BY_KERNEL.test(plain) ? plain : plain.replaceAll(OWN_WORD, "");
}

const isRemark = (line: string): boolean => /^\s*(?:\/\/|\/?\*|#(?!!)|--\s)/.test(line);

const either = (form: string, names: readonly string[]): string =>
  names.length === 0 ? form : `${form}|(?<![\\w.$])\\$?(?:${names.join("|")})(?!\\w)`;

/** Names that get such a value in the same line. */
function boundTo(text: string, value: string): readonly string[] {
  const form = new RegExp(
    `(?:^|[\\s;{(])\\$?([A-Za-z_]\\w{0,60})(?:\\s*:\\s*[\\w<>]{1,40})?(?:,\\s*_)?\\s*:?=(?![=>~])\\s*${value}`,
    "gm",
  );
  return [...new Set([...text.matchAll(form)].map(([, name = ""]) => name))].slice(0, MOST_NAMES);
}

/** Names that are bound to a moment that is still to come. */
function boundMoments(text: string, now: number): readonly string[] {
  const form = new RegExp(
    `(?:^|[\\s;{(])\\$?([A-Za-z_]\\w{0,60})(?:\\s*:\\s*[\\w<>]{1,40})?\\s*:?=(?![=>~])\\s*["']?(${MOMENT})`,
    "gm",
  );
  const found = [...text.matchAll(form)].filter(([, , value]) => isAhead(value, new Set(), now));
  return [...new Set(found.map(([, name = ""]) => name))].slice(0, MOST_NAMES);
}

/** @param known names of moments that are still to come */
function isAhead(moment: string | undefined, known: ReadonlySet<string>, now: number): boolean {
  if (moment === undefined) return false;
  if (known.has(moment.replace(/^\$/, ""))) return true;
  const year = new Date(now).getUTCFullYear();
  const plain = Number(moment.replaceAll("_", "").replace(/[lLn]$/, ""));
  if (Number.isNaN(plain)) return Number(/20\d\d/.exec(moment)?.[0] ?? 0) >= year;
  if (/[eE]/.test(moment) && plain < 1e9) return false;
  if (plain < 1e8) return plain < 1e4 ? plain >= year : Math.floor(plain / 1e4) >= year;
  return (plain < 1e11 ? plain * 1000 : plain) > now && plain <= 1e16;
}

/** A test of the tree, a path of the sandbox, or a directory of tests beside the source. */
function asksForTest(line: string, isKnown: (name: string) => boolean): boolean {
  const beside = new RegExp(BESIDE).test(line);
  return [...line.matchAll(QUOTED)].some(([, quoted, bare]) => {
    const path = quoted ?? bare ?? "";
    if (/^\/workspace(?:\/|$)/.test(path)) return true;
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (isTestByName(name) && isKnown(name)) return true;
    return beside && /^(?:[./]*\/)?(?:tests?|__tests__|specs?)\/?$/.test(path);
  });
}
