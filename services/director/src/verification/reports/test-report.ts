/**
 * What the test runners of a check report, read from its output. Pure.
 *
 * A check's exit code says nothing about tests that never ran: code under test that ends the process with 0 passes for a
 * green run. A runner's own report comes after its last test, so it is missing then, or counts fewer tests.
 */
import { REPORT_FORMS } from "./report-forms.ts";
import { missingNames, passedInFiles, passedNames, type FileCounts, type TestNames } from "./test-names.ts";

export interface RunnerReport {
  /** Tests that ran, without those that were skipped. */
  readonly ran: number;
  readonly failed: number;
  /** Reports that were announced, where the runner announces them. */
  readonly opened: number;
  readonly ended: number;
}

export interface TestReport {
  readonly runners: ReadonlyMap<string, RunnerReport>;
  /** Files that Node's runner counts as one test each, because they ended before they defined any. */
  readonly bareFiles: ReadonlySet<string>;
  /** Tests that passed, if the runners name them. */
  readonly names: TestNames;
  /** How many tests passed in each file, if the runner counts them. */
  readonly files: FileCounts;
  /** False if a part of the output was not kept. */
  readonly whole: boolean;
}

/** Longer lines are no reports. */
const LONGEST_LINE = 400;
const COLOURS = /\u001b\[[0-9;]{0,16}m/g;
const MARKED = /[0-9]|OK|FAIL|NO TESTS|cached/;
const BARE_FILE =
  /^(?:✔|(?:not )?ok \d{1,9} -) (?<path>\S{1,300}\.[cm]?[jt]sx?)(?: \(\d[\d.]{0,12}ms\)| #.{0,40})?$/;

export function readTestReport(text: string, whole = true): TestReport {
  const runners = new Map<string, RunnerReport>();
  const bareFiles = new Set<string>();
  for (const line of linesOf(text)) {
    const bare = BARE_FILE.exec(line)?.groups?.["path"];
    if (bare !== undefined) bareFiles.add(bare.slice(bare.lastIndexOf("/workspace/") + 1));
    for (const { runner, line: form, ran, failed, opens, ends } of REPORT_FORMS) {
      const match = form.exec(line);
      if (match === null) continue;
      const groups = match.groups ?? {};
      const known = runners.get(runner) ?? { ran: 0, failed: 0, opened: 0, ended: 0 };
      // The closing line of unittest is a plain word, which means nothing by itself.
      if (runner === "unittest" && opens !== true && known.opened === known.ended) continue;
      runners.set(runner, {
        ran: known.ran + (ran?.(groups) ?? 0),
        failed: known.failed + (failed?.(groups) ?? 0),
        opened: known.opened + (opens === true ? 1 : 0),
        ended: known.ended + (ends === true ? 1 : 0),
      });
    }
  }
  return { runners, bareFiles, names: passedNames(text), files: passedInFiles(text), whole };
}

function* linesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    const next = text.indexOf("\n", at);
    const end = next === -1 ? text.length : next;
    if (end - at <= LONGEST_LINE) {
      const line = text.slice(at, end).replace(COLOURS, "").trim();
      if (MARKED.test(line)) yield line;
    }
    at = end + 1;
  }
}

export function hasReport({ runners }: TestReport): boolean {
  return [...runners.values()].some(({ ended }) => ended > 0);
}

export interface Gap {
  /** `missing`: there is no complete report. `fewer`: tests of the base did not run. `failed`: it counts failures. */
  readonly kind: "missing" | "fewer" | "failed";
  /** A clause for the verdict. */
  readonly what: string;
}

/** What the base reports, and whether the check passes there. */
export interface BaseReport {
  readonly report: TestReport;
  readonly isPassed: boolean;
}

/**
 * What is wrong with the report of a changed tree on which the check passes.
 *
 * @param base null: the base was not tried, or did not end
 */
export function gapsIn(command: string, base: BaseReport | null, change: TestReport): Gap[] {
  if (base === null) return unfinished(command, change);
  return [
    ...unfinished(command, change),
    ...lackingOf(command, base.report, change),
    ...failuresIn(command, base, change),
  ];
}

/** A check may ignore failures, and tests of a test runner print some: then the base has them too, and passes. */
function failuresIn(command: string, { report, isPassed }: BaseReport, { runners }: TestReport): Gap[] {
  return [...runners].flatMap(([runner, { failed }]): Gap[] => {
    const before = report.runners.get(runner)?.failed ?? 0;
    const ignored = isPassed ? before : before - 1;
    if (failed === 0 || failed <= ignored) return [];
    return [{ kind: "failed", what: `${command} exited 0, but ${runner} reports ${failed} failures` }];
  });
}

function unfinished(command: string, { runners, whole }: TestReport): Gap[] {
  if (!whole) return [];
  return [...runners]
    .filter(([, { opened, ended }]) => opened > ended)
    .map(([runner]): Gap => ({
      kind: "missing",
      what: `${command} exited 0, but a report that ${runner} began has no end`,
    }));
}

function lackingOf(command: string, base: TestReport, change: TestReport): Gap[] {
  const gaps = [...base.runners].flatMap(([runner, before]): Gap[] => {
    if (before.ended === 0) return [];
    const now = change.runners.get(runner);
    if (now === undefined || now.ended === 0) {
      const what = `${command} exited 0 without the report of ${runner}, which the base's output has`;
      return [{ kind: "missing", what }];
    }
    if (!base.whole || !change.whole || now.ran >= before.ran) return [];
    return [
      { kind: "fewer", what: `${runner} of ${command} ran ${now.ran} tests, and ${before.ran} on the base` },
    ];
  });
  const ended = [...change.bareFiles].filter((file) => !base.bareFiles.has(file));
  const [first] = ended;
  if (first !== undefined && base.runners.has("node"))
    return [
      ...gaps,
      { kind: "fewer", what: `${first} ended before it ran the tests that it has on the base` },
    ];
  return gaps.length > 0 || !base.whole || !change.whole ? gaps : unnamedIn(command, base, change);
}

/** As many tests ran, but not the same ones. */
function unnamedIn(command: string, base: TestReport, change: TestReport): Gap[] {
  const isWhole = (file: string): boolean => {
    const now = change.files.get(file);
    return now !== undefined && now > 0 && now >= (base.files.get(file) ?? 0);
  };
  const [gone] = hasReport(base) ? missingNames(base.names, change.names, isWhole) : [];
  if (gone === undefined) return [];
  return [
    {
      kind: "fewer",
      what: `${command} does not name the test ${JSON.stringify(gone)}, which passes on the base`,
    },
  ];
}
