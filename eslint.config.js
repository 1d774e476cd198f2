import { readFileSync } from "node:fs";
import eslint from "@eslint/js";
import reactHooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

const { pure } = JSON.parse(readFileSync(new URL("pure-files.json", import.meta.url), "utf8"));

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

/** Everywhere but in config.ts and in tests. */
const restricted = [
  {
    selector: "MemberExpression[object.name='process'][property.name='env']",
    message: "The environment is read in config.ts only.",
  },
  {
    selector:
      "CallExpression[callee.property.name='subscribe']:matches([callee.object.name='nc'], [callee.object.property.name='nc'])",
    message: "Through runtime/src/nats/subscription.ts: a callback that throws ends all reading (Q3).",
  },
];

/** In the command, everywhere but in cli/src/screen: one place prints, and makes text from outside harmless (cli/C5). */
const printing = [
  {
    selector: "MemberExpression[object.name='process'][property.name=/^(stdout|stderr)$/]",
    message: "Print through the screen (cli/src/screen).",
  },
  {
    selector: "ImportDeclaration[source.value=/^(node:)?process$/]",
    message: "Its output streams belong to the screen (cli/src/screen); use the global otherwise.",
  },
  {
    selector: "Property[key.name='stdio'] Literal[value='inherit']",
    message:
      "A child that has the terminal prints past the screen: read its output and print it through the screen.",
  },
  {
    selector:
      "CallExpression[callee.name=/^write(v|Sync|File|FileSync)?$/][arguments.0.raw=/^(1|2|.[/]dev[/](stdout|stderr|tty).)$/]",
    message: "Print through the screen (cli/src/screen).",
  },
];

export default tseslint.config(
  { ignores: ["**/node_modules/", ".antiphon/", "coverage/", "examples/", "contracts/schemas/", "docs/"] },
  eslint.configs.recommended,
  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/require-await": "off",
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true, allowBoolean: true },
      ],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "no-empty": ["error", { allowEmptyCatch: false }],
      "no-control-regex": "off",
      "max-lines": ["error", { max: 500, skipBlankLines: true, skipComments: true }],
      "max-lines-per-function": ["error", { max: 90, skipBlankLines: true, skipComments: true }],
    },
  },
  { files: ["web/src/**/*.{ts,tsx}"], ...reactHooks.configs.flat["recommended-latest"] },
  // It concerns the React compiler, which the page does not use.
  { files: ["web/src/**/*.tsx"], rules: { "react-hooks/incompatible-library": "off" } },
  { files: pure, ignores: ["**/*.test.ts"], rules: pureRules },
  {
    files: [
      "contracts/src/**/*.ts",
      "client/src/**/*.ts",
      "run/src/**/*.ts",
      "git/src/**/*.ts",
      "runtime/src/**/*.ts",
      "services/**/*.ts",
      "cli/**/*.ts",
    ],
    ignores: ["**/config.ts", "**/*.test.ts"],
    rules: {
      "no-restricted-syntax": ["error", ...restricted],
    },
  },
  {
    files: ["cli/src/**/*.ts"],
    ignores: ["cli/src/screen/**", "**/config.ts", "**/*.test.ts"],
    rules: { "no-console": "error", "no-restricted-syntax": ["error", ...restricted, ...printing] },
  },
  {
    files: ["cli/src/config.ts"],
    rules: { "no-console": "error", "no-restricted-syntax": ["error", ...printing] },
  },
  { files: ["test/**/*.ts", "**/*.test.ts"], rules: { "max-lines-per-function": "off" } },
  {
    files: ["**/*.mjs", "**/*.js"],
    languageOptions: {
      globals: {
        process: "readonly",
        console: "readonly",
        Buffer: "readonly",
        URL: "readonly",
        fetch: "readonly",
        setTimeout: "readonly",
        clearTimeout: "readonly",
        setInterval: "readonly",
        clearInterval: "readonly",
        AbortSignal: "readonly",
        AbortController: "readonly",
        performance: "readonly",
        TextDecoder: "readonly",
        TextEncoder: "readonly",
      },
    },
  },
);
