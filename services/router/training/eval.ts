/**
 * `npm run eval:router`: measures the committed model on the hands that nothing was tuned to, and, with new fits, on each
 * training hand left out. Prints Markdown.
 */
import { classify } from "../src/classification/classify.ts";
import { shares } from "../src/classification/linear-model.ts";
import { WORKFLOWS } from "../src/classification/workflows.ts";
import { rowsOf, temperatureFor, thresholdFor } from "./fitting.ts";
import {
  HELD_OUT_HANDS,
  OWN_HANDS,
  requestsOf,
  SAME_WRITER_HANDS,
  TRAINING_HANDS,
} from "./labelled-requests.ts";
import type { LabelledRequest } from "./labelled-requests.ts";
import { leaveOneOut } from "./leave-one-out.ts";
import { accuracyOf, calibrationErrorOf, classesOf, confusionOf, doubtOf } from "./report.ts";
import type { Judged } from "./report.ts";

type Decision = Judged & { readonly request: LabelledRequest };

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const row = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;
const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");

function by(decisions: readonly Decision[], key: "hand" | "lang"): [string, Decision[]][] {
  const groups = new Map<string, Decision[]>();
  for (const one of decisions) groups.set(one.request[key], [...(groups.get(one.request[key]) ?? []), one]);
  return [...groups];
}

function print(title: string, decisions: readonly Decision[]): void {
  const { unsure, ofWrong } = doubtOf(decisions);
  const confusion = confusionOf(decisions);
  const parts = [
    `## ${title}`,
    `${decisions.length} requests, accuracy ${percent(accuracyOf(decisions))}, calibration error ${percent(calibrationErrorOf(decisions))}; ` +
      `unsure ${percent(unsure)}, of the wrong ones ${percent(ofWrong)}`,
    table(
      ["Workflow", "Recall", "Precision", "F1", ...WORKFLOWS.map((name) => `as ${name}`)],
      classesOf(decisions).map(({ workflow, recall, precision, f1 }) => [
        workflow,
        ...[recall, precision, f1].map(percent),
        ...WORKFLOWS.map((name) => confusion[workflow][name]),
      ]),
    ),
    ...(["hand", "lang"] as const).map((key) =>
      table(
        [key === "hand" ? "Hand" : "Language", "Requests", "Accuracy"],
        by(decisions, key).map(([name, group]) => [name, group.length, percent(accuracyOf(group))]),
      ),
    ),
  ];
  console.log(`${parts.join("\n\n")}\n`);
}

const heldOut = requestsOf(HELD_OUT_HANDS);
for (const { text } of heldOut.slice(0, 50)) classify(text, null);
const startedAt = process.cpuUsage();
const decide = (request: LabelledRequest): Decision => ({
  ...classify(request.text, null),
  label: request.label,
  request,
});
const decided = heldOut.map(decide);
const { user, system } = process.cpuUsage(startedAt);
const tookMs = (user + system) / 1000 / heldOut.length;
print("Hands that nothing was tuned to", decided);
console.log(`${tookMs.toFixed(3)} ms of processor time a request\n`);
print("Hands of the writers of hands 16 to 29", requestsOf(SAME_WRITER_HANDS).map(decide));

const leftOut = leaveOneOut(rowsOf(requestsOf([...TRAINING_HANDS, ...OWN_HANDS])));
const temperature = temperatureFor(leftOut);
const sureFrom = thresholdFor(leftOut, temperature, 0.86);
print(
  "Each training hand, by a model that never saw it",
  leftOut.map(({ request, scores }) => {
    const parts = shares(scores, temperature);
    const confidence = Math.max(...parts);
    const workflow = WORKFLOWS[parts.indexOf(confidence)] ?? "BUILD";
    return { request, label: request.label, workflow, confidence, unsure: confidence < sureFrom };
  }),
);
