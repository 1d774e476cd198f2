/** Every parser of strangers' bytes, and the sources that parse other texts. */
import { contractParsers } from "./contract-parsers.ts";
import { gitParsers } from "./git-parsers.ts";
import type { Parser } from "./growth.ts";
import { pageParsers } from "./page-parsers.ts";
import { serviceParsers } from "./service-parsers.ts";

export const PARSERS: readonly Parser[] = [
  ...contractParsers,
  ...gitParsers,
  ...pageParsers,
  ...serviceParsers,
];

const OURS = "reads what this project or its build wrote";
const OPERATOR = "reads settings of the operator, once, at the start";
const SERVER = "reads what the NATS server or the engine answers";
const BOUNDED = "reads a text of bounded length";

const ANCHORED = "reads files of at most 4 MiB with forms that are tried once a line or a word";

/** Sources that parse without a row in the table, with the reason. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  "git/src/inspection/environment.ts": BOUNDED,
  "git/src/inspection/lock-packages.ts": ANCHORED,
  "git/src/inspection/ecosystems/compiled.ts": ANCHORED,
  "git/src/inspection/ecosystems/ecosystem.ts":
    "gives files of at most 4 MiB to the parsers of JSON and TOML, which are not ours",
  "git/src/inspection/ecosystems/node.ts": ANCHORED,
  "git/src/inspection/ecosystems/python-version.ts": BOUNDED,
  "git/src/inspection/ecosystems/python.ts": BOUNDED,
  "git/src/inspection/ecosystems/scripted.ts": BOUNDED,
  "git/src/protection/chance.ts": ANCHORED,
  "git/src/remote/origin.ts": ANCHORED,
  "services/associate/src/claim/left-claims.ts": OURS,
  "services/associate/src/evidence/inside-commit.ts": BOUNDED,
  "runtime/src/nats/roll-call.ts": SERVER,
  "services/director/src/effects/possible-checks.ts":
    "gives a package.json to the parser of JSON, which is not ours, and splits Makefiles at line breaks",
  "services/director/src/verification/delivery.ts": OURS,
  "services/director/src/verification/unstartable.ts": BOUNDED,
  "services/associate/src/evidence/question.ts": "JSON and text of a bounded size",
  "services/associate/src/evidence/compile-answer.ts": "JSON of a bounded size",
  "services/associate/src/evidence/compiled-sessions.ts": OURS,
  "services/associate/src/evidence/said-usage.ts":
    "splits at line breaks, and gives lines of a bounded size to the parser of JSON",
  "services/director/src/sessions/build-command.ts": ANCHORED,
  "services/director/src/sessions/upload-artifact.ts": ANCHORED,
  "services/director/src/work-items/file-backlog.ts": "JSON of a bounded size, and the name of a directory",
  "services/director/src/work-items/issue-tracker.ts": ANCHORED,
  "services/director/src/work-items/tracker-client.ts": "JSON of a bounded size",
  "services/director/src/work-items/work-item-settings.ts": OPERATOR,
  "services/egress-gateway/src/settings/config-file.ts": OPERATOR,
  "services/egress-gateway/src/models/model-trial.ts": "JSON of a bounded size",
  "services/sandbox-runner/src/environments/layer-rules.ts": BOUNDED,
  "services/director/src/verification/check-news.ts": BOUNDED,
  "services/sandbox-runner/src/environments/setup-news.ts": BOUNDED,
  "services/sandbox-runner/src/beside/service-paths.ts": ANCHORED,
  "contracts/src/registry/json-schema.ts": OURS,
  "contracts/src/runs/npm-lock.ts": "JSON of a bounded size",
  "services/gateway/src/http/route-endpoints.ts": OURS,
  "services/router/training/labelled-requests.ts": OURS,
  "services/router/training/near-copies.ts": OURS,
  "contracts/src/reference/sample.ts": OURS,
  "contracts/src/documents/yaml-text.ts": "its rows are those of the documents",
  "runtime/src/stores/object-layout.ts": SERVER,
  "runtime/src/publishing/publish-result.ts": SERVER,
  "runtime/src/nats/durability.ts": SERVER,
  "runtime/src/stores/upload-notes.ts": OURS,
  "runtime/src/process/source-stack.ts":
    "lines of a stack, each of bounded length, and maps that the build wrote",
  "runtime/src/nats/sync-mode.ts": SERVER,
  "runtime/src/journal/trust.ts": OPERATOR,
  "contracts/src/journal/approval.ts": BOUNDED,
  "services/director/src/config.ts": OPERATOR,
  "services/gateway/src/http/method-table.ts":
    "a form for each route of ours, against a URL of bounded length",
  "runtime/src/journal/record-reader.ts": SERVER,
  "git/src/change/apply-patch.ts":
    "reads lines of git about the one patch it was given; each run of digits is read once",
  "git/src/landing/ssh-signature.ts": "breaks a signature of our own into lines",
  "services/associate/src/attempt/check-programs.ts": "reads the first word of a check, once",
  "services/associate/src/evidence/evidence-store.ts": OURS,
  "services/associate/src/evidence/attempt-fault.ts": BOUNDED,
  "services/associate/src/replay/comparison.ts": BOUNDED,
  "services/associate/src/replay/recorded-attempt.ts": OURS,
  "services/egress-gateway/src/models/recording.ts": OURS,
  "services/director/src/verification/commit-message.ts":
    "repeats within one line that begins with a fixed word",
  "services/director/src/views/projector.ts": OURS,
  "services/egress-gateway/src/models/model-hosts.ts": OPERATOR,
  "services/gateway/src/config.ts": OPERATOR,
  "services/gateway/src/policy/policy-choice.ts": BOUNDED,
  "services/gateway/src/identity/oidc.ts":
    "gives a document of at most 256 KiB of the configured provider to the parser of JSON",
  "services/gateway/src/http/http-server.ts":
    "JSON of a bounded body; `intake` walks it, with a bound on depth",
  "services/gateway/src/http/routes/route-values.ts": "a form of fixed length",
  "services/gateway/src/http/openapi.ts": OURS,
  "services/gateway/src/journal/dead-letters.ts": BOUNDED,
  "services/sandbox-runner/src/config.ts": OPERATOR,
  "services/sandbox-runner/src/environments/setup-words.ts": BOUNDED,
  "services/sandbox-runner/src/jobs/java-trust-store.ts": "reads the certificates of our own egress gateway",
  "services/sandbox-runner/src/providers/docker/docker-engine.ts": SERVER,
  "services/sandbox-runner/src/providers/microsandbox/microsandbox-provider.ts": SERVER,
  "services/sandbox-runner/src/conversation/supervisor-pack.ts": OURS,
  "services/sandbox-runner/src/workspace/tree-index.ts": OURS,
  "services/sandbox-runner/src/images/image-allowlist.ts": OPERATOR,
};
