/** Reference pages of existing tables: errors, limits, subjects, topology, headers. */
import { ERROR_CODES, ERRORS } from "../errors.ts";
import { HEADER_MEANINGS, HEADERS } from "../wire/headers.ts";
import { LIMITS } from "../limits.ts";
import { METRIC_NAMES, METRICS } from "../metrics.ts";
import { AGENT_KINDS, AGENTS } from "../runs/agents.ts";
import { RUN_OPTION_NAMES, RUN_OPTIONS } from "../runs/run-options.ts";
import { subjectList } from "../topology/subject-list.ts";
import { LEAF_TYPES } from "../journal/record.ts";
import { CONSUMER_TYPES, topology } from "../topology/topology.ts";
import { cell, page, table } from "./markdown.ts";

export function errorsPage(): string {
  return page([
    "# Errors",
    "Programs match on the code, never on the text. `retry`: the same operation may succeed later. `attempt`: this " +
      "attempt is over, the next epoch may succeed. `terminal`: a retry changes nothing.",
    table(
      ["Code", "Disposition", "HTTP", "Exit", "Meaning", "Remedy"],
      ERROR_CODES.map((code) => {
        const { disposition, httpStatus, exitCode, meaning, remedy } = ERRORS[code];
        return [
          `\`${code}\``,
          disposition,
          String(httpStatus),
          String(exitCode),
          cell(meaning),
          cell(remedy),
        ];
      }),
    ),
  ]);
}

export function limitsPage(): string {
  return page([
    "# Limits",
    "All limits, each with its unit, its reason and the behaviour at the limit.",
    table(
      ["Limit", "Value", "Unit", "Reason", "At the limit"],
      LIMITS.map(({ name, value, unit, reason, atTheBound }) => [
        `\`${name}\``,
        String(value),
        unit,
        cell(reason),
        cell(atTheBound),
      ]),
    ),
  ]);
}

export function metricsPage(): string {
  return page([
    "# Metrics",
    "What services serve to Prometheus ([the guide](../guides/observe.md)). Every metric has the label `service`; those of the process itself (`process_*`, " +
      "`nodejs_*`) are not listed. No label holds an id or a user's text.",
    table(
      ["Metric", "Type", "Labels", "Meaning"],
      METRIC_NAMES.map((name) => {
        const { type, labels, help } = METRICS[name];
        return [`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(" "), cell(help)];
      }),
    ),
  ]);
}

export function runOptionsPage(): string {
  const flagsOf = (flags: readonly { flag: string }[]): string =>
    flags.map(({ flag }) => `\`${flag}\``).join("<br>");
  return page([
    "# Run options",
    "How to carry out a run. `inputs` and `constraints` are the two objects of an intent. The shapes are in " +
      "[`RunOptions.v1`](contracts/RunOptions.v1.md).",
    table(
      ["Option", "In", "`antiphon run`", "Default", "Meaning"],
      RUN_OPTION_NAMES.map((name) => {
        const { place, schema, flags } = RUN_OPTIONS[name];
        const { default: preset, description = "" } = schema as { default?: unknown; description?: string };
        return [
          `\`${name}\``,
          place ?? "the gateway writes it",
          flagsOf(flags),
          preset === undefined ? "" : `\`${JSON.stringify(preset)}\``,
          cell(description),
        ];
      }),
    ),
    "## Agents",
    table(
      ["Kind", "`antiphon run`", "Meaning"],
      AGENT_KINDS.map((kind) => {
        const { description, flags } = AGENTS[kind];
        return [`\`${kind}\``, flagsOf(flags), cell(description)];
      }),
    ),
  ]);
}

export function subjectsPage(): string {
  return page([
    "# Subjects",
    "`antiphon.v1.<plane>.<low cardinality first>.<ids last>`: lower case, never user text. A task id is lower-cased.",
    table(
      ["Subject", "What it carries", "Kept in"],
      subjectList().map(({ subject, carries, keptIn }) => [`\`${cell(subject)}\``, cell(carries), keptIn]),
    ),
  ]);
}

export function topologyPage(): string {
  const bytes = (value: number): string => (value === -1 ? "unbounded" : String(value));
  return page([
    "# Streams, consumers, buckets",
    "## Streams",
    table(
      [
        "Stream",
        "Subjects",
        "Storage",
        "Discard",
        "Max age (ms)",
        "Max bytes",
        "Max message",
        "Direct",
        "Atomic",
        "Purpose",
      ],
      topology.streams.map((stream) => [
        `\`${stream.name}\``,
        stream.subjects.map((subject) => `\`${cell(subject)}\``).join(" "),
        stream.storage,
        stream.discard,
        stream.maxAgeMs === 0 ? "none" : String(stream.maxAgeMs),
        bytes(stream.maxBytes),
        bytes(stream.maxMessageBytes),
        stream.allowDirect ? "yes" : "no",
        stream.allowAtomicPublish ? "yes" : "no",
        cell(stream.purpose),
      ]),
    ),
    "## Consumers",
    table(
      ["Consumer", "Stream", "Filters", "Ack wait (ms)", "Max deliver", "Max ack pending", "Purpose"],
      topology.consumers.map((consumer) => [
        `\`${consumer.name}\``,
        `\`${consumer.stream}\``,
        consumer.filterSubjects.map((subject) => `\`${cell(subject)}\``).join(" "),
        String(consumer.ackWaitMs),
        String(consumer.maxDeliver),
        String(consumer.maxAckPending),
        cell(consumer.purpose),
      ]),
    ),
    "## Consumers of each record type",
    table(
      ["Reader", "Records"],
      [
        ...Object.entries(CONSUMER_TYPES).map(([reader, types]) => [reader, types.join(", ")]),
        ["none", LEAF_TYPES.join(", ")],
      ],
    ),
    "## Buckets",
    table(
      ["Bucket", "Kind", "Keys", "History", "Purpose"],
      topology.buckets.map(({ name, kind, keys, history, purpose }) => [
        `\`${name}\``,
        kind,
        cell(keys),
        String(history),
        cell(purpose),
      ]),
    ),
  ]);
}

export function headersPage(): string {
  return page([
    "# Headers",
    "Header names are case-sensitive in nats.js.",
    table(
      ["Header", "Meaning"],
      (Object.keys(HEADERS) as (keyof typeof HEADERS)[]).map((key) => [
        `\`${HEADERS[key]}\``,
        cell(HEADER_MEANINGS[key]),
      ]),
    ),
  ]);
}
