/** The alerts and the dashboard ask only for metrics and labels that services have. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { METRICS, METRIC_NAMES, type MetricName } from "@antiphon/contracts";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { promtoolFaults } from "../../support/promtool.ts";

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), "utf8");

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly look: string };
}
interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const rules = (parse(read("deploy/monitoring/alerts.yml")) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const dashboard = JSON.parse(read("deploy/monitoring/grafana-dashboard.json")) as { panels: Panel[] };
const targets = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map((target) => ({ title, ...target })),
);

/** Labels that Prometheus and our registry add. */
const ADDED = ["service", "instance", "job", "le"];

/** The metric that a series belongs to: a histogram has three series. */
function metricOf(series: string): string {
  const base = series.replace(/_(bucket|sum|count)$/, "");
  return METRICS[base as MetricName]?.type === "histogram" ? base : series;
}

/** Unknown metrics, and labels that the metrics of the expression do not have. */
function faultsOf(expr: string, shown = ""): string[] {
  const series = [...new Set(expr.match(/antiphon_[a-z_]+/g))];
  const unknown = series.filter((one) => !METRIC_NAMES.includes(metricOf(one) as MetricName));
  const known: string[] = series.flatMap((one) => METRICS[metricOf(one) as MetricName]?.labels ?? []);
  const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/,\s*/));
  const selected = [...expr.matchAll(/([a-z_]+)(=|!=|=~|!~)"/g)].map(([, label = ""]) => label);
  const legend = [...shown.matchAll(/\{\{\s*\$?(?:labels\.)?([a-z]+)\s*\}\}/g)].map(
    ([, label = ""]) => label,
  );
  const stray = [...grouped, ...selected, ...legend].filter(
    (label) => label !== "value" && !known.includes(label) && !ADDED.includes(label),
  );
  return [...unknown, ...stray];
}

describe("monitoring files", () => {
  test("the check itself finds an unknown metric and a label that a metric lacks", () => {
    expect(faultsOf("sum by (run) (antiphon_runs_total)")).toEqual(["run"]);
    expect(faultsOf("rate(antiphon_run_total[5m])")).toEqual(["antiphon_run_total"]);
    expect(faultsOf('antiphon_runs_total{verdict="PASS"}')).toEqual(["verdict"]);
    expect(faultsOf("antiphon_runs_bucket")).toEqual(["antiphon_runs_bucket"]);
  });

  test.each(rules.map((rule) => [rule.alert, rule] as const))("%s asks for what exists", (name, rule) => {
    expect(faultsOf(rule.expr, rule.annotations.summary)).toEqual([]);
    expect(name).toMatch(/^Antiphon[A-Z]/);
    expect(["critical", "warning"]).toContain(rule.labels.severity);
    expect(rule.annotations.look.length).toBeGreaterThan(10);
  });

  test.each(targets.map((target) => [`${target.title}: ${target.expr}`, target] as const))(
    "%s",
    (_name, target) => {
      expect(faultsOf(target.expr, target.legendFormat)).toEqual([]);
    },
  );

  test("promtool accepts the configuration and the rules, and each alert fires on what it means, and not before", () => {
    expect(promtoolFaults(["check", "config", "deploy/monitoring/prometheus.yml"])).toBe("");
    expect(promtoolFaults(["check", "rules", "deploy/monitoring/alerts.yml"])).toBe("");
    expect(promtoolFaults(["test", "rules", "deploy/monitoring/alerts.test.yml"])).toBe("");
    const tested = read("deploy/monitoring/alerts.test.yml");
    for (const { alert } of rules)
      expect(tested, alert).toMatch(new RegExp(`alertname: ${alert}\\n\\s+exp_alerts:\\n`));
  });

  test("the dashboard shows what an operator is asked for, each panel under its own id", () => {
    const shown = targets.map(({ expr }) => expr).join(" ");
    const asked = [
      "runs_total",
      "verdicts_total",
      "time_to_land",
      "queue_wait",
      "sandbox_wait",
      "clean_room",
    ];
    const costs = [
      "model_tokens",
      "model_cost",
      "dead_letters",
      "egress_requests",
      "http_requests",
      "pending",
    ];
    for (const name of [...asked, ...costs]) expect(shown).toContain(name);
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("the guide names every alert, and no other", () => {
    const guide = read("docs/guides/observe.md");
    const named = [...new Set(guide.match(/`Antiphon[A-Za-z]+`/g))].map((name) => name.slice(1, -1));
    expect(named.sort()).toEqual(rules.map(({ alert }) => alert).sort());
  });
});
