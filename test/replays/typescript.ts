import type { Language } from "./repository.ts";

const MANIFEST = '{ "private": true, "type": "module" }\n';
const HEAD = 'import assert from "node:assert/strict";\nimport { test } from "node:test";\n';

export const typescript: Language = {
  language: "TypeScript",
  repositories: [
    {
      name: "lru",
      goal: "The cache drops an entry that was just read",
      files: {
        "package.json": MANIFEST,
        "src/lru.ts": `export class Lru<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #max: number;
  constructor(max: number) {
    this.#max = max;
  }
  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }
  set(key: Key, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.#max) this.#entries.delete(this.#entries.keys().next().value as Key);
  }
}
`,
        "test/lru.test.ts": `${HEAD}import { Lru } from "../src/lru.ts";
test("reading keeps an entry", () => {
  const lru = new Lru<string, number>(2);
  lru.set("a", 1);
  lru.set("b", 2);
  assert.equal(lru.get("a"), 1);
  lru.set("c", 3);
  assert.deepEqual([lru.get("a"), lru.get("b")], [1, undefined]);
});
`,
      },
      check: "node --test test/lru.test.ts",
      fix: [
        "src/lru.ts",
        "    return this.#entries.get(key);\n",
        "    const value = this.#entries.get(key);\n    if (value !== undefined) this.set(key, value);\n    return value;\n",
      ],
    },
    {
      name: "money",
      goal: "Amounts below a unit are shown without their zeros",
      files: {
        "package.json": MANIFEST,
        "money.ts":
          "export const shown = (cents: number): string =>\n  `${Math.trunc(cents / 100)}.${Math.abs(cents % 100)}`;\n",
        "money.test.ts": `${HEAD}import { shown } from "./money.ts";
for (const [cents, text] of [[1205, "12.05"], [100, "1.00"], [7, "0.07"]] as const)
  test(\`\${cents} is \${text}\`, () => assert.equal(shown(cents), text));
`,
      },
      check: "node --test money.test.ts",
      wrong: ["money.ts", "${Math.abs(cents % 100)}", '${String(cents % 100).padEnd(2, "0")}'],
      fix: ["money.ts", "${Math.abs(cents % 100)}", '${String(Math.abs(cents % 100)).padStart(2, "0")}'],
    },
    {
      name: "graph",
      goal: "The build order puts a package before what it needs",
      files: {
        "package.json": MANIFEST,
        "src/order.ts": `export type Needs = Readonly<Record<string, readonly string[]>>;
export function buildOrder(needs: Needs): string[] {
  const order: string[] = [];
  const visit = (name: string): void => {
    if (order.includes(name)) return;
    order.push(name);
    for (const other of needs[name] ?? []) visit(other);
  };
  for (const name of Object.keys(needs)) visit(name);
  return order;
}
`,
        "src/order.test.ts": `${HEAD}import { buildOrder } from "./order.ts";
test("needs come first", () => {
  assert.deepEqual(buildOrder({ app: ["web", "core"], web: ["core"], core: [] }), ["core", "web", "app"]);
});
`,
      },
      check: "node --test src/order.test.ts",
      fix: [
        "src/order.ts",
        "    order.push(name);\n    for (const other of needs[name] ?? []) visit(other);\n",
        "    for (const other of needs[name] ?? []) visit(other);\n    order.push(name);\n",
      ],
    },
    {
      name: "duration",
      goal: "90 s are shown as 1 m 90 s",
      files: {
        "package.json": MANIFEST,
        "duration.ts": `export function duration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? \`\${seconds} s\` : \`\${minutes} m \${seconds} s\`;
}
`,
        "check.ts": `import assert from "node:assert/strict";
import { duration } from "./duration.ts";
assert.equal(duration(90), "1 m 30 s");
assert.equal(duration(59), "59 s");
`,
      },
      check: "node check.ts",
      fix: ["duration.ts", "m ${seconds} s`", "m ${seconds % 60} s`"],
    },
    {
      name: "flags",
      goal: "The reference of flags is out of date: --json is not in it",
      files: {
        "package.json": MANIFEST,
        "flags.ts": `export const FLAGS: Readonly<Record<string, string>> = {
  "--quiet": "say nothing",
  "--json": "print JSON",
};
const shown = Object.entries(FLAGS).slice(0, 1);
export const reference = shown.map(([flag, text]) => \`\${flag}  \${text}\\n\`).join("");
if (import.meta.filename === process.argv[1]) process.stdout.write(reference);
`,
        "FLAGS.txt": "--quiet  say nothing\n",
        "check.sh": "grep -q -- --json FLAGS.txt && node flags.ts | diff - FLAGS.txt\n",
      },
      check: "sh check.sh",
      fix: ["flags.ts", "Object.entries(FLAGS).slice(0, 1)", "Object.entries(FLAGS)"],
      also: { command: "node flags.ts > FLAGS.txt", writes: "FLAGS.txt" },
    },
    {
      name: "intervals",
      goal: "merge: intervals that touch are not merged",
      files: {
        "package.json": MANIFEST,
        "merge.ts": `export type Interval = readonly [from: number, to: number];
export function merge(all: readonly Interval[]): Interval[] {
  const merged: Interval[] = [];
  for (const [from, to] of all.toSorted(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last !== undefined && from < last[1]) merged[merged.length - 1] = [last[0], to];
    else merged.push([from, to]);
  }
  return merged;
}
`,
        "merge.test.ts": `${HEAD}import { merge } from "./merge.ts";
test("touching ones are one", () => assert.deepEqual(merge([[3, 5], [1, 3]]), [[1, 5]]));
test("one may hold another", () => assert.deepEqual(merge([[1, 9], [2, 3]]), [[1, 9]]));
`,
      },
      check: "node --test merge.test.ts",
      wrong: [
        "merge.ts",
        "from < last[1]) merged[merged.length - 1] = [last[0], to]",
        "from <= last[1]) merged[merged.length - 1] = [last[0], to]",
      ],
      fix: [
        "merge.ts",
        "from < last[1]) merged[merged.length - 1] = [last[0], to]",
        "from <= last[1])\n      merged[merged.length - 1] = [last[0], Math.max(last[1], to)]",
      ],
    },
  ],
};
