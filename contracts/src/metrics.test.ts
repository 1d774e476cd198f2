import { describe, expect, test } from "vitest";
import { METRIC_NAMES, METRICS } from "./metrics.ts";

/** The rules of `promtool check metrics`. */
const NOT_BASE =
  /(^|_)(ms|millis|milliseconds?|minutes?|hours?|days?|kb|mb|kib|mib|kilobytes?|percent|sec)(_|$)/;

describe.each(METRIC_NAMES.map((name) => [name, METRICS[name]] as const))("%s", (name, metric) => {
  test("has a name by Prometheus' conventions: lower case, our prefix, base units, no type in it", () => {
    expect(name).toMatch(/^antiphon(_[a-z0-9]+)+$/);
    expect(name).not.toMatch(NOT_BASE);
    expect(name).not.toMatch(/_(counter|gauge|histogram|summary)(_|$)/);
  });

  test("ends in _total exactly if it is a counter; a histogram ends in its unit", () => {
    expect(name.endsWith("_total")).toBe(metric.type === "counter");
    expect(name).not.toMatch(/_(count|sum|bucket)$/);
    if (metric.type === "histogram") expect(name).toMatch(/_seconds$/);
  });

  test("has a help text and labels that hold no id", () => {
    expect(metric.help).toMatch(/^[A-Z1].*\.$/);
    for (const label of metric.labels) {
      expect(label).toMatch(/^[a-z]+$/);
      expect(["le", "quantile", "service", "run", "task", "tenant", "principal"]).not.toContain(label);
    }
  });

  test("has buckets in growing order if it is a histogram", () => {
    const buckets = "buckets" in metric ? metric.buckets : [];
    expect(buckets.length > 0).toBe(metric.type === "histogram");
    expect([...buckets].sort((a, b) => a - b)).toEqual(buckets);
  });
});
