const from = (path) => ({ path });
const rule = (name, comment, source, target) => ({
  name,
  comment,
  severity: "error",
  from: source,
  to: target,
});

/** Imports go one way: contracts <- runtime <- services; cli imports contracts only. */
module.exports = {
  forbidden: [
    {
      name: "no-cycles",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    rule("contracts-stand-alone", "contracts import nothing of ours", from("^contracts/src"), {
      path: "^(runtime|services|cli)/",
    }),
    rule("runtime-knows-no-service", "runtime imports contracts only", from("^runtime/src"), {
      path: "^(services|cli)/",
    }),
    rule("services-are-independent", "services never import each other", from("^services/([^/]+)/"), {
      path: "^services/",
      pathNot: "^services/$1/",
    }),
    rule(
      "cli-talks-http",
      "the CLI imports contracts only; `serve` loads a service lazily",
      { path: "^cli/src", pathNot: "^cli/src/(serve|services)" },
      {
        path: "^(runtime|services)/",
      },
    ),
    rule(
      "nats-in-runtime-only",
      "NATS packages are imported in runtime only",
      { path: "^(contracts|services|cli)/", pathNot: "\\.test\\.ts$" },
      {
        path: "node_modules/(@nats-io|nats)/",
      },
    ),
    rule(
      "docker-in-one-adapter",
      "dockerode is imported in the sandbox-runner's adapters only",
      { pathNot: "^services/sandbox-runner/src/adapters|^test/" },
      {
        path: "node_modules/(dockerode|@types/dockerode)/",
      },
    ),
    rule(
      "e2b-in-its-adapters-only",
      "the SDK of e2b is imported in the sandbox-runner's adapters only, and loaded when it is chosen",
      { pathNot: "^services/sandbox-runner/src/adapters/e2b-" },
      {
        path: "node_modules/e2b/",
      },
    ),
    rule(
      "core-is-pure",
      "a core imports no node: module and no IO package (hashing excepted)",
      { path: "^services/[^/]+/src/core/", pathNot: "\\.test\\.ts$" },
      {
        dependencyTypes: ["core"],
        pathNot: "^(node:)?crypto$",
      },
    ),
    rule(
      "core-does-not-reach-out",
      "a core does not import its shell",
      { path: "^services/[^/]+/src/core/", pathNot: "\\.test\\.ts$" },
      {
        path: "^services/[^/]+/src/(adapters|main|service|config)",
      },
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
