/**
 * The table of all errors. Programs match on the code, never on the text. Add an error as one line;
 * docs/reference/errors.md and a test keep table and docs equal.
 *
 * Disposition: `retry` - the same operation may succeed later; `attempt` - this attempt is over, the next epoch may
 * succeed; `terminal` - a retry changes nothing.
 * Exit codes: 1 the run failed, 2 usage, 3 needs input, 4 unreachable.
 */
export type Disposition = "retry" | "attempt" | "terminal";

/** disposition, HTTP status, exit code, meaning, remedy */
type Row = readonly [Disposition, number, 0 | 1 | 2 | 3 | 4, string, string];

// One line per row, so that a diff shows one error.
// prettier-ignore
const TABLE = {
  ANT_ADAPTER_UNAVAILABLE: ["terminal", 501, 1, "A command needs an adapter that this deployment does not have.", "Configure the adapter that the message names (docs/guides/sessions.md)."],
  ANT_AGENT_FAILED: ["attempt", 500, 1, "The agent ended without a usable result.", "Read its transcript in the evidence, then change the task or choose another agent."],
  ANT_AGENT_MISSING: ["terminal", 422, 2, "The intent does not say which agent to use.", "Give `inputs.agent`, or on the command line one of --command, --patch, --program, --seed."],
  ANT_AGENT_PACK_INVALID: ["terminal", 422, 2, "An agent pack cannot be used as it is.", "Correct its agent.yaml as the message says; `antiphon explain AgentPack` shows all fields."],
  ANT_AGENT_TOOL_REFUSED: ["attempt", 403, 1, "The agent asked for a tool the task does not allow.", "Add the tool to allowed_tools (--tools), or choose an agent that is held to its tools, such as claude, gemini, opencode, pi or model."],
  ANT_AGENT_UNKNOWN: ["terminal", 422, 2, "There is no agent of that kind.", "Use one of the kinds that the message lists."],
  ANT_ANSWER_NO_CHECK: ["terminal", 422, 2, "The run asks for a check, and the answer is not a command.", "Answer with one command line, such as `antiphon answer <runId> \"npm test\"`, one for each question or one for all; with `unverified`, which takes the change without proof; or with `antiphon answer <runId> --reject`. The question stays."],
  ANT_APPROVAL_OWN: ["terminal", 403, 2, "The approval does not count: it comes from the requester of the run, from somebody who told its agent something or answered its question, or from a name that many people share.", "Ask another person to approve with a token of their own. Everybody may reject or ask for changes."],
  ANT_APPROVAL_STALE: ["terminal", 409, 2, "The approval names another verdict or commit than the one that would land now, or the policy of its repository has changed since it was asked for.", "Look at the waiting change with `antiphon get <runId>`, then decide on it. After a change of the policy: reject it, then `antiphon retry <runId>`, which asks again under the new policy."],
  ANT_ARCHIVE_CORRUPT: ["terminal", 500, 1, "The pack that holds an archived run is missing or differs from the run's `archived` record.", "Restore the object named in the details to ANT_ARCHIVE from a backup; `nats object ls ANT_ARCHIVE` lists the existing ones."],
  ANT_ASSOCIATE_DRAINING: ["retry", 200, 1, "The Associate was asked to stop before the attempt was over.", "The next epoch runs on another Associate."],
  ANT_ASSOCIATE_UNAVAILABLE: ["retry", 503, 4, "No Associate answered.", "Start one: `antiphon dev`, or `antiphon serve --role associate`."],
  ANT_BLOB_CONFLICT: ["terminal", 409, 1, "An object with this name already holds other bytes.", "Objects are written once; choose another name."],
  ANT_BLOB_CORRUPT: ["terminal", 500, 1, "Stored bytes do not match their digest.", "Restore the object from a backup, or run the attempt again."],
  ANT_BLOB_DEADLINE: ["retry", 504, 4, "Reading or writing an object took too long.", "Check that JetStream is healthy: `nats stream report`."],
  ANT_BLOB_MISSING: ["terminal", 404, 1, "An object that a record refers to is not in its bucket.", "Look in the bucket with `nats object ls`; run the attempt again to create it."],
  ANT_BLOB_TOO_LARGE: ["terminal", 413, 1, "An object is larger than its limit.", "Produce less, or raise the limit."],
  ANT_BRIEF_INVALID: ["attempt", 200, 1, "The agent of a run without a repository wrote no brief.json, or one that is not valid.", "`antiphon explain Brief` shows the fields; a brief without entries has an empty list."],
  ANT_BUILD_FAILED: ["terminal", 500, 2, "The bundle could not be made from the sources.", "Correct the source that the message names."],
  ANT_CLAIM_LOST: ["terminal", 409, 1, "Another Associate holds this attempt, or a newer epoch exists.", "Nothing to do: the work continues elsewhere."],
  ANT_COMMAND_STALLED: ["retry", 500, 1, "The command ended early because nothing it waited for could happen any more.", "Run it again; a run it started may still be active (`antiphon runs`). If it happens again, report it with the command line."],
  ANT_CONFIG_INVALID: ["terminal", 500, 2, "A setting has a value that cannot be used.", "Correct the environment variable or option named in the details."],
  ANT_CONNECTOR_UNAVAILABLE: ["terminal", 422, 2, "The intent names a connector that this deployment does not have.", "Leave it out, or have the operator set ANTIPHON_WORK_ITEMS on the Directors (docs/guides/briefs.md)."],
  ANT_CONTRACT_INVALID: ["terminal", 400, 2, "A message does not have the shape of its contract.", "See the path in the details; `antiphon explain <schema>` shows the fields."],
  ANT_CONTRACT_LIMIT: ["terminal", 413, 2, "A message is deeper, larger or has more keys than any contract allows.", "Send large content as an object in a bucket and refer to it."],
  ANT_CONTRACT_RESERVED: ["terminal", 422, 2, "The command is reserved for the future and must not be sent.", "Use another command; SpawnSession and LinkPlanNode have no meaning yet."],
  ANT_CONTRACT_UNKNOWN: ["terminal", 404, 2, "There is no contract with this name.", "`antiphon explain` lists the names."],
  ANT_CONTRACT_VERSION: ["terminal", 422, 2, "This reader does not know the version of the message.", "Upgrade this reader, or send a version that it knows."],
  ANT_DEV_ALREADY_RUNNING: ["terminal", 409, 2, "Another `antiphon dev` uses this state directory.", "Use it, stop it, or give this one its own --state-dir, --port and --nats-port."],
  ANT_DEV_LOCK_FAILED: ["terminal", 500, 2, "The state directory of `antiphon dev` cannot be locked.", "Install `flock` (util-linux) or `perl`, and use a directory on a local disk: set ANTIPHON_STATE_DIR, or give --state-dir."],
  ANT_DEV_NOT_READY: ["terminal", 503, 4, "A part of `antiphon dev` does not start.", "Read its log in `dev/logs` below the state directory; `antiphon doctor` checks its requirements."],
  ANT_DEV_NOT_STOPPED: ["retry", 503, 1, "`antiphon dev` did not end in time after it was asked to stop.", "It may still be draining: look with `antiphon dev --status`, then end the process it names."],
  ANT_DEV_PORT_TAKEN: ["terminal", 409, 2, "A port that `antiphon dev` needs is taken.", "Stop the program that listens there, or choose other ports with --port and --nats-port (0: any free one)."],
  ANT_DIRECTOR_UNAVAILABLE: ["retry", 503, 4, "No Director answered.", "Start one: `antiphon dev`, or `antiphon serve --role director`."],
  ANT_DLQ_NOT_FOUND: ["terminal", 404, 2, "There is no dead letter with this id.", "List them with `antiphon dlq list`; a requeued one is no longer listed."],
  ANT_DLQ_RUN_OVER: ["terminal", 409, 2, "The run of the dead letter is over, so it cannot be requeued.", "Start the same intent again: `antiphon retry <runId>`."],
  ANT_DLQ_UNREADABLE: ["terminal", 409, 2, "The dead letter does not hold a valid record, so it cannot be requeued.", "Inspect it with `antiphon dlq show <id>`, then remove it with `nats stream rmm ANT_DLQ`."],
  ANT_DOCKER_UNREACHABLE: ["retry", 503, 4, "The container engine does not answer.", "Start it: `antiphon setup`, or set DOCKER_HOST."],
  ANT_EGRESS_ADDRESS: ["terminal", 403, 1, "A sandbox asked for an address instead of a name, or for a name whose address is not public.", "Ask for a host by its public name. A mirror of your own with a private address is named in `private_hosts` of the egress gateway (egress.json; `antiphon doctor` says where it is)."],
  ANT_EGRESS_BUDGET: ["terminal", 402, 1, "The run's model budget is used up, or it has none.", "Set or raise `model_budget` (`--model-usd`). A call is charged its maximum until its usage is known."],
  ANT_EGRESS_BUSY: ["retry", 503, 4, "The egress gateway has reached its limit of sandboxes or connections.", "It is retried automatically. For more capacity, start another egress gateway."],
  ANT_EGRESS_FENCED: ["terminal", 409, 1, "A later attempt has taken over the checkpoints of this one, so this one can store no more.", "Nothing to do: this attempt was lost with its process, and the later one goes on with its work."],
  ANT_EGRESS_HOST: ["terminal", 403, 1, "The sandbox's profile does not allow this host.", "Add it to the allowlist of the run's egress profile, or avoid the request. A model host: `antiphon models list` shows those of the deployment, `antiphon models add` adds one."],
  ANT_EGRESS_LOST: ["retry", 503, 4, "The egress gateway stopped while a sandbox used it.", "It is retried; check the gateway's log."],
  ANT_EGRESS_MALFORMED: ["terminal", 400, 1, "A sandbox sent an ambiguous or malformed request.", "Send a plain HTTP/1.1 request with one Host header that equals the target and one length."],
  ANT_EGRESS_METHOD: ["terminal", 403, 1, "The sandbox's profile does not allow this method or path on this host.", "Use only requests that fetch or download; pushing and publishing are refused."],
  ANT_EGRESS_MISMATCH: ["terminal", 403, 1, "The names in CONNECT, in the TLS handshake and in Host are not the same.", "Use the name of the intended host in all three."],
  ANT_EGRESS_MODEL: ["terminal", 403, 1, "The model call cannot be priced before it is sent.", "Use a model of the gateway's price list (`antiphon models list`; `antiphon models add` adds one), with plain text and own tools."],
  ANT_EGRESS_NO_KEY: ["terminal", 403, 1, "The deployment has no key for the host of a model call.", "Set the variable that the message names where the egress gateway starts (`antiphon dev` passes its environment on), or add a credential to its configuration."],
  ANT_EGRESS_QUOTA: ["terminal", 429, 1, "The sandbox used up its requests or bytes.", "Fetch less; docs/reference/limits.md lists the limits."],
  ANT_EGRESS_REPLAY: ["terminal", 409, 1, "A replayed attempt asked for something that its record does not hold.", "The replay names the first step that differs. Nothing but recorded answers reaches a replay."],
  ANT_EGRESS_TIMEOUT: ["terminal", 504, 1, "A connection was idle for too long, or a request took too long.", "Try again with smaller requests."],
  ANT_EGRESS_TOKEN: ["terminal", 401, 1, "A connection to a sandbox's listener did not present its token.", "Only the sandbox-runner may connect to this port."],
  ANT_EGRESS_UNAVAILABLE: ["retry", 503, 4, "No egress gateway answers, and the task asks for a network.", "Start one: `antiphon serve --role egress`; or run with egress `none`."],
  ANT_EGRESS_UNSUPPORTED: ["terminal", 422, 1, "This sandbox cannot carry network traffic.", "Use an image that can run the sealed supervisor, or egress `none`."],
  ANT_EGRESS_UPSTREAM: ["terminal", 502, 1, "The remote host could not be reached, could not prove its name, or sent an unreadable answer.", "Check that the host works from the gateway's network. An authority of your own is named in `upstream_ca_file` of the egress gateway (egress.json)."],
  ANT_ENVIRONMENT_FAILED: ["terminal", 422, 1, "The environment of the repository could not be prepared.", "Read the setup log with `antiphon logs <runId>`. Correct `setup` in antiphon.yaml, give --setup, choose an image that has the tool, or use --no-setup; `antiphon retry <runId>` tries the same setup again."],
  ANT_EVIDENCE_NOT_FOUND: ["terminal", 404, 2, "This evidence does not exist.", "List the evidence with `antiphon evidence get <runId>`."],
  ANT_GATEWAY_BODY: ["terminal", 400, 2, "The request body is not JSON.", "Send `content-type: application/json` and a JSON document."],
  ANT_GATEWAY_BODY_TOO_LARGE: ["terminal", 413, 2, "The request body is larger than its limit.", "Send less; split large patches and recordings into tasks."],
  ANT_GATEWAY_BUSY: ["retry", 429, 4, "The gateway accepts no more work at the moment.", "Try again after the time in Retry-After."],
  ANT_GATEWAY_HEADERS: ["terminal", 431, 2, "The path and headers of the request exceed 16 KiB.", "Send shorter headers; put large content into the body."],
  ANT_GATEWAY_HOST: ["terminal", 403, 2, "The request was sent to a host name that this gateway does not serve.", "Use 127.0.0.1 or localhost, or configure the public name of the gateway."],
  ANT_GATEWAY_IDEMPOTENCY: ["terminal", 409, 2, "This Idempotency-Key was used for another request.", "Use a new key for a new request; a key may only repeat the same request."],
  ANT_GATEWAY_IDENTITY: ["retry", 503, 4, "The identity provider does not answer.", "Check ANTIPHON_OIDC_ISSUER and the network between the gateway and the provider."],
  ANT_GATEWAY_METHOD: ["terminal", 405, 2, "The path does not accept this method.", "Use a method listed in the `Allow` header of the answer."],
  ANT_GATEWAY_OLDER: ["terminal", 409, 2, "The gateway is of an older release than this command line, and would leave out what it does not know.", "Update the services, the command line last (docs/guides/upgrade.md), or use the command line of their release."],
  ANT_GATEWAY_ORIGIN: ["terminal", 403, 2, "Another web origin may not call this gateway.", "Open the UI from the gateway itself, or allow the origin."],
  ANT_GATEWAY_REQUEST: ["terminal", 400, 2, "The message is not a valid HTTP request.", "Send an HTTP/1.1 request: a request line, headers, an empty line, then the body."],
  ANT_GATEWAY_ROLE: ["terminal", 403, 2, "The caller's roles do not allow this request.", "Ask for one of the roles that the message names, or let a person with it do this."],
  ANT_GATEWAY_ROUTE: ["terminal", 404, 2, "The gateway has no such route.", "See services/gateway/README.md for the routes."],
  ANT_GATEWAY_TENANT: ["terminal", 403, 2, "A request cannot choose a tenant.", "Leave the tenant out: it comes from the caller's identity."],
  ANT_GATEWAY_TOKEN_REQUIRED: ["terminal", 401, 2, "A token is required.", "Set ANTIPHON_TOKEN to the gateway's token; a gateway beyond loopback cannot run without one."],
  ANT_GATEWAY_TOKEN_WEAK: ["terminal", 500, 2, "The gateway's token is too short.", "Set ANTIPHON_TOKEN to the same random token for gateway and CLI; `openssl rand -hex 24` generates one."],
  ANT_GATEWAY_UNREACHABLE: ["retry", 503, 4, "No gateway answers at that address.", "Start one: `antiphon dev`; or set ANTIPHON_GATEWAY_URL."],
  ANT_GATEWAY_UNSAFE_BIND: ["terminal", 500, 2, "The gateway does not listen beyond loopback without a token.", "Set ANTIPHON_TOKEN, or listen on 127.0.0.1."],
  ANT_GATE_BLOCKED: ["attempt", 200, 1, "A reviewer or a QA that the run or its policy demands keeps the verified change from landing.", "Read what it found: `antiphon get <runId>`. The findings are the feedback of the next attempt; if they are wrong, `--gate-severity` says which of them block."],
  ANT_GATE_OWN_JUDGE: ["terminal", 403, 2, "A change would be judged by a program that its own run brings, and the policy does not allow that.", "Name a pack of the deployment with `--gate-agent`, and write the commands of `--setup` into antiphon.yaml. An operator can set `judge`, who judges where a gate names nobody, or `ownJudges` in the policy."],
  ANT_GATE_STALE: ["attempt", 200, 1, "The findings of a skill do not count, because the change that they are about was sent back meanwhile.", "Nothing to do: the skill judges the next change."],
  ANT_GATE_UNPLANNED: ["terminal", 422, 1, "The plan of the run has no task for a reviewer or a QA that the run, its repository or its policy demands, so nothing of it lands.", "Bring the Routers to the version of the gateways, then `antiphon retry <runId>`."],
  ANT_GIT_ARGUMENT: ["terminal", 400, 2, "A name or id for git is not a branch name or a full object id.", "Use full object ids and plain branch names."],
  ANT_GIT_FAILED: ["terminal", 500, 1, "Git refused or failed.", "Read git's message in the details."],
  ANT_GIT_INTERRUPTED: ["retry", 503, 1, "The machine interrupted a git command: it was killed, or disk space, memory, processes or open files ran out.", "Free the resource named in the details, or raise the service's limits. It is retried at least every 30 s until it works, the run is canceled, or its time budget is spent; it never becomes a dead letter."],
  ANT_GIT_MISSING: ["terminal", 503, 2, "There is no git program, or it is older than 2.38.", "Install git 2.38 or newer; `antiphon doctor` checks it."],
  ANT_GIT_OUTPUT_LIMIT: ["terminal", 413, 1, "Git wrote more output than the limit of the operation.", "Work on a smaller repository or change."],
  ANT_GIT_TIMEOUT: ["retry", 504, 1, "A git command took longer than its deadline.", "Check the disk of the repository; the command is retried."],
  ANT_HOOK_SIGNATURE: ["terminal", 401, 2, "The signed request of a hook is not valid.", "Sign `<timestamp>.<body>` with the hook's secret (HMAC-SHA256), with the current time, and send each request once."],
  ANT_INTENT_INVALID: ["terminal", 400, 2, "The intent does not match Intent.v0.", "Correct the field named in the details; `antiphon explain Intent` lists all fields."],
  ANT_INTENT_NOT_FOUND: ["terminal", 404, 2, "There is no intent with this id.", "Send it again: the same body gets the same id."],
  ANT_INTENT_NO_REPO: ["terminal", 422, 2, "The intent does not say which repository to work on.", "Give `inputs.repo` (a path) in the intent, or `--repo <path>` on the command line. A brief of work items needs none, but connectors (docs/guides/briefs.md)."],
  ANT_INTENT_OPTIONS: ["terminal", 422, 2, "An option of the run, in inputs or constraints, has a value that cannot be used.", "Correct the field at the path; `antiphon explain RunOptions` lists all fields."],
  ANT_INTERNAL: ["retry", 500, 1, "An internal fault of Antiphon.", "Report it with the log line that carries this code."],
  ANT_JOURNAL_CONFLICT: ["terminal", 409, 1, "Another writer has already recorded a different result.", "Nothing to do: the first record stands."],
  ANT_JOURNAL_CORRUPT: ["terminal", 500, 1, "A record does not match its digest, or cannot be read.", "`antiphon doctor --journal <runId>` shows what is left of the run; restore the record from a backup."],
  ANT_JOURNAL_GAP: ["retry", 500, 1, "A required record is missing from the journal.", "Find it with `antiphon doctor --journal`, then restore it from a backup."],
  ANT_JOURNAL_NEWER: ["retry", 503, 4, "A record is of a type that only a newer version of Antiphon knows.", "Upgrade the service that says so, or start a newer one beside it; the record waits (docs/guides/upgrade.md)."],
  ANT_JOURNAL_ORDER: ["terminal", 500, 1, "A record is in a place where no service would write it.", "Report it with `antiphon events <runId> --json`; compare the run with a backup."],
  ANT_LANDING_COMMIT_GONE: ["terminal", 409, 1, "The verified commit is no longer in the repository: unreachable objects were pruned before it landed.", "Run the intent again: `antiphon retry <runId>`; do not run `git gc --prune=now` in repositories with open runs."],
  ANT_LANDING_CONFLICT: ["attempt", 409, 1, "The change does not apply to the current head of the branch.", "The task is retried on the new head."],
  ANT_LANDING_FILES: ["terminal", 409, 1, "The branch is checked out, and uncommitted changes of the same files are in the way.", "Commit, stash or move them, then merge the verified commits: they are on `antiphon/<runId>`. Neither the branch nor a file was changed."],
  ANT_LANDING_HEAD_MOVED: ["retry", 409, 1, "The branch moved while the change was being verified.", "It is verified again on the new head, three times at most. After that the commits are on `antiphon/<runId>`: merge them, or make the change again with `antiphon retry <runId>` when the branch rests."],
  ANT_LANDING_REF_LOCKED: ["retry", 409, 1, "The branch, or the index of the work tree that has it checked out, could not be written.", "Wait for the other git command, or remove the stale .lock file named in the details. The landing is retried."],
  ANT_LANDING_REMOTE_REFUSED: ["terminal", 409, 1, "The remote repository refused the push: a hook or a rule of the branch.", "The message has the server's reason. The deployment's user must be allowed to push to branches `antiphon/*`, and to the branch of --land. If only the latter was refused, the verified commits are on `antiphon/<runId>` of the server: merge that branch there."],
  ANT_LANDING_REWIND: ["terminal", 409, 1, "The commit does not build on the head it should replace.", "Build it on the current head of the branch; nothing was changed."],
  ANT_LAYER_INVALID: ["retry", 500, 1, "The content of a read-only layer is not what its name says, or breaks a bound.", "It is fetched and checked again at the next attempt; the details say which layer and which rule."],
  ANT_MESSAGE_LIMIT: ["terminal", 409, 2, "The run has had its number of messages.", "Wait for its end; `antiphon fork <runId> --at <event> --feedback \"...\"` goes on from any of its events with further words."],
  ANT_MESSAGE_NO_ATTEMPT: ["terminal", 409, 2, "No attempt is under way that could be told something.", "Look at its status: `antiphon get <runId>`. If it waits for an answer, use `antiphon answer <runId>`."],
  ANT_MESSAGE_UNHEARD: ["terminal", 409, 2, "The agent of the attempt reads no messages, or judges a change.", "Use an agent that does (docs/guides/agents.md), wait for the verdict of the judge, or cancel the run and take its work up with `antiphon run --patch <runId>`."],
  ANT_NATS_BINARY_MISSING: ["terminal", 503, 4, "No nats-server was found.", "Run `antiphon setup`, or name one with NATS_SERVER_BIN."],
  ANT_NATS_DURABILITY_UNKNOWN: ["retry", 503, 4, "The NATS server did not say whether it writes to disk before it acknowledges.", "A busy server may answer late: start the service again. If the error persists, allow the account to ask (import `$SYS.REQ.SERVER.PING.JSZ`, as in runtime/README.md), or set ANTIPHON_NATS_MONITOR to the monitoring endpoint of this server."],
  ANT_NATS_NO_SPACE: ["retry", 503, 4, "JetStream has no space left.", "Free disk space or raise the stream's limit; accepted runs continue automatically."],
  ANT_NATS_PARTITIONS: ["terminal", 500, 4, "A service is configured for a different number of journal partitions than the journal has.", "Set ANTIPHON_JOURNAL_PARTITIONS to the number on the server, or unset it. The number is fixed when the journal is created."],
  ANT_NATS_REJECTED: ["terminal", 500, 1, "JetStream refused a message, and a retry would not help.", "Read the server's reason; compare the stream's settings with `antiphon doctor`."],
  ANT_NATS_TOO_OLD: ["terminal", 503, 4, "The NATS server is older than 2.15.", "Upgrade it; `antiphon setup` fetches a suitable version."],
  ANT_NATS_TOPOLOGY: ["terminal", 500, 4, "A stream exists with other guarantees than this version needs.", "Inspect it with `nats stream info`, then change or remove it by hand; guarantees are never loosened automatically."],
  ANT_NATS_UNREACHABLE: ["retry", 503, 4, "No NATS server answers.", "Check that the NATS server of the services runs: `antiphon doctor`. `antiphon dev` has one inside; other services find theirs by ANTIPHON_NATS_URL."],
  ANT_NATS_UNSAFE_DURABILITY: ["terminal", 503, 4, "The NATS server acknowledges messages before it has written them to disk.", "Set `jetstream { sync_interval: always }`, or accept the risk with ANTIPHON_UNSAFE_DURABILITY=1."],
  ANT_NODE_TOO_OLD: ["terminal", 500, 2, "This version of Node is too old.", "Install Node 24 or newer."],
  ANT_PATCH_BINARY: ["attempt", 422, 1, "A binary part of the patch is damaged, empty or too large.", "Create it with `git diff --binary --full-index`."],
  ANT_PATCH_DOES_NOT_APPLY: ["attempt", 422, 1, "The patch does not fit the base tree.", "Create it against the commit that the run starts from, or in a session against the session's tree (`GetDiff` shows its changes)."],
  ANT_PATCH_DUPLICATE: ["attempt", 422, 1, "The patch touches one path twice.", "Put all changes of a file into one section."],
  ANT_PATCH_EMPTY: ["attempt", 422, 1, "The attempt changed nothing.", "Describe the wanted change more precisely; a task that only reads is of kind `inspect` or `run` in a plan. If another task landed the same change first, leave one of them out."],
  ANT_PATCH_GITLINK: ["attempt", 422, 1, "The patch touches a submodule or .gitmodules.", "Leave submodules out."],
  ANT_PATCH_HEADER: ["attempt", 422, 1, "The header lines of a file in the patch contradict each other.", "Create it with `git diff`."],
  ANT_PATCH_LFS: ["attempt", 422, 1, "The patch changes a file whose content belongs into Git LFS.", "Leave files in Git LFS as they are, or change them outside of a run: `git lfs` is not part of one."],
  ANT_PATCH_MALFORMED: ["attempt", 422, 1, "The patch cannot be read as a unified diff.", "Create it with `git diff`."],
  ANT_PATCH_MODE: ["attempt", 422, 1, "The patch creates something other than a regular or executable file.", "Leave symbolic links and submodules out."],
  ANT_PATCH_NAME: ["attempt", 422, 1, "A file name in the patch has misleading or invisible characters.", "Use printable names without control, direction or invisible characters and without backslashes."],
  ANT_PATCH_PARSER_MISMATCH: ["terminal", 422, 1, "Git applied the patch differently than the policy read it.", "Report it with the patch; nothing was landed."],
  ANT_PATCH_PATH: ["attempt", 422, 1, "The patch names a path outside the tree or one that is never allowed.", "Use paths relative to the repository root, without `..` and outside .git."],
  ANT_PATCH_POLICY: ["attempt", 422, 1, "The change breaks a rule of the deployment's policy.", "The message names the rule: make a smaller change, or ask for a change of the policy profile."],
  ANT_PATCH_PROTECTED: ["attempt", 422, 1, "The patch changes a file that judges it: a test, CI, configuration or a file that the check runs.", "Grant the paths with `--grant <glob>`, or leave the files alone; the message says how the check reaches them. `antiphon run --patch <runId> --grant <glob>` takes the change of an ended run once more, without its agent."],
  ANT_PATCH_SCOPE: ["attempt", 422, 1, "The patch changes a file outside the task's scope.", "Widen the scope with `--scope <glob>`, or leave the file alone."],
  ANT_PATCH_SYMLINK: ["attempt", 422, 1, "The patch touches a symbolic link.", "Leave symbolic links as they are."],
  ANT_PATCH_TOO_LARGE: ["attempt", 413, 1, "The patch changes too many files or bytes.", "Split the task."],
  ANT_PATCH_TRUNCATED: ["attempt", 422, 1, "A hunk of the patch has more or fewer lines than its header says.", "Create it with `git diff`; do not edit hunks by hand."],
  ANT_PLAN_INVALID: ["terminal", 422, 1, "The plan is not one of the known forms, its task graph has a cycle, a duplicate id or a dependency that does not exist, or it is larger than one record.", "Correct the place named in the details; `antiphon explain PlanFile` shows the fields. Make a plan that is too large shorter."],
  ANT_POLICY_INVALID: ["terminal", 500, 2, "The stored policies do not match PolicyConfig.v1.3.", "Correct them and store them again: `nats kv get ANT_POLICIES config --raw | antiphon validate - --schema PolicyConfig` names the line."],
  ANT_POLICY_REFUSED: ["terminal", 403, 2, "A rule of the deployment's policy does not allow this.", "Ask for what the rule allows, or have the profile changed; the message names both. `antiphon policy explain --repo <path>` shows the rules in force."],
  ANT_POLICY_THROTTLED: ["retry", 429, 4, "The caller has used up its calls for this period.", "Try again after the seconds in Retry-After. `limits` and `globalLimits` of the policies set the number of calls."],
  ANT_POLICY_UNKNOWN: ["terminal", 422, 2, "The deployment has no policy profile with this name.", "Use a profile named in the details, or ask for a new one in `config` of ANT_POLICIES."],
  ANT_PROJECT_FILE_EXISTS: ["terminal", 409, 2, "The repository has an antiphon.yaml already.", "`antiphon init --dry-run` prints what would be written, --force replaces the file."],
  ANT_QA_INVALID: ["attempt", 200, 1, "The agent of a QA wrote no qa.json, or one that is not valid.", "`antiphon explain QaReport` shows the fields: a result, and details."],
  ANT_RACE_LOST: ["terminal", 409, 1, "Another run of the same race landed first, so this one lands nothing.", "Take the commit on the branch of the race. `antiphon diff <runId>` shows the change of this run, and `--patch <runId>` goes on from it."],
  ANT_RACE_UNDECIDED: ["retry", 409, 1, "Another run of the same race was verified first and has not ended.", "It is tried again: if the other run ends without landing, this one lands."],
  ANT_RECORDING_NOT_FOUND: ["terminal", 404, 1, "There is no recorded session with this replay key.", "Record one first, or check goal, task id and seed."],
  ANT_REPLAY_NO_RECORD: ["terminal", 409, 2, "The attempt cannot be replayed: it has no evidence, or its model calls were not recorded.", "Replay an attempt that ended with a report, of a run without --no-record."],
  ANT_REPO_CONFIG_INVALID: ["terminal", 422, 2, "The repository's antiphon.yaml is not valid.", "Correct the line named in the details and commit; `antiphon validate antiphon.yaml` checks the file."],
  ANT_REPO_DEVCONTAINER: ["terminal", 422, 2, "The repository's devcontainer.json does not name an image that can be used directly.", "Build that image, `antiphon images allow <ref>`, then give `--image <ref>` or commit an antiphon.yaml with `image: <ref>`; `--image default` takes the standard one."],
  ANT_REPO_DIRTY: ["terminal", 422, 2, "The work tree has uncommitted changes.", "Commit or stash them, or pass --allow-dirty to start from the last commit."],
  ANT_REPO_FILE_NAME: ["terminal", 422, 2, "A file of the commit has a name that a sandbox cannot hold.", "Rename the file (`git mv`) and commit. Names are valid UTF-8 of at most 1,024 bytes, without control characters, backslashes and names that another file system takes for `.git`."],
  ANT_REPO_INCOMPLETE: ["terminal", 422, 2, "Objects of the repository are missing: the clone is partial or damaged.", "Complete a partial clone with `git fetch --refetch --no-filter`."],
  ANT_REPO_NOT_FOUND: ["terminal", 422, 2, "There is no repository at this path, or it is not served here.", "Check --repo: a path is read on the Director's machine, and must be in ANTIPHON_REPO_ROOTS if that is set; a URL must name a repository that the deployment's user may read."],
  ANT_REPO_NOT_GIT: ["terminal", 422, 2, "The path is not a git repository.", "Run `git init` and commit, or check --repo."],
  ANT_REPO_NO_COMMITS: ["terminal", 422, 2, "The repository has no commit yet.", "Create a first commit: `git add --all && git commit`."],
  ANT_REPO_REF_BLOCKED: ["terminal", 422, 2, "An existing branch blocks the names of run branches.", "Rename the branch `antiphon`: run branches are `antiphon/<runId>`."],
  ANT_REPO_REF_INVALID: ["terminal", 422, 2, "The value is neither a valid branch or tag name nor a commit id.", "Give a branch, a tag or a commit id; `git rev-parse <expression>` turns an expression into an id."],
  ANT_REPO_REF_NOT_FOUND: ["terminal", 422, 2, "The repository has no such ref.", "Check --base and --land with `git branch -a`."],
  ANT_REPO_REF_RESERVED: ["terminal", 422, 2, "A run cannot land on a branch of Antiphon's own.", "Name a branch outside of `antiphon/`. The commits of a run are on `antiphon/<runId>` without --land, too."],
  ANT_REPO_REF_UNSURE: ["terminal", 422, 2, "The branch to land on does not exist, and its name is that of a tag or a slip of another branch.", "Name the branch that is meant. If it is to be a new one, give its full name: `--land refs/heads/<branch>`."],
  ANT_REPO_REMOTE_DENIED: ["retry", 502, 1, "The remote repository does not accept the deployment's credentials.", "Check ANTIPHON_GIT_CREDENTIALS or ANTIPHON_GIT_SSH_KEY and ANTIPHON_GIT_KNOWN_HOSTS of the Director."],
  ANT_REPO_REMOTE_FETCHING: ["retry", 503, 4, "The repository is being fetched for the first time, which takes a while.", "Send the request again in a moment; the fetch continues."],
  ANT_REPO_REMOTE_UNREACHABLE: ["retry", 502, 4, "The remote repository could not be reached.", "Check the URL and the Director's network; work that waits for it is tried again."],
  ANT_REPO_ROOTS_UNSET: ["terminal", 403, 2, "The deployment serves other machines but does not say which directories may contain repositories.", "Start the Director with ANTIPHON_REPO_ROOTS set to these directories, separated by colons."],
  ANT_REPO_TOO_LARGE: ["terminal", 422, 2, "The files of the commit are more, or larger, than a sandbox can hold.", "Take files that no check needs out of the commit, or keep large ones in Git LFS; `git ls-tree -r -l HEAD | sort -k 4 -n | tail` lists the largest."],
  ANT_REPO_UNREADABLE: ["terminal", 422, 2, "Git cannot read the repository.", "Read git's message in the details; `git fsck` may tell more."],
  ANT_REPO_URL_INVALID: ["terminal", 422, 2, "The URL of the repository cannot be used.", "Give https://host/path, ssh://user@host/path, git:// or file:///path, without a password, a query or escapes."],
  ANT_REPO_URL_REFUSED: ["terminal", 403, 2, "The deployment does not serve this URL.", "Start the Director with the URL, or a prefix of it, in ANTIPHON_REPO_URLS."],
  ANT_REVIEW_INVALID: ["attempt", 200, 1, "The agent of a review wrote no findings.json, or one that is not valid.", "`antiphon explain Findings` shows the fields; a review that found nothing writes an empty list."],
  ANT_RPC_NEWER: ["retry", 503, 4, "A request came from a newer version of Antiphon and holds what this one does not know.", "Upgrade the service that says so, or start a newer one beside it; the request is sent again (docs/guides/upgrade.md)."],
  ANT_RPC_TIMEOUT: ["retry", 504, 4, "A service did not answer in time.", "Check that it runs: `antiphon doctor`."],
  ANT_RUN_CANCELED: ["terminal", 200, 1, "The run was canceled.", "If it is still wanted, `antiphon retry <runId>` starts its intent again, as a new run."],
  ANT_RUN_NOT_ARCHIVED: ["terminal", 409, 2, "The run was never archived: its records are in the journal.", "Nothing to do: read it as it is."],
  ANT_RUN_NOT_FOUND: ["terminal", 404, 2, "There is no run with this id.", "`antiphon runs` lists them."],
  ANT_RUN_NOT_RETRYABLE: ["terminal", 409, 2, "Only a run that failed or was canceled can be retried.", "Start a new run with the same words if you want it once more; an open run ends by itself (`antiphon wait <runId>`) or with `antiphon cancel <runId>`."],
  ANT_RUN_NOT_WAITING: ["terminal", 409, 2, "The run is not waiting for an answer.", "Look at its status: `antiphon run get <runId>`."],
  ANT_RUN_TERMINAL: ["terminal", 409, 2, "The run is over.", "Nothing to do: a run that is over does not change. `antiphon retry <runId>` repeats one that failed or was canceled."],
  ANT_RUN_TIME_BUDGET: ["terminal", 200, 1, "The run did not finish within its wall-clock budget.", "Raise run_time_budget_s, or split the run; `antiphon retry <runId>` starts it again."],
  ANT_RUN_WAITING_INPUT: ["terminal", 200, 3, "The run waits for an answer.", "Answer with `antiphon answer <runId>`, or `POST /runs/:id/events`."],
  ANT_SANDBOX_BUSY: ["retry", 503, 4, "All sandbox slots are in use.", "It is retried automatically. For more slots, start another sandbox-runner."],
  ANT_SANDBOX_CANCELED: ["terminal", 200, 1, "The sandbox was stopped because the run was canceled.", "Nothing to do; `antiphon diff <runId>` shows the change so far, and `antiphon run --patch <runId>` goes on from it."],
  ANT_SANDBOX_DISK: ["attempt", 200, 1, "A command filled the sandbox's disk.", "Write less to /workspace and /tmp."],
  ANT_SANDBOX_FAILED: ["retry", 500, 1, "The sandbox could not carry out the job.", "Read the engine's message in the details; the job is retried."],
  ANT_SANDBOX_FORGED: ["retry", 503, 4, "Answers to a job bore no signature of a trusted runner.", "Find out who else answers in the runners' queue group, or add the runner's public key to the file of ANTIPHON_TRUSTED_RUNNERS."],
  ANT_SANDBOX_IMAGE_INVALID: ["terminal", 422, 2, "The value is not a valid image name.", "Write it as `[registry/]name[:tag]` or `name@sha256:...`, in lower case; `docker image ls` lists the local images."],
  ANT_SANDBOX_IMAGE_MISSING: ["terminal", 503, 4, "The sandbox image is not on the engine.", "Get the standard image with `antiphon setup`; `docker pull` or `docker build` any other on the machine of the sandbox-runner."],
  ANT_SANDBOX_IMAGE_NOT_ALLOWED: ["terminal", 403, 1, "The image is not on this deployment's allowlist.", "Use one that `antiphon images list` shows, or get this one (`docker pull <ref>`) and allow it by its digest: `antiphon images allow <ref>`."],
  ANT_SANDBOX_IMAGE_UNUSABLE: ["terminal", 422, 1, "No sandbox can be created from this image.", "Use an image with a POSIX shell at /bin/sh, without declared volumes, for this machine's architecture; the details say what failed."],
  ANT_SANDBOX_LEFT: ["retry", 503, 4, "A job's container could not be removed and may still be running.", "Check the container engine. Another attempt takes over in its own container, and the runner keeps trying to remove the old one."],
  ANT_SANDBOX_NO_SPACE: ["retry", 507, 1, "A disk that sandboxes need has no space left.", "Free space on the disk that the message names (`df -h`). On a container engine's disk, `docker system df` shows what uses it, and `docker image prune` and `docker builder prune` remove what nothing uses. Then run the check again; a run goes on by itself."],
  ANT_SANDBOX_OOM: ["attempt", 200, 1, "The sandbox used all its memory and was killed.", "Use less memory, or raise the limit."],
  ANT_SANDBOX_OUTPUT: ["attempt", 200, 1, "The output of the sandbox is not allowed: it is too large, contains a link, or has a path outside /workspace.", "Write only regular files inside /workspace, within the limits."],
  ANT_SANDBOX_PATH: ["terminal", 422, 1, "A file for the sandbox has a path that is not allowed.", "Use paths relative to /workspace, without `..`."],
  ANT_SANDBOX_PIDS: ["attempt", 200, 1, "A command reached the sandbox's process limit.", "Start fewer processes at once."],
  ANT_SANDBOX_PROVIDER: ["terminal", 503, 2, "The chosen sandbox provider cannot be used here.", "The details say why; `antiphon doctor` lists the providers and their requirements. Choose with ANTIPHON_SANDBOX_PROVIDER."],
  ANT_SANDBOX_REFUSED: ["terminal", 403, 1, "The runner refuses this job.", "The details say which rule; ask for an image and limits it allows."],
  ANT_SANDBOX_RUNNER_LOST: ["retry", 503, 4, "The sandbox-runner went silent.", "The job is retried on another one; check the runner's log."],
  ANT_SANDBOX_TIMEOUT: ["attempt", 200, 1, "A command was killed at its time limit.", "Make it faster, or raise time_budget_s."],
  ANT_SERVICE_FAILED: ["terminal", 422, 1, "A service that the checks need did not become ready.", "The details have the end of its output. Correct `services` in antiphon.yaml; `antiphon init` tries them."],
  ANT_SESSION_AMEND: ["terminal", 409, 1, "There is no commit that the session may amend: it made none, or pushed it already.", "Make a new commit instead."],
  ANT_SESSION_BRANCH: ["terminal", 409, 1, "A session has one branch of its own, and the command names another one, or one that exists already.", "Name the session's own branch, choose a name that is free, or open another session."],
  ANT_SESSION_BUILD: ["terminal", 422, 1, "The project cannot be built as the command asks.", "Name a project file that the message lists, and only the options that its build tool has."],
  ANT_SESSION_CLEAN: ["terminal", 409, 1, "There is nothing to commit: no change lies at these paths.", "Apply a patch first, or name other paths."],
  ANT_SESSION_COMMAND_ID: ["terminal", 409, 2, "The session has another command with this commandId.", "Give each new command a commandId of its own. The same command with the same id is carried out once, however often it is sent."],
  ANT_SESSION_EXPIRED: ["terminal", 401, 2, "The session token has expired.", "Open another session: `POST /sessions` with the deployment's token; `antiphon` does this automatically."],
  ANT_SESSION_FILTER: ["terminal", 422, 1, "The filter cannot be passed to the repository's tests, or it matches none of them.", "Use a runner whose filter is known (pytest, unittest, Node's, Jest, Vitest, Mocha, AVA, Go, cargo), or run the tests without a filter."],
  ANT_SESSION_NOT_FOUND: ["terminal", 404, 2, "There is no session with this id that accepts commands.", "Open one with `POST /sessions` and {repo}; sessions are kept for seven days."],
  ANT_SESSION_NOT_WAITING: ["terminal", 409, 2, "The session has no open request for approval with this command id.", "List the open ones with `GET /sessions/<id>/approvals`."],
  ANT_SESSION_REJECTED: ["terminal", 200, 1, "A person rejected what the session asked approval for.", "Read the reason, change the work, and send `RequestApproval` again."],
  ANT_SESSION_REMOTE: ["terminal", 409, 1, "The session's repository has no remote to push to.", "Set its `origin`, and start the Director with that URL in ANTIPHON_REPO_URLS."],
  ANT_SESSION_REQUIRED: ["terminal", 401, 2, "Prompts require a session token; the deployment's own token is not accepted.", "Get one with `POST /sessions` and the deployment's token; `antiphon` does this automatically."],
  ANT_SESSION_SCOPE: ["terminal", 403, 2, "The token of a session of one repository does not reach this.", "Use your own token, or that of the deployment. A session's token reaches its session, and the intents and runs of its repository."],
  ANT_SETUP_FAILED: ["terminal", 500, 1, "A step of set-up failed.", "Run `antiphon setup`, which shows each step."],
  ANT_SETUP_MISSING: ["terminal", 500, 2, "The checkout is not set up.", "Run `npm run setup` in it."],
  ANT_SIGNATURE_INVALID: ["terminal", 502, 1, "A decision is not signed by a trusted Director, or a report not by the Associate that claimed the attempt.", "Do not act on it. List such records with `antiphon doctor --journal`; docs/guides/keys.md says how to handle them and how to trust a key."],
  ANT_STATE_CORRUPT: ["terminal", 500, 1, "The local state directory cannot be used.", "Delete it and run `antiphon setup`."],
  ANT_STATE_DISK_FULL: ["retry", 507, 1, "A disk that the command writes to is full.", "Free some space there (`df -h`), then run it again; accepted work is not lost."],
  ANT_STATE_UNWRITABLE: ["terminal", 500, 2, "This user may not write to the state directory of the command.", "Use a directory of your own: set ANTIPHON_STATE_DIR (for `antiphon dev` also --state-dir), or take ownership of the one named in the message."],
  ANT_TASK_CHANGES_ASKED: ["attempt", 200, 1, "A person asked for changes instead of letting the attempt land.", "The task is retried with the reason as feedback. When its attempts are used up, change the intent and run it again."],
  ANT_TASK_GIT_FAILED: ["attempt", 200, 1, "The git verb of a task failed in its sandbox.", "Read git's message in the evidence (`work/1.stderr.txt`). The image needs git, and files that `git_checkout` names must be in the commit it goes back to."],
  ANT_TASK_KIND_UNSUPPORTED: ["terminal", 422, 1, "This Associate does not know the kind or the git verb of the task.", "Upgrade the Associates to the release of the Router that planned the task."],
  ANT_TASK_LAPSED: ["attempt", 200, 1, "The lease of the attempt expired: its Associate stopped sending heartbeats.", "The task is retried at the next epoch."],
  ANT_TASK_MODIFIED_FILES: ["attempt", 200, 1, "A task that must not change files changed some.", "Run it with `--workflow BUILD` (in a plan: give the task the kind edit_repo), or let the agent leave the files alone."],
  ANT_TASK_POISON: ["terminal", 200, 1, "Too many attempts of the task were lost; it probably crashes the process that works on it.", "Inspect the dead letter (`antiphon dlq list`), fix the cause, then `antiphon retry <runId>`."],
  ANT_TASK_REJECTED: ["terminal", 200, 1, "A person rejected the task, so its change never lands.", "Read the reason, then change the intent and run it again, or repeat it with `antiphon retry <runId>`."],
  ANT_TASK_TIME_BUDGET: ["attempt", 200, 1, "The attempt took longer than its time budget and was killed.", "Raise time_budget_s, or split the task."],
  ANT_TASK_UNANSWERED: ["terminal", 200, 1, "The task's question was not answered in time.", "`antiphon retry <runId>` asks again; raise question_timeout_s to wait longer."],
  ANT_TRUST_MISSING: ["terminal", 500, 2, "No trusted keys are configured.", "Set the named variable to a file with the public keys (a JWK set): ANTIPHON_TRUSTED_KEYS of the Directors, ANTIPHON_TRUSTED_RUNNERS of the sandbox-runners; docs/guides/keys.md says how to create it. `antiphon dev` creates its own."],
  ANT_USAGE: ["terminal", 400, 2, "The command line is not valid.", "Read `antiphon --help`."],
  ANT_VERIFY_CHECK_FAILED: ["attempt", 200, 1, "A check failed in the clean room.", "Read the check's output in the evidence: `antiphon evidence get <runId>`. If it is the wrong check, `antiphon run --patch <runId> --check <command>` tries the same change with another one; a retry keeps it."],
  ANT_VERIFY_CRITERION: ["terminal", 200, 1, "No check decides an acceptance criterion of the task.", "Give the criterion a check (`criterion`, `check`), let people approve the change with --require-approval, or allow it with --allow-unverified."],
  ANT_VERIFY_FLAKY: ["attempt", 200, 1, "The same tree passed and failed.", "Fix the check; every trial is in the evidence."],
  ANT_VERIFY_MASKED: ["attempt", 200, 1, "The check passes only with a file that the change adds beside the tests.", "Repair the source so that the check passes without it, or grant the file with --grant."],
  ANT_VERIFY_NO_CHECK: ["terminal", 200, 1, "No check was given and none could be found.", "Give one with `--check <command>`, or allow it with --allow-unverified. If the run asked for one and nobody answered in time, `antiphon retry <runId>` asks again."],
  ANT_VERIFY_NO_PROGRAM: ["terminal", 200, 1, "A check cannot start: the sandbox lacks its program, or it is a protected file that is not executable.", "Start a new run with another check (`antiphon run --check <command>`; a retry keeps the old one), make its file executable (`git update-index --chmod=+x <file>`), or use an image that has the program (`antiphon images build --with <toolchains>`, --image), or install it with --setup. A module of Python is installed if a committed requirements.txt names it."],
  ANT_VERIFY_OWN_TESTS: ["attempt", 200, 1, "The tests that the change brings also pass on the sources of the base.", "Write a test that fails without the change, or leave tests that describe what is there to a change of their own; else let people approve it with --require-approval, or allow it with --allow-unproven."],
  ANT_VERIFY_PROVES_NOTHING: ["terminal", 200, 1, "The checks prove less about the change than is demanded.", "Give a check that reads the changed files and fails without the change (`--check <command>`), let people approve the change with --require-approval, or allow it with --allow-unproven."],
  ANT_VERIFY_SELF_FAILED: ["attempt", 200, 1, "The Associate's own verification failed.", "Read the check's output with `antiphon logs <runId>`. If it fails without any change too, mend that first: `antiphon check` runs it on your work tree. If it is the wrong check, `antiphon run --patch <runId> --check <command>` tries the same change with another one; a retry keeps it."],
  ANT_VERIFY_TAMPERED: ["attempt", 200, 1, "The change's code wrote to protected files while the checks ran.", "Leave the named files alone, or grant them with --grant."],
  ANT_VERIFY_TEST_AWARE: ["attempt", 200, 1, "A source of the change asks whether it is being tested, where, or until when; takes over the assertions; or reads the tests.", "Write the source without it. If it is meant, let people approve the change with --require-approval, or allow it with --allow-unverified."],
  ANT_VERIFY_UNREPORTED: ["attempt", 200, 1, "The check passed, but the report of its test runner is missing or counts fewer tests than on the base.", "Let the code under test not end the process. If tests are meant to go, grant their files with --grant, let people approve the change with --require-approval, or allow it with --allow-unverified."],
  ANT_VERIFY_UNTESTED: ["attempt", 200, 1, "Nothing that the checks run uses the sources of the change: the checks pass without its files, too.", "Add a test that uses the named sources and fails without them, or name a check that runs them (`--check <command>`); else let people approve the change with --require-approval, or allow it with --allow-unproven."],
  ANT_WORK_ITEMS_CREDENTIALS: ["terminal", 502, 1, "The issue tracker does not accept the deployment's token.", "Put a valid token into the file that ANTIPHON_WORK_ITEMS_TOKEN names, and restart the Director."],
  ANT_WORK_ITEMS_FORBIDDEN: ["terminal", 403, 1, "The deployment's token may not do this at the issue tracker.", "Give the token the right to read and write issues of the project, or use a token of another account."],
  ANT_WORK_ITEMS_PROJECT: ["terminal", 409, 1, "The repository is not cloned from a project of the deployment's issue tracker.", "Set its `origin` to a project of the server that ANTIPHON_WORK_ITEMS names, or use the file backlog."],
  ANT_WORK_ITEMS_THROTTLED: ["retry", 429, 1, "The issue tracker takes no more calls for a while.", "Send the command again, with a new id, at the time that the `Throttled` event names."],
  ANT_WORK_ITEMS_UNAVAILABLE: ["retry", 503, 1, "The issue tracker or the backlog file cannot be reached now.", "Send the command again, with a new id; if it fails again, check the server that ANTIPHON_WORK_ITEMS names."],
  ANT_WORK_ITEMS_UNREADABLE: ["terminal", 502, 1, "The backlog file or an answer of the issue tracker does not have the expected form.", "Correct the file that the message names (`antiphon explain Backlog`), or check that ANTIPHON_WORK_ITEMS names the API's server."],
  ANT_WORK_ITEM_NOT_FOUND: ["terminal", 404, 1, "There is no such work item, or the deployment's account cannot see it.", "List the items with QueryBacklog, and check that the account may see the project."],
  ANT_WORK_ITEM_REFUSED: ["terminal", 422, 1, "The issue tracker refused the change of a work item.", "Correct what the message names, such as a state that the tracker does not have or an unknown assignee."],
} as const satisfies Record<string, Row>;

export type ErrorCode = keyof typeof TABLE;

export type ErrorEntry = {
  code: ErrorCode;
  disposition: Disposition;
  httpStatus: number;
  exitCode: number;
  meaning: string;
  remedy: string;
};

export const ERROR_CODES = Object.keys(TABLE) as ErrorCode[];

/** The table by code. */
export const ERRORS: { readonly [C in ErrorCode]: ErrorEntry } = Object.fromEntries(
  ERROR_CODES.map((code) => {
    const [disposition, httpStatus, exitCode, meaning, remedy] = TABLE[code];
    return [code, { code, disposition, httpStatus, exitCode, meaning, remedy }];
  }),
) as { [C in ErrorCode]: ErrorEntry };

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(TABLE, value);
}

/** An error on the wire (HTTP bodies, rpc replies, `--json`). */
export type ErrorDocument = {
  code: string;
  message: string;
  remedy: string;
  data?: Record<string, unknown>;
};

/** The remedy of an error that a run ended with: its commands name that run. */
export function remedyFor(code: ErrorCode, runId: string): string {
  return ERRORS[code].remedy.replaceAll("<runId>", runId);
}

/** `remedy`: instead of the table's, where it depends on what happened. It stays in the process: an rpc reply carries code and data. */
export type AntiphonErrorOptions = { data?: Record<string, unknown>; cause?: unknown; remedy?: string };

/** A named failure. `detail` says what happened this time; the table gives the meaning and the remedy. */
export class AntiphonError extends Error {
  override readonly name = "AntiphonError";
  readonly code: ErrorCode;
  readonly detail: string;
  readonly data: Record<string, unknown>;
  readonly remedy: string;

  constructor(code: ErrorCode, detail?: string, options: AntiphonErrorOptions = {}) {
    const said = detail ?? ERRORS[code].meaning;
    super(said, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.detail = said;
    this.data = options.data ?? {};
    this.remedy = options.remedy ?? ERRORS[code].remedy;
  }

  get disposition(): Disposition {
    return ERRORS[this.code].disposition;
  }
  get httpStatus(): number {
    return ERRORS[this.code].httpStatus;
  }
  get exitCode(): number {
    return ERRORS[this.code].exitCode;
  }

  toJSON(): ErrorDocument {
    const document = { code: this.code, message: this.detail, remedy: this.remedy };
    return Object.keys(this.data).length > 0 ? { ...document, data: this.data } : document;
  }

  /**
   * Turns any thrown value into a named failure that keeps its cause. Without a fallback, errors of the NATS client for an
   * absent server become ANT_NATS_UNREACHABLE, and unknown errors become ANT_INTERNAL.
   */
  static from(thrown: unknown, fallback?: ErrorCode): AntiphonError {
    if (thrown instanceof AntiphonError) return thrown;
    const detail = thrown instanceof Error ? thrown.message : String(thrown);
    const code = fallback ?? (isOutage(thrown) ? "ANT_NATS_UNREACHABLE" : "ANT_INTERNAL");
    return new AntiphonError(code, detail, { cause: thrown });
  }
}

/** Names of the NATS client's errors for an unanswered request and a lost connection. */
const OUTAGES: ReadonlySet<string> = new Set([
  "ClosedConnectionError",
  "ConnectionError",
  "DrainingConnectionError",
  "JetStreamNotEnabled",
  "NoResponders",
  "RequestError",
  "TimeoutError",
]);

function isOutage(thrown: unknown): boolean {
  // A DOMException may be a TimeoutError too: of a caller's own deadline, not of the server's silence.
  return thrown instanceof Error && !(thrown instanceof DOMException) && OUTAGES.has(thrown.name);
}
