/**
 * What `npm run check -- lint` holds every file to. Rules that need types are checked by tsgolint, which oxlint starts; those
 * of this project are in scripts/check/house-rules.mjs.
 */
import { readFileSync } from "node:fs";

const { pure } = JSON.parse(readFileSync(new URL("pure-files.json", import.meta.url), "utf8"));

const errors = (...rules) => Object.fromEntries(rules.map((rule) => [rule, "error"]));

/** For the files of pure-files.json: state and an event in, state and effects as data out. */
const pureRules = {
  "no-restricted-globals": [
    "error",
    { name: "process", message: "A pure file takes what it needs as an argument." },
    { name: "setTimeout", message: "A pure file has no clock; return an effect with a delay." },
    { name: "setInterval", message: "A pure file has no clock; return an effect with a delay." },
  ],
  "no-restricted-properties": [
    "error",
    { object: "Date", property: "now", message: "Time is an argument of a pure file." },
    { object: "Math", property: "random", message: "Randomness is an argument of a pure file." },
  ],
};

/** `typescript/correctness` has the rest of what needs no choice. */
const typescriptRules = {
  ...errors(
    "typescript/ban-ts-comment",
    "typescript/consistent-type-imports",
    "typescript/no-empty-object-type",
    "typescript/no-explicit-any",
    "typescript/no-misused-promises",
    "typescript/no-namespace",
    "typescript/no-require-imports",
    "typescript/no-unnecessary-type-assertion",
    "typescript/no-unnecessary-type-constraint",
    "typescript/no-unsafe-argument",
    "typescript/no-unsafe-assignment",
    "typescript/no-unsafe-call",
    "typescript/no-unsafe-enum-comparison",
    "typescript/no-unsafe-function-type",
    "typescript/no-unsafe-member-access",
    "typescript/no-unsafe-return",
    "typescript/only-throw-error",
    "typescript/prefer-promise-reject-errors",
    "typescript/restrict-plus-operands",
    "no-array-constructor",
    "no-unused-expressions",
    "no-var",
    "prefer-const",
    "prefer-rest-params",
    "prefer-spread",
  ),
  "typescript/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
  "typescript/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
  "max-lines": ["error", { max: 500, skipBlankLines: true, skipComments: true }],
  "max-lines-per-function": ["error", { max: 90, skipBlankLines: true, skipComments: true }],
};

export default {
  plugins: ["eslint", "typescript", "react"],
  jsPlugins: ["./scripts/check/house-rules.mjs"],
  categories: { correctness: "error" },
  options: { typeAware: true },
  ignorePatterns: ["**/node_modules/", ".antiphon/", "coverage/", "examples/", "contracts/schemas/", "docs/"],
  env: { builtin: true, node: true },
  rules: {
    ...errors(
      "getter-return",
      "no-case-declarations",
      "no-empty",
      "no-fallthrough",
      "no-prototype-builtins",
      "no-redeclare",
      "no-regex-spaces",
      "no-undef",
      "no-unreachable",
      "preserve-caught-error",
    ),
    "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
    "no-control-regex": "off",
    "react/incompatible-library": "off", // It concerns the React compiler, which the page does not use.
    "typescript/no-misused-spread": "off", // `[...text]` is how a text is taken apart by code points.
    "typescript/no-meaningless-void-operator": "off", // `return void call()` says that its result does not matter.
    "typescript/require-array-sort-compare": "off",
  },
  overrides: [
    { files: ["**/*.{ts,tsx}"], rules: { ...typescriptRules, "no-undef": "off", "no-redeclare": "off" } },
    {
      files: ["**/*.{mjs,js}"],
      rules: { "typescript/unbound-method": "off", "typescript/restrict-template-expressions": "off" },
    },
    {
      files: ["web/src/**/*.{ts,tsx}"],
      env: { browser: true },
      rules: errors(
        "react/rules-of-hooks",
        "react/exhaustive-deps",
        "react/purity",
        "react/refs",
        "react/set-state-in-effect",
      ),
    },
    { files: pure, rules: pureRules },
    {
      files: ["{contracts,client,run,git,runtime}/src/**/*.ts", "services/**/*.ts", "cli/**/*.ts"],
      rules: errors("house/environment", "house/subscription"),
    },
    {
      files: ["cli/src/**/*.ts"],
      rules: errors("no-console", "house/printing", "house/terminal"),
    },
    {
      files: ["cli/src/screen/**"],
      rules: { "no-console": "off", "house/printing": "off", "house/terminal": "off" },
    },
    { files: ["**/config.ts"], rules: { "house/environment": "off" } },
    {
      files: ["test/**/*.ts", "**/*.test.ts"],
      rules: {
        "max-lines-per-function": "off",
        "no-console": "off",
        "no-unsafe-optional-chaining": "off", // A test may end by what is missing.
        "no-restricted-globals": "off",
        "no-restricted-properties": "off",
        ...Object.fromEntries(
          ["environment", "subscription", "printing", "terminal"].map((rule) => [`house/${rule}`, "off"]),
        ),
      },
    },
  ],
};
