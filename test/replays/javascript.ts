import type { Language } from "./repository.ts";

const manifest = (name: string): string =>
  `${JSON.stringify({ name, version: "1.0.0", type: "module", scripts: { test: "node --test" } }, null, 2)}\n`;
const HEAD = 'import assert from "node:assert/strict";\nimport { test } from "node:test";\n';

export const javascript: Language = {
  language: "JavaScript",
  repositories: [
    {
      name: "slugs",
      goal: "slug: two blanks in a title make two dashes",
      files: {
        "package.json": manifest("slugs"),
        "src/slug.js":
          'export function slug(title) {\n  return title.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]/g, "-");\n}\n',
        "test/slug.test.js": `${HEAD}import { slug } from "../src/slug.js";
test("one dash joins words", () => assert.equal(slug("Hello,  World"), "hello-world"));
`,
      },
      check: "node --test",
      fix: ["src/slug.js", "[^a-z0-9]/g", "[^a-z0-9]+/g"],
    },
    {
      name: "pages",
      goal: "paginate: the last page is missing when it is not full",
      files: {
        "package.json": manifest("pages"),
        "src/paginate.js": `export function paginate(items, size) {
  const pages = [];
  for (let page = 0; page < Math.floor(items.length / size); page += 1) {
    pages.push(items.slice(page * size, (page + 1) * size));
  }
  return pages;
}
`,
        "test/paginate.test.js": `${HEAD}import { paginate } from "../src/paginate.js";
test("the rest is a page", () => assert.deepEqual(paginate([1, 2, 3], 2), [[1, 2], [3]]));
test("nothing has no page", () => assert.deepEqual(paginate([], 2), []));
`,
      },
      check: "node --test",
      wrong: ["src/paginate.js", "page < Math.floor(items.length / size)", "page <= items.length / size"],
      fix: ["src/paginate.js", "page < Math.floor(items.length / size)", "page * size < items.length"],
    },
    {
      name: "retry",
      goal: "retry gives up one attempt too early",
      files: {
        "package.json": manifest("retry"),
        "lib/retry.js": `export async function retry(attempts, act) {
  let last;
  for (let n = 1; n < attempts; n += 1) {
    try {
      return await act(n);
    } catch (error) {
      last = error;
    }
  }
  throw last;
}
`,
        "test.js": `${HEAD}import { retry } from "./lib/retry.js";
test("the last attempt counts", async () => {
  const act = async (n) => {
    if (n < 3) throw new Error(\`attempt \${n}\`);
    return n;
  };
  assert.equal(await retry(3, act), 3);
});
`,
      },
      check: "npm test",
      fix: ["lib/retry.js", "n < attempts", "n <= attempts"],
    },
    {
      name: "query",
      goal: "parseQuery splits values at every equals sign",
      files: {
        "package.json": manifest("query"),
        "query.js": `export function parseQuery(text) {
  const found = {};
  for (const pair of text.replace(/^\\?/, "").split("&")) {
    const [key, value] = pair.split("=");
    if (key !== "") found[decodeURIComponent(key)] = decodeURIComponent(value ?? "");
  }
  return found;
}
`,
        "check.js": `import assert from "node:assert/strict";
import { parseQuery } from "./query.js";
assert.deepEqual(parseQuery("?a=1&token=YWI=&b"), { a: "1", token: "YWI=", b: "" });
console.log("query is fine");
`,
      },
      check: "node check.js",
      fix: [
        "query.js",
        'const [key, value] = pair.split("=");',
        'const [key, ...rest] = pair.split("=");\n    const value = rest.join("=");',
      ],
    },
    {
      name: "routes",
      goal: "The generated table of routes lacks those with a parameter",
      files: {
        "package.json": manifest("routes"),
        "routes.json": '["/", "/runs", "/runs/:id", "/runs/:id/log"]\n',
        "generate.js": `import { readFileSync, writeFileSync } from "node:fs";
const routes = JSON.parse(readFileSync("routes.json", "utf8")).filter((route) => /^\\/[a-z]*$/.test(route));
writeFileSync("ROUTES.md", routes.map((route) => \`- \\\`\${route}\\\`\\n\`).join(""));
`,
        "ROUTES.md": "- `/`\n- `/runs`\n",
        "check.js": `import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
assert.equal(readFileSync("ROUTES.md", "utf8").split("\\n").length, 5);
`,
      },
      check: "node check.js",
      fix: ["generate.js", "[a-z]*$/", "[a-z:/]*$/"],
      also: { command: "node generate.js", writes: "ROUTES.md" },
    },
    {
      name: "semver-sort",
      goal: "Releases are sorted as texts: 1.10.0 comes before 1.9.0",
      files: {
        "package.json": manifest("semver-sort"),
        "index.js": `export const byVersion = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
export const sorted = (releases) => releases.toSorted(byVersion);
`,
        "index.test.js": `${HEAD}import { sorted } from "./index.js";
test("numbers are compared as numbers", () => {
  assert.deepEqual(sorted(["1.10.0", "1.9.0", "1.9.0"]), ["1.9.0", "1.9.0", "1.10.0"]);
});
`,
      },
      check: "node --test --test-reporter=tap",
      wrong: ["index.js", "(a < b ? -1 : a > b ? 1 : 0)", "parseFloat(a) - parseFloat(b)"],
      fix: ["index.js", "(a < b ? -1 : a > b ? 1 : 0)", "a.localeCompare(b, undefined, { numeric: true })"],
    },
  ],
};
