// Commands under the names that other tools give them. Pure.

type Names = Readonly<Record<string, string>>;

const OF_ALL: Names = {
  list: "runs",
  ls: "runs",
  ps: "runs",
  history: "runs",
  status: "get",
  show: "get",
  inspect: "get",
  describe: "get",
  start: "run",
  create: "run",
  submit: "run",
  stop: "cancel",
  kill: "cancel",
  abort: "cancel",
  log: "logs",
  watch: "events",
  follow: "events",
  tail: "logs",
  test: "check",
  verify: "check",
  patch: "diff",
  rerun: "retry",
  up: "dev",
  artifacts: "evidence get",
  export: "evidence export",
};

/** By the words before the unknown one. */
const OF_COMMAND: Readonly<Record<string, Names>> = {
  "": OF_ALL,
  evidence: { list: "evidence get", ls: "evidence get", show: "evidence get", download: "evidence export" },
  runs: { list: "runs", ls: "runs", get: "get", show: "get" },
  images: { ls: "images list" },
  dlq: { ls: "dlq list", get: "dlq show" },
};

/** Each name with the command that it means, for the test that all of them exist. */
export const OTHER_NAMES: readonly (readonly [string, string])[] = Object.entries(OF_COMMAND).flatMap(
  ([parent, names]) =>
    Object.entries(names).map(([name, meant]) => [`${parent} ${name}`.trim(), meant] as const),
);

/** The command that an unknown word of a command line probably means; null: no other tool has one of this name. */
export function otherName(args: readonly string[], unknown: string): string | null {
  const parents = args.slice(0, args.indexOf(unknown)).filter((word) => !word.startsWith("-"));
  const names = OF_COMMAND[parents.join(" ")] ?? {};
  return Object.hasOwn(names, unknown) ? (names[unknown] ?? null) : null;
}
