/**
 * Reads the changes out of a workspace. A sealed supervisor names the paths that differ and sends only the selected ones.
 * A plain one sends everything, and sends it twice where git's ignore rules have to be known first. In both cases
 * workspace/collected.ts judges the content.
 */
import { BY_PRODUCTS } from "@antiphon/git";
import { Collector, type Baseline, type CollectBounds, type Collected } from "./collected.ts";
import { IgnoreRules } from "./ignore-rules.ts";
import { RuleSink } from "./rule-sink.ts";
import { ruleFilesOf, select, SurveyReader, type Survey } from "./survey.ts";
import { TopReader } from "../layers/top-survey.ts";
import { TarReader, type TarSink } from "./tar-reader.ts";
import { sha256Hasher } from "./sha256.ts";
import { sortedPathsOf } from "./sorted-paths.ts";
import { Untouched } from "./untouched.ts";

type Hear = (piece: Buffer) => void;

export interface SelectiveReading {
  /** The baseline that the supervisor compares with; empty when it was not told to remember one. */
  readonly remembered: Baseline;
  /** The list is of what a layered sandbox's top holds (layers/top-survey.ts). */
  readonly isTop: boolean;
  look(hear: Hear): Promise<void>;
  take(paths: readonly string[], hear: Hear): Promise<void>;
}

interface WholeReading {
  whole(hear: Hear): Promise<void>;
}

const NOTHING_IGNORED: (path: string) => boolean = () => false;

export async function collectSelected(
  reading: SelectiveReading,
  baseline: Baseline,
  bounds: CollectBounds,
): Promise<Collected> {
  const { remembered } = reading;
  const survey = await surveyOf(reading, bounds.maxEntries);
  const known = bounds.gitignore === true ? await ignoredOf(reading, survey, baseline) : NOTHING_IGNORED;
  const ignores = withLeftOut(known, bounds);
  const untouched = new Untouched(baseline, remembered, survey);
  const wanted = select(survey, baseline, untouched, ignores, bounds.maxFiles);
  const collector = new Collector(baseline, bounds, sha256Hasher, ignores, untouched);
  if (wanted.length > 0) await readTar((hear) => reading.take(wanted, hear), collector);
  return collector.result();
}

async function surveyOf(reading: SelectiveReading, maxEntries: number): Promise<Survey> {
  const reader = reading.isTop ? new TopReader(maxEntries) : new SurveyReader(maxEntries);
  await reading.look((piece) => {
    reader.push(piece);
  });
  return reader.result(reading.remembered);
}

export async function collectWhole(
  reading: WholeReading,
  baseline: Baseline,
  bounds: CollectBounds,
): Promise<Collected> {
  const whole = (hear: Hear): Promise<void> => reading.whole(hear);
  let ignores = NOTHING_IGNORED;
  if (bounds.gitignore === true) {
    const sink = new RuleSink();
    await readTar(whole, sink);
    ignores = passedOver(new IgnoreRules(sink.files, BY_PRODUCTS), baseline);
  }
  const collector = new Collector(baseline, bounds, sha256Hasher, withLeftOut(ignores, bounds));
  await readTar(whole, collector);
  return collector.result();
}

function withLeftOut(
  ignores: (path: string) => boolean,
  { leftOut }: CollectBounds,
): (path: string) => boolean {
  return leftOut === undefined ? ignores : (path) => leftOut.has(path) || ignores(path);
}

async function ignoredOf(
  reading: SelectiveReading,
  survey: Survey,
  baseline: Baseline,
): Promise<(path: string) => boolean> {
  if (survey.changed.every((path) => baseline.has(path))) return NOTHING_IGNORED;
  const byProducts = new IgnoreRules([], BY_PRODUCTS);
  const paths = ruleFilesOf(survey, reading.remembered, byProducts);
  const sink = new RuleSink();
  if (paths.length > 0) await readTar((hear) => reading.take(paths, hear), sink);
  return passedOver(new IgnoreRules(sink.files, BY_PRODUCTS), baseline);
}

/** A path that takes the place of a former directory is not ignored. */
function passedOver(rules: IgnoreRules, baseline: Baseline): (path: string) => boolean {
  return (path) => rules.ignores(path) && !sortedPathsOf(baseline).hasBelow(`${path}/`);
}

async function readTar(from: (hear: Hear) => Promise<void>, sink: TarSink): Promise<void> {
  const reader = new TarReader(sink);
  await from((piece) => {
    reader.push(piece);
  });
  reader.finish();
}
