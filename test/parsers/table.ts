/** Every parser that a stranger's bytes reach, and the sources that parse something else. */
import { contractParsers } from "./contract-parsers.ts";
import { gitParsers } from "./git-parsers.ts";
import type { Parser } from "./growth.ts";
import { serviceParsers } from "./service-parsers.ts";

export const PARSERS: readonly Parser[] = [...contractParsers, ...gitParsers, ...serviceParsers];

const OURS = "reads what this project or its build wrote";
const OPERATOR = "reads settings of the operator, once, at the start";
const SERVER = "reads what the NATS server or the engine answers";
const BOUNDED = "reads a text of bounded length";

/** Sources that parse, and why a row of the table would show nothing. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  "contracts/src/json-schema.ts": OURS,
  "contracts/src/sample.ts": OURS,
  "contracts/src/yaml-text.ts": "its rows are those of the documents",
  "runtime/src/core/object-layout.ts": SERVER,
  "runtime/src/core/publish-result.ts": SERVER,
  "runtime/src/durability.ts": SERVER,
  "runtime/src/record-reader.ts": SERVER,
  "runtime/src/git/apply-patch.ts":
    "reads lines of git about the one patch it was given; each run of digits is read once",
  "runtime/src/git/ssh-signature.ts": "breaks a signature of our own into lines",
  "services/associate/src/adapters/evidence-store.ts": OURS,
  "services/associate/src/core/report.ts": BOUNDED,
  "services/director/src/core/commit-message.ts": "repeats within one line that begins with a fixed word",
  "services/director/src/projector.ts": OURS,
  "services/egress-gateway/src/config.ts": OPERATOR,
  "services/gateway/src/config.ts": OPERATOR,
  "services/gateway/src/adapters/http-server.ts":
    "JSON of a bounded body; `intake` walks it, with a bound on depth",
  "services/gateway/src/adapters/routes.ts": "a form of fixed length",
  "services/gateway/src/core/openapi.ts": OURS,
  "services/gateway/src/dead-letters.ts": BOUNDED,
  "services/sandbox-runner/src/config.ts": OPERATOR,
  "services/sandbox-runner/src/adapters/docker-engine.ts": SERVER,
  "services/sandbox-runner/src/adapters/microsandbox-provider.ts": SERVER,
  "services/sandbox-runner/src/adapters/supervisor-pack.ts": OURS,
  "services/sandbox-runner/src/adapters/tree-archive.ts": OURS,
  "services/sandbox-runner/src/core/image-allowlist.ts": OPERATOR,
};
