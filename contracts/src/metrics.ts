/**
 * All metrics that services serve to Prometheus, each with its meaning. Names follow Prometheus' conventions: base units
 * (seconds, bytes), `_total` for counts that only grow. No label holds an id or text of a user, so the number of series is
 * bounded. docs/reference/metrics.md is generated from this table.
 */

interface Metric {
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, in seconds. */
  readonly buckets?: readonly number[];
}

/** Answers of a process. */
const SHORT = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Stages of a run. */
const LONG = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];

const counter = <const L extends readonly string[]>(help: string, labels: L) =>
  ({ type: "counter", help, labels }) as const;
const gauge = <const L extends readonly string[]>(help: string, labels: L) =>
  ({ type: "gauge", help, labels }) as const;
const histogram = <const L extends readonly string[]>(
  help: string,
  labels: L,
  buckets: readonly number[] = LONG,
) => ({ type: "histogram", help, labels, buckets }) as const;

export const METRICS = {
  // Runs, counted by the Director that stored the record, or that was first given it.
  antiphon_runs_total: counter("Runs that ended, by how. Code `none`: the run succeeded.", [
    "workflow",
    "status",
    "agent",
    "code",
  ]),
  antiphon_run_duration_seconds: histogram("From the intent to the end of a run.", ["workflow", "status"]),
  antiphon_time_to_land_seconds: histogram("From the intent to each landing on the run's branch.", [
    "workflow",
  ]),
  antiphon_routing_duration_seconds: histogram("From the intent to its workflow and plan.", [], SHORT),
  antiphon_queue_wait_seconds: histogram("From the dispatch of an attempt to its claim by an Associate.", [
    "agent",
  ]),
  antiphon_attempts_total: counter(
    "Attempts that ended: reported by their Associate, abandoned, or lapsed (the lease expired).",
    ["agent", "kind", "code"],
  ),
  antiphon_attempt_duration_seconds: histogram("From the claim of an attempt to its result.", ["agent"]),
  antiphon_verdicts_total: counter("Verdicts of the clean room. Code `none`: a plain PASS.", [
    "verdict",
    "code",
  ]),
  antiphon_verification_duration_seconds: histogram("From the result of an attempt to its verdict.", [
    "verdict",
  ]),
  antiphon_clean_room_duration_seconds: histogram(
    "One order of checks in the clean room, the wait for its sandbox included.",
    ["purpose", "outcome"],
  ),
  antiphon_landings_total: counter("Landings, and landings that git refused. Code `none`: it landed.", [
    "kind",
    "code",
  ]),

  // Queues and storage, read from the server by the gateway at each scrape.
  antiphon_open_runs: gauge("Runs that are accepted and not closed.", []),
  antiphon_consumer_pending_messages: gauge("Records that wait for a consumer.", ["consumer"]),
  antiphon_consumer_unacknowledged_messages: gauge("Records that a consumer works on.", ["consumer"]),
  antiphon_consumer_redelivered_messages: gauge("Records in work that were delivered before.", ["consumer"]),
  antiphon_dead_letters: gauge("Dead letters that wait for an operator.", []),
  antiphon_journal_bytes: gauge("Size of the journal's streams.", []),
  antiphon_journal_records: gauge("Records in the journal's streams.", []),

  // Every service.
  antiphon_build_info: gauge("Always 1; the version is a label.", ["version"]),
  antiphon_bus_up: gauge("1 while connected to NATS.", []),
  antiphon_publisher_pending: gauge("Messages queued or in flight to JetStream.", []),
  antiphon_publisher_commits_total: counter(
    "Commits by kind: singles, batches, messages in batches, and messages sent again.",
    ["kind"],
  ),
  antiphon_forged_decisions_total: counter(
    "Messages on the subject of a decision that no trusted Director signed.",
    [],
  ),
  antiphon_deliveries_total: counter(
    "Records handled, by outcome: done, retry, or terminal (a dead letter).",
    ["consumer", "outcome", "code"],
  ),
  antiphon_delivery_duration_seconds: histogram("The time a service takes to handle a record.", ["consumer"]),

  // Gateway.
  antiphon_http_requests_total: counter("Answered HTTP requests, by route pattern.", [
    "method",
    "route",
    "status",
  ]),
  antiphon_http_request_duration_seconds: histogram(
    "From a request to its answer. Event streams are left out.",
    ["method", "route"],
    SHORT,
  ),

  // Director.
  antiphon_forged_outcomes_total: counter(
    "Answers to jobs of the clean room without the signature of a trusted runner. They were not used.",
    ["state"],
  ),

  // Sandbox-runner.
  antiphon_sandbox_pool: gauge(
    "Sandboxes that are ready, starting and leased, and how many the pool wants ready.",
    ["state"],
  ),
  antiphon_sandbox_slots: gauge("Places for jobs and sessions, used and free.", ["state"]),
  antiphon_sandbox_taken_total: counter(
    "Sandboxes taken: ready ones (warm), and ones that had to be started first (cold).",
    ["state"],
  ),
  antiphon_sandbox_wait_seconds: histogram("The time a job or session waits for its sandbox.", ["start"]),
  antiphon_sandbox_jobs_total: counter("Jobs that ended. `busy`: there was no free place.", [
    "purpose",
    "outcome",
    "code",
  ]),
  antiphon_sandbox_job_duration_seconds: histogram("From the acceptance of a job to its outcome.", [
    "purpose",
  ]),

  // Egress gateway.
  antiphon_egress_leases: gauge("Sandboxes that are connected.", []),
  antiphon_egress_requests_total: counter(
    "Requests of sandboxes, by decision: allow, refuse, or fault (the upstream failed).",
    ["decision", "code"],
  ),
  antiphon_egress_bytes_total: counter("Bytes that sandboxes sent (up) and received (down).", ["direction"]),
  antiphon_model_calls_total: counter("Metered model calls.", ["host", "model"]),
  antiphon_model_tokens_total: counter("Tokens charged for model calls.", ["host", "model"]),
  antiphon_model_cost_dollars_total: counter("US dollars charged for model calls.", ["host", "model"]),
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricName = keyof typeof METRICS;
type OfType<T extends Metric["type"]> = {
  [N in MetricName]: (typeof METRICS)[N]["type"] extends T ? N : never;
}[MetricName];
export type CounterName = OfType<"counter">;
export type GaugeName = OfType<"gauge">;
export type HistogramName = OfType<"histogram">;
/** A value for each label of the metric. */
export type LabelsOf<N extends MetricName> = N extends MetricName
  ? Readonly<Record<(typeof METRICS)[N]["labels"][number], string>>
  : never;

export const METRIC_NAMES = Object.keys(METRICS) as readonly MetricName[];
