/**
 * Every error Antiphon can name. Nobody matches on message text: the code is the contract.
 * To add one, append a line; docs/reference/errors.md and a test keep table and docs to each other.
 *
 * Disposition: `retry` - the same thing may work later; `attempt` - this attempt is over, the next epoch may do
 * better; `terminal` - trying again changes nothing.
 * Exit codes: 1 the run failed, 2 usage, 3 needs input, 4 unreachable.
 */
export type Disposition = "retry" | "attempt" | "terminal";

/** disposition, HTTP status, exit code, what it means, how to mend it */
type Row = readonly [Disposition, number, 0 | 1 | 2 | 3 | 4, string, string];

// One line a row, so that a diff shows one error.
// prettier-ignore
const TABLE = {
  ANT_ADAPTER_UNAVAILABLE: ["terminal", 501, 1, "A command needs an adapter that this deployment does not have.", "Use the commands it has: ApplyPatch and RunTests; or an intent."],
  ANT_AGENT_FAILED: ["attempt", 500, 1, "The agent ended without a usable result.", "Read its transcript in the evidence; change the task or pick another agent."],
  ANT_AGENT_MISSING: ["terminal", 422, 2, "The intent does not say which agent does the work.", "Give `inputs.agent`, or on the command line one of --command, --patch, --program, --seed."],
  ANT_AGENT_TOOL_REFUSED: ["attempt", 403, 1, "The agent asked for a tool the task does not allow.", "Add the tool to allowed_tools, or let the agent do without."],
  ANT_AGENT_UNKNOWN: ["terminal", 422, 2, "There is no agent of that kind.", "Use one of: scripted, command, replay."],
  ANT_APPROVAL_OWN: ["terminal", 403, 2, "An approval does not count: it is by who asked for the run, or by a name that many share.", "Have somebody else approve, with a token of his own; reject and changes are open to everybody."],
  ANT_APPROVAL_STALE: ["terminal", 409, 2, "An approval is about something else than what would land now.", "`antiphon get <runId>` shows what waits; look at it, then decide on that."],
  ANT_ARCHIVE_CORRUPT: ["terminal", 500, 1, "The pack that holds an archived run is gone, or not what the run's `archived` record says.", "Put the object the details name back into ANT_ARCHIVE from a backup; `nats object ls ANT_ARCHIVE` shows those that are there."],
  ANT_ASSOCIATE_DRAINING: ["retry", 200, 1, "The Associate was asked to stop before the attempt was over.", "It is tried again at the next epoch, on an Associate that stays."],
  ANT_BLOB_CONFLICT: ["terminal", 409, 1, "An object of that name already holds other bytes.", "Objects are written once; choose another name."],
  ANT_BLOB_CORRUPT: ["terminal", 500, 1, "Stored bytes do not match their digest.", "Restore the object from a backup, or run the attempt again."],
  ANT_BLOB_DEADLINE: ["retry", 504, 4, "Reading or writing an object took too long.", "Check that JetStream is healthy: `nats stream report`."],
  ANT_BLOB_MISSING: ["terminal", 404, 1, "An object that a record refers to is not in its bucket.", "Look in the bucket with `nats object ls`; run the attempt again to make it anew."],
  ANT_BLOB_TOO_LARGE: ["terminal", 413, 1, "An object is larger than its bound.", "Produce less, or raise the bound in the limits."],
  ANT_BUILD_FAILED: ["terminal", 500, 2, "The bundle could not be made from the sources.", "Correct the source that the message names."],
  ANT_CLAIM_LOST: ["terminal", 409, 1, "Another Associate holds this attempt, or a newer epoch exists.", "Nothing to do: the work goes on elsewhere."],
  ANT_COMMAND_STALLED: ["retry", 500, 1, "The command ended before its work was done: nothing it waited for could still happen.", "Run it again; what it started may go on, `antiphon runs` shows it. If it happens again, report it with the command line."],
  ANT_CONFIG_INVALID: ["terminal", 500, 2, "A setting has a value that cannot be used.", "Correct the environment variable or option the details name."],
  ANT_CONTRACT_INVALID: ["terminal", 400, 2, "A message does not have the shape of its contract.", "See the path in the details; `antiphon explain <schema>` shows the fields."],
  ANT_CONTRACT_LIMIT: ["terminal", 413, 2, "A message is deeper, larger or has more keys than any contract allows.", "Send large content as an object in a bucket and refer to it."],
  ANT_CONTRACT_RESERVED: ["terminal", 422, 2, "The command is reserved for the future and must not be sent.", "Use another command; SpawnSession and LinkPlanNode have no meaning yet."],
  ANT_CONTRACT_UNKNOWN: ["terminal", 404, 2, "There is no contract of that name.", "`antiphon explain` lists the names."],
  ANT_CONTRACT_VERSION: ["terminal", 422, 2, "The message is of a version this reader cannot bring up to date.", "Upgrade this reader, or send a version it knows."],
  ANT_DEV_ALREADY_RUNNING: ["terminal", 409, 2, "Another `antiphon dev` uses this state directory.", "Use it, stop it, or give this one its own --state-dir, --port and --nats-port."],
  ANT_DEV_NOT_READY: ["terminal", 503, 4, "A part of `antiphon dev` does not come up.", "Read its log under .antiphon/dev/logs; `antiphon doctor` checks what it needs."],
  ANT_DEV_PORT_TAKEN: ["terminal", 409, 2, "A port that `antiphon dev` needs is taken.", "Stop what listens there, or choose other ports with --port and --nats-port (0: any free one)."],
  ANT_DIRECTOR_UNAVAILABLE: ["retry", 503, 4, "No Director answered.", "Start one: `antiphon dev`, or `antiphon serve --role director`."],
  ANT_DLQ_NOT_FOUND: ["terminal", 404, 2, "There is no dead letter of that id.", "`antiphon dlq list` shows them; one that was requeued is gone from the list."],
  ANT_DLQ_RUN_OVER: ["terminal", 409, 2, "The run of the dead letter is over, so nothing is left to handle.", "Start the same intent again: `antiphon retry <runId>`."],
  ANT_DLQ_UNREADABLE: ["terminal", 409, 2, "What became a dead letter is no record that can be handled again.", "Look at it with `antiphon dlq show <id>`; remove it with `nats stream rmm ANT_DLQ`."],
  ANT_DOCKER_UNREACHABLE: ["retry", 503, 4, "The container engine does not answer.", "Start it: `npm run setup`, or set DOCKER_HOST."],
  ANT_EGRESS_ADDRESS: ["terminal", 403, 1, "A sandbox asked for an address instead of a name, or for a name whose address is not public.", "Ask for a host by its public name."],
  ANT_EGRESS_BUDGET: ["terminal", 402, 1, "The run has no budget left for this model call, or none at all.", "Give or raise `model_budget`; a call is charged its maximum until its usage is known."],
  ANT_EGRESS_BUSY: ["retry", 503, 4, "The egress gateway holds as many sandboxes or connections as it may.", "It is tried again by itself; start another egress gateway."],
  ANT_EGRESS_HOST: ["terminal", 403, 1, "The sandbox's profile does not allow this host.", "Add it to the allowlist of the run's egress profile, or do without."],
  ANT_EGRESS_LOST: ["retry", 503, 4, "The egress gateway went away while a sandbox used it.", "It is tried again; check the gateway's log."],
  ANT_EGRESS_MALFORMED: ["terminal", 400, 1, "A sandbox sent a request that can be read in two ways, or in none.", "Send a plain HTTP/1.1 request: one Host that equals the target, one length."],
  ANT_EGRESS_METHOD: ["terminal", 403, 1, "The sandbox's profile does not allow this method or path on this host.", "Fetch, do not push; download, do not publish."],
  ANT_EGRESS_MISMATCH: ["terminal", 403, 1, "The names in CONNECT, in the TLS handshake and in Host are not the same.", "Use one name; connect to the host that is meant."],
  ANT_EGRESS_MODEL: ["terminal", 403, 1, "A model call that cannot be priced before it leaves.", "Use a model of the gateway's price list, with plain text and own tools."],
  ANT_EGRESS_QUOTA: ["terminal", 429, 1, "The sandbox used up its requests or bytes.", "Fetch less; the bounds are in the limits."],
  ANT_EGRESS_TIMEOUT: ["terminal", 504, 1, "A connection was idle, or a request took too long.", "Try again; ask for less at once."],
  ANT_EGRESS_TOKEN: ["terminal", 401, 1, "A connection to a sandbox's listener does not bear its token.", "Only the sandbox-runner connects here."],
  ANT_EGRESS_UNAVAILABLE: ["retry", 503, 4, "No egress gateway answers, and the task asks for a network.", "Start one: `antiphon serve --role egress`; or run with egress `none`."],
  ANT_EGRESS_UNSUPPORTED: ["terminal", 422, 1, "This sandbox cannot carry network traffic.", "Use an image in which the sealed supervisor runs, or egress `none`."],
  ANT_EGRESS_UPSTREAM: ["terminal", 502, 1, "The other side could not be reached, could not prove its name, or answered something unreadable.", "Check that the host works from the gateway's network."],
  ANT_EVIDENCE_NOT_FOUND: ["terminal", 404, 2, "There is no such evidence.", "`antiphon evidence get <runId>` lists what there is."],
  ANT_GATEWAY_BODY: ["terminal", 400, 2, "The request body is not JSON.", "Send `content-type: application/json` and a JSON document."],
  ANT_GATEWAY_BODY_TOO_LARGE: ["terminal", 413, 2, "The request body is larger than its bound.", "Send less: large patches and recordings can be split into tasks."],
  ANT_GATEWAY_BUSY: ["retry", 429, 4, "The gateway takes no more work at the moment.", "Try again after the time in Retry-After."],
  ANT_GATEWAY_HEADERS: ["terminal", 431, 2, "The path and the headers of a request take at most 16 KiB together.", "Send shorter headers; large content goes into the body."],
  ANT_GATEWAY_HOST: ["terminal", 403, 2, "The request was sent to a host name this gateway does not answer to.", "Call it as 127.0.0.1 or localhost, or set its public name."],
  ANT_GATEWAY_IDEMPOTENCY: ["terminal", 409, 2, "This Idempotency-Key was used for another request.", "Use a new key for a new request; the same key only repeats the same one."],
  ANT_GATEWAY_METHOD: ["terminal", 405, 2, "The path takes other methods.", "Use one that the `Allow` header of the answer names."],
  ANT_GATEWAY_ORIGIN: ["terminal", 403, 2, "Another web origin may not call this gateway.", "Open the UI from the gateway itself, or allow the origin."],
  ANT_GATEWAY_REQUEST: ["terminal", 400, 2, "What was sent is no HTTP request that can be read.", "Send an HTTP/1.1 request: a request line, headers, an empty line, then the body."],
  ANT_GATEWAY_ROUTE: ["terminal", 404, 2, "The gateway has no such route.", "See services/gateway/README.md for the routes."],
  ANT_GATEWAY_TOKEN_REQUIRED: ["terminal", 401, 2, "A token is needed.", "Set ANTIPHON_TOKEN to the gateway's token; a gateway beyond loopback cannot run without one."],
  ANT_GATEWAY_TOKEN_WEAK: ["terminal", 500, 2, "The gateway's token is too short to be a secret.", "Set ANTIPHON_TOKEN to a random one, the same for gateway and CLI: `openssl rand -hex 24` makes one."],
  ANT_GATEWAY_UNREACHABLE: ["retry", 503, 4, "No gateway answers at that address.", "Start one: `antiphon dev`; or set ANTIPHON_GATEWAY_URL."],
  ANT_GATEWAY_UNSAFE_BIND: ["terminal", 500, 2, "The gateway does not listen beyond loopback without a token.", "Set ANTIPHON_TOKEN, or listen on 127.0.0.1."],
  ANT_GIT_ARGUMENT: ["terminal", 400, 2, "A name or id given to git is not one it may be given.", "Use full object ids and plain branch names."],
  ANT_GIT_FAILED: ["terminal", 500, 1, "Git refused or failed.", "The details carry git's own message."],
  ANT_GIT_INTERRUPTED: ["retry", 503, 1, "The machine did not let a git command end: it was killed, or disk space, memory, processes or open files ran out.", "Free what the details name, or raise the service's limits; it is tried again, at most 30 s apart, until it works or the run is canceled or over its time budget. It becomes no dead letter."],
  ANT_GIT_MISSING: ["terminal", 503, 2, "There is no git program, or it is older than 2.38.", "Install git 2.38 or newer; `antiphon doctor` checks it."],
  ANT_GIT_OUTPUT_LIMIT: ["terminal", 413, 1, "Git wrote more than the bound of the operation.", "Work on a smaller repository or change."],
  ANT_GIT_TIMEOUT: ["retry", 504, 1, "A git command took longer than its deadline.", "Check the disk the repository is on; it is tried again."],
  ANT_INTENT_INVALID: ["terminal", 400, 2, "The intent does not have the shape of Intent.v0.", "Correct the field the details name; `antiphon explain Intent` shows all of them."],
  ANT_INTENT_NOT_FOUND: ["terminal", 404, 2, "There is no intent of that id.", "Send it again: the same body gets the same id."],
  ANT_INTENT_NO_REPO: ["terminal", 422, 2, "The intent does not say which repository to work on.", "Give `inputs.repo` (a path) in the intent, or `--repo <path>` on the command line."],
  ANT_INTENT_OPTIONS: ["terminal", 422, 2, "An option of the run, in inputs or constraints, has a value that cannot be used.", "Correct the field at the path; `antiphon explain RunOptions` shows all of them."],
  ANT_INTERNAL: ["retry", 500, 1, "A fault in Antiphon itself.", "Report it with the log line that carries this code."],
  ANT_JOURNAL_CONFLICT: ["terminal", 409, 1, "Another writer already recorded something else here.", "Nothing to do: the first record stands."],
  ANT_JOURNAL_CORRUPT: ["terminal", 500, 1, "A record does not match its digest, or cannot be read.", "`antiphon doctor --journal <runId>` shows what is left of the run; restore the record from a backup."],
  ANT_JOURNAL_GAP: ["retry", 500, 1, "A record that must be there is not in the journal.", "`antiphon doctor --journal` shows which; restore the record from a backup."],
  ANT_JOURNAL_ORDER: ["terminal", 500, 1, "A record stands where no service would have written it.", "Report it with `antiphon events <runId> --json`; compare the run with a backup."],
  ANT_LANDING_COMMIT_GONE: ["terminal", 409, 1, "The verified commit is no longer in the repository: something pruned unreachable objects before it landed.", "Run the intent again: `antiphon retry <runId>`; keep `git gc --prune=now` away from repositories with open runs."],
  ANT_LANDING_CONFLICT: ["attempt", 409, 1, "The change does not apply on the branch as it is now.", "The task is tried again on the new head."],
  ANT_LANDING_HEAD_MOVED: ["retry", 409, 1, "The branch moved while the change was being verified.", "It is verified again on the new head."],
  ANT_LANDING_REF_LOCKED: ["retry", 409, 1, "The branch, or the index of the work tree that has it checked out, could not be written.", "Wait for the other git command, or remove a stale .lock file; the details name it. It is tried again."],
  ANT_LANDING_REWIND: ["terminal", 409, 1, "The commit does not build on the head it should replace.", "Build it on the branch as it is; nothing was changed."],
  ANT_NATS_BINARY_MISSING: ["terminal", 503, 4, "No nats-server was found.", "Run `npm run setup`, or name one with NATS_SERVER_BIN."],
  ANT_NATS_DURABILITY_UNKNOWN: ["retry", 503, 4, "No answer came to the question whether the NATS server writes to disk before it acknowledges.", "A busy server answers late: start the service again. If it goes on, let the account ask (import `$SYS.REQ.SERVER.PING.JSZ`, as in runtime/README.md), or set ANTIPHON_NATS_MONITOR to the monitoring endpoint of this server."],
  ANT_NATS_NO_SPACE: ["retry", 503, 4, "JetStream has no room left.", "Free disk space or raise the stream's bound; accepted runs go on by themselves."],
  ANT_NATS_PARTITIONS: ["terminal", 500, 4, "A service is set to another number of journal partitions than the journal has.", "Set ANTIPHON_JOURNAL_PARTITIONS to the number on the server, or unset it; the number is fixed when the journal is made."],
  ANT_NATS_REJECTED: ["terminal", 500, 1, "JetStream refused a message for a reason that trying again does not change.", "Read the server's reason; compare the stream's settings with `antiphon doctor`."],
  ANT_NATS_TOO_OLD: ["terminal", 503, 4, "The NATS server is older than 2.15.", "Upgrade it; `npm run setup` fetches one that fits."],
  ANT_NATS_TOPOLOGY: ["terminal", 500, 4, "A stream exists with other guarantees than this version needs.", "Look at it with `nats stream info`; change or remove it by hand, nothing is loosened automatically."],
  ANT_NATS_UNREACHABLE: ["retry", 503, 4, "No NATS server answers.", "Start one (`antiphon dev` has one inside), or set ANTIPHON_NATS_URL."],
  ANT_NATS_UNSAFE_DURABILITY: ["terminal", 503, 4, "The NATS server acknowledges before it has written to disk.", "Set `jetstream { sync_interval: always }`, or ANTIPHON_UNSAFE_DURABILITY=1 to live with it."],
  ANT_NODE_TOO_OLD: ["terminal", 500, 2, "This Node is too old.", "Install Node 20.19 or newer."],
  ANT_PATCH_BINARY: ["attempt", 422, 1, "A binary part of the patch is damaged, without content or out of bounds.", "Make it with `git diff --binary --full-index`."],
  ANT_PATCH_DOES_NOT_APPLY: ["attempt", 422, 1, "The patch does not fit the base tree.", "Make it against the commit the run starts from."],
  ANT_PATCH_DUPLICATE: ["attempt", 422, 1, "The patch touches one path twice.", "Give each file one section."],
  ANT_PATCH_EMPTY: ["attempt", 422, 1, "The attempt changed nothing.", "Say more precisely what has to change, or use --workflow REVIEW for a task that only looks."],
  ANT_PATCH_GITLINK: ["attempt", 422, 1, "The patch touches a submodule or .gitmodules.", "Leave submodules out."],
  ANT_PATCH_HEADER: ["attempt", 422, 1, "The header lines of a file in the patch contradict each other.", "Make it with `git diff`."],
  ANT_PATCH_MALFORMED: ["attempt", 422, 1, "The patch cannot be read as a unified diff.", "Make it with `git diff`."],
  ANT_PATCH_MODE: ["attempt", 422, 1, "The patch makes something other than a regular or executable file.", "Leave symbolic links and submodules out."],
  ANT_PATCH_NAME: ["attempt", 422, 1, "A file name in the patch has characters that hide what it is.", "Use printable names without control, direction or invisible characters and without backslashes."],
  ANT_PATCH_PARSER_MISMATCH: ["terminal", 422, 1, "Git applied the patch in another way than it was checked.", "Report it with the patch; nothing was landed."],
  ANT_PATCH_PATH: ["attempt", 422, 1, "The patch names a path outside the tree or one that is never allowed.", "Use paths relative to the repository root, without `..` and outside .git."],
  ANT_PATCH_POLICY: ["attempt", 422, 1, "The change breaks a rule of the deployment's policy.", "The message names the rule: change less, or have the policy profile changed."],
  ANT_PATCH_PROTECTED: ["attempt", 422, 1, "The patch changes what judges it: a test, CI, configuration or a file that the check runs.", "Grant the path with `--grant <glob>`, or leave it alone; the message says how the check reaches it."],
  ANT_PATCH_SCOPE: ["attempt", 422, 1, "The patch changes a file outside the task's scope.", "Widen the scope with `--scope <glob>`, or leave it alone."],
  ANT_PATCH_SYMLINK: ["attempt", 422, 1, "The patch touches a symbolic link.", "Leave symbolic links as they are."],
  ANT_PATCH_TOO_LARGE: ["attempt", 413, 1, "The patch changes too many files or bytes.", "Split the task."],
  ANT_PATCH_TRUNCATED: ["attempt", 422, 1, "A hunk of the patch has more or fewer lines than its header says.", "Make it with `git diff`; do not edit hunks by hand."],
  ANT_PLAN_INVALID: ["terminal", 422, 1, "The task graph has a cycle, a duplicate id or a dependency that does not exist, or its plan is larger than one record.", "Correct the tasks the details name; a plan that is too large needs fewer or shorter tasks and checks."],
  ANT_POLICY_INVALID: ["terminal", 500, 2, "The stored policies do not have the shape of PolicyConfig.v1.3.", "Correct them: `nats kv get ANT_POLICIES config --raw | antiphon validate - --schema PolicyConfig`."],
  ANT_POLICY_REFUSED: ["terminal", 403, 1, "A rule of the deployment's policy does not allow this.", "The details name profile, rule and value: ask for less, or have the profile changed. `antiphon policy explain --repo <path>` shows what holds."],
  ANT_POLICY_THROTTLED: ["retry", 429, 4, "The caller has used up the calls that the policy allows in this time.", "Try again after the seconds in Retry-After; more calls: `limits` and `globalLimits` of the policies."],
  ANT_POLICY_UNKNOWN: ["terminal", 422, 2, "The deployment has no policy profile of that name.", "Use one of those the details name, or have it added to `config` in ANT_POLICIES."],
  ANT_RECORDING_NOT_FOUND: ["terminal", 404, 1, "There is no recorded session under that replay key.", "Record one first, or check goal, task id and seed."],
  ANT_REPO_CONFIG_INVALID: ["terminal", 422, 2, "The repository's antiphon.yaml is not valid.", "Mend the line the details name and commit; `antiphon validate antiphon.yaml` checks it."],
  ANT_REPO_DEVCONTAINER: ["terminal", 422, 2, "The repository's devcontainer.json does not name an image that could be used as it is.", "Build that image, `antiphon images allow <ref>`, then give `--image <ref>` or commit an antiphon.yaml with `image: <ref>`; `--image default` takes the standard one."],
  ANT_REPO_DIRTY: ["terminal", 422, 2, "The work tree has uncommitted changes.", "Commit or stash them, or pass --allow-dirty to start from the last commit."],
  ANT_REPO_INCOMPLETE: ["terminal", 422, 2, "Objects of the repository are missing: a partial clone, or a damaged one.", "`git fetch --refetch --no-filter` completes a partial clone."],
  ANT_REPO_NOT_FOUND: ["terminal", 422, 2, "There is no repository at that path that is served here.", "Check --repo: the path is read on the Director's machine and lies in ANTIPHON_REPO_ROOTS, where that is set."],
  ANT_REPO_NOT_GIT: ["terminal", 422, 2, "The path is not a git repository.", "Run `git init` and commit, or check --repo."],
  ANT_REPO_NO_COMMITS: ["terminal", 422, 2, "The repository has no commit yet.", "Make a first commit."],
  ANT_REPO_REF_BLOCKED: ["terminal", 422, 2, "A branch stands where Antiphon makes its own.", "Rename the branch `antiphon`: run branches are `antiphon/<runId>`."],
  ANT_REPO_REF_INVALID: ["terminal", 422, 2, "That is not a name a branch or a tag can have, and no commit id.", "Give a branch, a tag or a commit id; `git rev-parse <expression>` makes an id of an expression."],
  ANT_REPO_REF_NOT_FOUND: ["terminal", 422, 2, "The repository has no such ref.", "Check --base and --land with `git branch -a`."],
  ANT_REPO_ROOTS_UNSET: ["terminal", 403, 2, "The deployment does not say in which directories repositories may lie, and it serves others than this machine.", "Start the Director with ANTIPHON_REPO_ROOTS: those directories, separated by colons."],
  ANT_REPO_UNREADABLE: ["terminal", 422, 2, "Git cannot read the repository.", "The details carry git's own message; `git fsck` may say more."],
  ANT_RPC_TIMEOUT: ["retry", 504, 4, "A service did not answer in time.", "Check that it runs: `antiphon doctor`."],
  ANT_RUN_CANCELED: ["terminal", 200, 1, "The run was canceled.", "Start it again if you want it after all."],
  ANT_RUN_NOT_ARCHIVED: ["terminal", 409, 2, "The run was never archived: its records are in the journal.", "Nothing to do: read it as it is."],
  ANT_RUN_NOT_FOUND: ["terminal", 404, 2, "There is no run of that id.", "`antiphon runs` lists them."],
  ANT_RUN_NOT_RETRYABLE: ["terminal", 409, 2, "Only a run that failed or was canceled can be retried.", "Wait for its end, or cancel it; for a run that succeeded send the intent anew."],
  ANT_RUN_NOT_WAITING: ["terminal", 409, 2, "The run is not waiting for an answer.", "Look at its status: `antiphon run get <runId>`."],
  ANT_RUN_TERMINAL: ["terminal", 409, 2, "The run is over.", "Start a new one."],
  ANT_RUN_TIME_BUDGET: ["terminal", 200, 1, "The run was not over within its wall-clock budget.", "Raise run_time_budget_s, or split the run; `antiphon retry <runId>` starts it again."],
  ANT_RUN_WAITING_INPUT: ["terminal", 200, 3, "The run waits for an answer.", "Answer with `antiphon answer <runId>`, or `POST /runs/:id/events`."],
  ANT_SANDBOX_BUSY: ["retry", 503, 4, "Every sandbox slot is taken.", "It is tried again by itself; more slots: start another sandbox-runner."],
  ANT_SANDBOX_CANCELED: ["terminal", 200, 1, "The sandbox was stopped because the run was canceled.", "Nothing to do."],
  ANT_SANDBOX_DISK: ["attempt", 200, 1, "A command filled the sandbox's disk.", "Write less to /workspace and /tmp."],
  ANT_SANDBOX_FAILED: ["retry", 500, 1, "The sandbox could not do the job.", "The details carry the engine's message; it is tried again."],
  ANT_SANDBOX_IMAGE_INVALID: ["terminal", 422, 2, "That is not a name an image can have.", "Write it as `[registry/]name[:tag]` or `name@sha256:...`, in lower case; `docker image ls` shows those that are there."],
  ANT_SANDBOX_IMAGE_MISSING: ["terminal", 503, 4, "The sandbox image is not on the engine.", "The standard one: `npm run setup`; any other: `docker pull` or `docker build` it where the sandbox-runner is."],
  ANT_SANDBOX_IMAGE_NOT_ALLOWED: ["terminal", 403, 1, "The image is not on this deployment's allowlist.", "`antiphon images allow <ref>` allows it by its digest; `antiphon images list` shows those that are."],
  ANT_SANDBOX_IMAGE_UNUSABLE: ["terminal", 422, 1, "No sandbox can be made of this image.", "It needs a POSIX shell at /bin/sh, no declared volumes, and this machine's architecture; the details say what failed."],
  ANT_SANDBOX_LEFT: ["retry", 503, 4, "A job's container could not be removed and may still live.", "Another attempt takes over, in a container of its own; the runner's reaper goes on trying. Check the container engine."],
  ANT_SANDBOX_OOM: ["attempt", 200, 1, "The sandbox used all its memory and was killed.", "Use less, or raise the memory limit."],
  ANT_SANDBOX_OUTPUT: ["attempt", 200, 1, "What came out of the sandbox is not allowed: too much, a link, or a path outside.", "Produce regular files inside /workspace, within the limits."],
  ANT_SANDBOX_PATH: ["terminal", 422, 1, "A file for the sandbox has a path that is not allowed.", "Use paths relative to /workspace, without `..`."],
  ANT_SANDBOX_PIDS: ["attempt", 200, 1, "A command met the sandbox's process limit.", "Start fewer processes at once."],
  ANT_SANDBOX_PROVIDER: ["terminal", 503, 2, "The sandbox provider that was chosen cannot be used here.", "The details say why; `antiphon doctor` lists the providers and what each needs. Choose with ANTIPHON_SANDBOX_PROVIDER."],
  ANT_SANDBOX_REFUSED: ["terminal", 403, 1, "The runner refuses this job.", "The details say which rule; ask for an image and limits it allows."],
  ANT_SANDBOX_RUNNER_LOST: ["retry", 503, 4, "The sandbox-runner went silent.", "It is tried on another one; check the runner's log."],
  ANT_SANDBOX_SESSION_OVER: ["retry", 410, 1, "There is no such sandbox session, or not any more.", "Its lease ended, it was closed, or its runner went away: open another one."],
  ANT_SANDBOX_TIMEOUT: ["attempt", 200, 1, "A command was killed at its time limit.", "Make it faster, or raise time_budget_s."],
  ANT_SESSION_EXPIRED: ["terminal", 401, 2, "The session token is past its time.", "Open another session: `POST /sessions` with the deployment's token; `antiphon` does so by itself."],
  ANT_SESSION_NOT_FOUND: ["terminal", 404, 2, "There is no session of that id that takes commands.", "Open one: `POST /sessions` with {repo}; sessions are kept for seven days."],
  ANT_SESSION_REQUIRED: ["terminal", 401, 2, "Prompts are taken with a session token, not with the deployment's own.", "`POST /sessions` with the deployment's token gives one; `antiphon` does so by itself."],
  ANT_SESSION_SCOPE: ["terminal", 403, 2, "A session of a repository reaches that repository only.", "Open a session without a repository: `POST /sessions` without a body, with the deployment's token."],
  ANT_SETUP_MISSING: ["terminal", 500, 2, "The checkout is not set up.", "Run `npm run setup`."],
  ANT_SIGNATURE_INVALID: ["terminal", 502, 1, "A decision does not carry the signature of a Director that is trusted.", "Do not act on it: no trusted Director made it. `antiphon doctor --journal` lists such records; docs/guides/keys.md says what to do with them, and how to trust a key."],
  ANT_STATE_CORRUPT: ["terminal", 500, 1, "The local state directory cannot be used.", "Delete it and run `npm run setup`."],
  ANT_STATE_DISK_FULL: ["retry", 507, 1, "There is no room left on a disk that the command writes to.", "Free some space there (`df -h`), then run it again; nothing that was accepted is lost."],
  ANT_STATE_UNWRITABLE: ["terminal", 500, 2, "This user may not write where the command keeps its state.", "Use a directory of your own: set ANTIPHON_STATE_DIR (for `antiphon dev` also --state-dir), or become the owner of the one the message names."],
  ANT_TASK_CHANGES_ASKED: ["attempt", 200, 1, "A person asked for changes instead of letting the attempt land.", "It is tried again with the reason as feedback; when its attempts are used up, change the intent and run it again."],
  ANT_TASK_KIND_UNSUPPORTED: ["terminal", 422, 1, "No agent here does tasks of that kind.", "Use edit_repo, run or inspect."],
  ANT_TASK_LAPSED: ["attempt", 200, 1, "The Associate that held the attempt went silent.", "It is tried again at the next epoch."],
  ANT_TASK_MODIFIED_FILES: ["attempt", 200, 1, "A task that must not change files changed some.", "Make it a task of kind edit_repo, or leave the files alone."],
  ANT_TASK_POISON: ["terminal", 200, 1, "The task ended the process that worked on it too often.", "Look at the dead letter (`antiphon dlq list`); when the cause is mended, `antiphon retry <runId>`."],
  ANT_TASK_REJECTED: ["terminal", 200, 1, "A person rejected the task, so nothing of it lands.", "Read who rejected it and why; change the intent and run it again, or `antiphon retry <runId>` for the same one."],
  ANT_TASK_TIME_BUDGET: ["attempt", 200, 1, "The attempt took longer than its time budget and was killed.", "Raise time_budget_s, or split the task."],
  ANT_TASK_UNANSWERED: ["terminal", 200, 1, "Nobody answered the task's question in time.", "`antiphon retry <runId>` asks again; raise question_timeout_s to wait longer."],
  ANT_TRUST_MISSING: ["terminal", 500, 2, "It is not said whose decisions are to be believed.", "Set ANTIPHON_TRUSTED_KEYS to a file with the Directors' public keys (a JWK set); docs/guides/keys.md says how to make it. `antiphon dev` makes its own."],
  ANT_USAGE: ["terminal", 400, 2, "The command line is not right.", "`antiphon --help` shows how."],
  ANT_VERIFY_CHECK_FAILED: ["attempt", 200, 1, "A check failed in the clean room.", "Read the check's output in the evidence."],
  ANT_VERIFY_FLAKY: ["attempt", 200, 1, "The same tree passed and failed.", "Mend the check; both exit codes are in the evidence."],
  ANT_VERIFY_NO_CHECK: ["terminal", 200, 1, "No check was given and none could be found.", "Give one with `--check <command>`, or allow it with --allow-unverified."],
  ANT_VERIFY_PROVES_NOTHING: ["attempt", 200, 1, "The check passes without the change too.", "Give a check that fails on the base, or allow it with --allow-unproven."],
  ANT_VERIFY_SELF_FAILED: ["attempt", 200, 1, "The Associate's own verification failed.", "Read the check's output in the evidence."],
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

/** The form an error has on the wire (HTTP bodies, rpc replies, `--json`). */
export type ErrorDocument = {
  code: string;
  message: string;
  remedy: string;
  data?: Record<string, unknown>;
};

export type AntiphonErrorOptions = { data?: Record<string, unknown>; cause?: unknown };

/** A named failure. `detail` says what happened this time; the table says what it means and how to mend it. */
export class AntiphonError extends Error {
  override readonly name = "AntiphonError";
  readonly code: ErrorCode;
  readonly detail: string;
  readonly data: Record<string, unknown>;

  constructor(code: ErrorCode, detail?: string, options: AntiphonErrorOptions = {}) {
    const said = detail ?? ERRORS[code].meaning;
    super(said, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.detail = said;
    this.data = options.data ?? {};
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
  get remedy(): string {
    return ERRORS[this.code].remedy;
  }

  toJSON(): ErrorDocument {
    const document = { code: this.code, message: this.detail, remedy: this.remedy };
    return Object.keys(this.data).length > 0 ? { ...document, data: this.data } : document;
  }

  /**
   * Anything thrown, as a named failure that keeps its cause. Without a fallback, what the NATS client throws when no
   * server answers is ANT_NATS_UNREACHABLE, and what has no name is ANT_INTERNAL.
   */
  static from(thrown: unknown, fallback?: ErrorCode): AntiphonError {
    if (thrown instanceof AntiphonError) return thrown;
    const detail = thrown instanceof Error ? thrown.message : String(thrown);
    const code = fallback ?? (isOutage(thrown) ? "ANT_NATS_UNREACHABLE" : "ANT_INTERNAL");
    return new AntiphonError(code, detail, { cause: thrown });
  }
}

/** The NATS client's errors for a request that nobody answered and a connection that is gone, by their names. */
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
  // A DOMException may be a TimeoutError, too: somebody's own deadline, not the server's silence.
  return thrown instanceof Error && !(thrown instanceof DOMException) && OUTAGES.has(thrown.name);
}
