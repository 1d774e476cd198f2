/** Every text of a JSON value, names of fields included, replaced by what a function makes of it. Pure. */
export function withTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return (value as unknown[]).map((item) => withTexts(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [change(name), withTexts(inner, change)]),
  );
}
