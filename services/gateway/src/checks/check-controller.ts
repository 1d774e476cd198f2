// Checks without a run: `POST /checks`. Admits the request exactly as a run that only reads (policy, rate limits,
// repository, image), then asks a Director; nothing is stored.
import { AntiphonError, validate } from "@antiphon/contracts";
import type { CheckReport, CheckRequest, Intent, RepoCheckRequest } from "@antiphon/contracts";
import { splitDiff } from "@antiphon/contracts/documents/unified-diff";
import { uniqueId } from "@antiphon/runtime";
import { malformed } from "../http/malformed.ts";
import type { Caller, RunAdmission } from "../intents/run-admission.ts";
import { runOptionsOf } from "../intents/run-options.ts";
import type { Backend, LiveOutput } from "../ports.ts";

/** An order for a Director, and what the report says of its image. */
export interface AdmittedCheck {
  readonly order: RepoCheckRequest;
  readonly imageNote: string | undefined;
}

export interface CheckController {
  /** @throws AntiphonError with the status of the answer */
  admit(body: unknown, caller: Caller): Promise<AdmittedCheck>;
  /** `signal`: the caller has gone away. */
  carryOut(admitted: AdmittedCheck, signal: AbortSignal): Promise<CheckReport>;
  /** Hears each stage of the check as it begins; returns how to stop listening. */
  listen(admitted: AdmittedCheck, hear: (news: LiveOutput) => void): () => void;
}

export function checkController(backend: Backend, admission: RunAdmission): CheckController {
  return {
    async admit(body, caller) {
      const outcome = validate("CheckRequest", body ?? null);
      if (!outcome.ok) throw malformed("ANT_CONTRACT_INVALID", outcome.errors);
      const request = outcome.value;
      const intent = readingIntent(request);
      await admission.call(caller);
      await backend.admit();
      const { base, options } = await admission.run(intent, runOptionsOf(intent), caller);
      const order: RepoCheckRequest = {
        checkId: `chk_${uniqueId()}`,
        repo: base.repo,
        commit: base.commit,
        patch: request.patch ?? null,
        checks: options.checks,
        image: options.image ?? null,
        ...(options.image_lacks === undefined ? {} : { lacks: options.image_lacks }),
        ...(options.verify_git === true ? { git: true } : {}),
        ...(options.services === undefined ? {} : { services: options.services }),
        budgetMs: options.time_budget_s * 1000,
      };
      return { order, imageNote: options.image_note };
    },
    listen: ({ order }, hear) =>
      backend.onOutput(order.checkId, (output) => {
        if (output.stream === "progress") hear(output);
      }),
    async carryOut({ order, imageNote }, signal) {
      const { checkId, image } = order;
      const { commit, discovered, checks, others } = await backend.check(order, signal);
      const passed = checks.length > 0 && checks.every(({ exitCode }) => exitCode === 0);
      const note = imageNote === undefined ? {} : { image_note: imageNote };
      const more = others === undefined ? {} : { others };
      return { checkId, passed, image, ...note, commit, discovered, checks, ...more };
    },
  };
}

/** The run that would do the same: it reads, changes nothing and lands nothing. The policy judges it. */
function readingIntent({ repo, patch, checks, base_ref, image, time_budget_s }: CheckRequest): Intent {
  const files = patch === undefined ? [] : splitDiff(patch);
  if (patch !== undefined && files.length === 0)
    throw new AntiphonError("ANT_PATCH_MALFORMED", "the patch contains no unified diff");
  return {
    goal: "Check a change before it is committed",
    inputs: {
      repo,
      agent:
        patch === undefined ? { kind: "scripted", commands: [":"] } : { kind: "scripted", patch: { files } },
      workflow: "REVIEW",
      ...(checks === undefined ? {} : { checks }),
      ...(base_ref === undefined ? {} : { base_ref }),
      ...(image === undefined ? {} : { image }),
    },
    constraints: { allow_dirty: true, ...(time_budget_s === undefined ? {} : { time_budget_s }) },
  };
}
