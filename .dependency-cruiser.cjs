const from = (path) => ({ path });
const rule = (name, comment, source, target) => ({
  name,
  comment,
  severity: "error",
  from: source,
  to: target,
});

/** The globs of pure-files.json, which oxlint.config.mjs reads, too. */
const PURE = require("./pure-files.json").pure.map(
  (glob) => `^${glob.replaceAll(".", "\\.").replace("**/*", ".+").replace("*", "[^/]+")}$`,
);

/** Imports go one way: contracts <- run, git <- runtime <- services; cli imports contracts and, of run, what it shows. */
module.exports = {
  forbidden: [
    {
      name: "no-cycles",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    rule("contracts-stand-alone", "contracts import nothing of ours", from("^contracts/src"), {
      path: "^(client|run|git|runtime|services|cli)/",
    }),
    rule("client-stands-on-contracts", "the client imports contracts only", from("^client/src"), {
      path: "^(run|git|runtime|services|cli|web)/",
    }),
    rule("run-stands-on-contracts", "run imports contracts only", from("^run/src"), {
      path: "^(git|runtime|services|cli)/",
    }),
    rule("git-stands-on-contracts", "git imports contracts only", from("^git/src"), {
      path: "^(run|runtime|services|cli)/",
    }),
    rule("runtime-knows-no-service", "runtime imports contracts and git only", from("^runtime/src"), {
      path: "^(run|services|cli)/",
    }),
    rule("services-are-independent", "services never import each other", from("^services/([^/]+)/"), {
      path: "^services/",
      pathNot: "^services/$1/",
    }),
    rule(
      "cli-talks-http",
      "the CLI imports contracts and, of a run, how it is shown and checked; `serve` loads a service lazily",
      { path: "^cli/src", pathNot: "^cli/src/serve/" },
      {
        path: "^(git|runtime|services)/|^run/src/(?!facts/|view/|audit/)",
      },
    ),
    rule(
      "page-talks-http",
      "the page imports contracts and, of a run, how it is shown",
      { path: "^web/src" },
      { path: "^(git|runtime|services|cli)/|^run/src/(?!facts/|view/)" },
    ),
    rule(
      "nats-in-runtime-only",
      "NATS packages are imported in runtime only",
      { path: "^(contracts|run|git|services|cli)/", pathNot: "\\.test\\.ts$" },
      {
        path: "node_modules/(@nats-io|nats)/",
      },
    ),
    rule(
      "docker-in-one-adapter",
      "dockerode is imported where the sandbox-runner talks to Docker only",
      { pathNot: "^services/sandbox-runner/src/providers/docker/|^test/" },
      {
        path: "node_modules/(dockerode|@types/dockerode)/",
      },
    ),
    rule(
      "e2b-in-its-provider-only",
      "the SDK of e2b is imported in the provider of its name only, and loaded when it is chosen",
      { pathNot: "^services/sandbox-runner/src/providers/e2b/" },
      {
        path: "node_modules/e2b/",
      },
    ),
    rule(
      "pure-without-io",
      "a pure file imports no node: module and no IO package (hashing excepted)",
      { path: PURE, pathNot: "\\.test\\.ts$" },
      {
        dependencyTypes: ["core"],
        pathNot: "^(node:)?crypto$",
      },
    ),
    rule(
      "pure-stays-pure",
      "of ours, a pure file imports contracts, pure files, data and the ports they are described by",
      { path: PURE, pathNot: "\\.test\\.ts$" },
      {
        path: "^(run|services|cli)/",
        pathNot: [...PURE, "^services/[^/]+/src/ports\\.ts$", "\\.json$"],
      },
    ),
    rule(
      "pure-runs-nothing",
      "of the runtime, a pure file imports pure files and types",
      { path: PURE, pathNot: "\\.test\\.ts$" },
      { path: "^runtime/", pathNot: PURE, dependencyTypesNot: ["type-only"] },
    ),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^node_modules/|/node_modules/.*node_modules/" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default"] },
  },
};
