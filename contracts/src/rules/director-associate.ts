/** Rules of seed 000: DirectorTask and AssociateResult. */
import type { AssociateResult } from "../seeds/associate-result.ts";
import type { DirectorTask } from "../seeds/director-task.ts";
import { isRecord, type Rule } from "../shapes/rule.ts";

export const directorTaskRules: readonly Rule[] = [
  {
    id: "director-task/git-action-only-with-git",
    says: "Git actions come only with kind `git`, and kind `git` names one.",
    check: (value) => {
      const { kind, git_action } = value as DirectorTask;
      if (kind === "git" && git_action === undefined) {
        const expected = "git_checkpoint | git_reset | git_checkout | git_status";
        return { path: "/git_action", message: "kind `git` needs a git_action", expected, found: "nothing" };
      }
      if (kind !== "git" && git_action !== undefined) {
        return {
          path: "/git_action",
          message: `a git_action needs kind \`git\`, not \`${kind}\``,
          expected: "no git_action",
          found: git_action,
        };
      }
      return null;
    },
  },
];

/** Keys with which an Associate might try to answer past the Director. */
const ANSWER_KEYS = [
  "answer",
  "chat",
  "message",
  "message_to_user",
  "reply",
  "response",
  "to_user",
  "user_message",
];

export const associateResultRules: readonly Rule[] = [
  {
    id: "associate-result/no-direct-answer",
    says: "An Associate never answers an end user; it returns the structured result only.",
    raw: true,
    check: (value) => {
      const key = isRecord(value)
        ? ANSWER_KEYS.find((candidate) => Object.hasOwn(value, candidate))
        : undefined;
      if (key === undefined) return null;
      return {
        path: `/${key}`,
        message: "an Associate never answers an end user",
        expected: "`summary` for what was done, `questions` for what has to be asked",
        found: `\`${key}\``,
      };
    },
  },
  {
    id: "associate-result/failed-when-verification-failed",
    says: "The status is `failed` if verification failed.",
    check: (value) => {
      const { status, verify } = value as AssociateResult;
      if (verify.status !== "fail" || status === "failed") return null;
      return {
        path: "/status",
        message: "verification failed, so the status is `failed`",
        expected: "failed",
        found: status,
      };
    },
  },
  {
    id: "associate-result/needs-input-asks",
    says: "`needs_input` comes with at least one question.",
    check: (value) => {
      const { status, questions } = value as AssociateResult;
      if (status !== "needs_input" || questions.length > 0) return null;
      const message = "`needs_input` requires a question";
      return { path: "/questions", message, expected: "at least one question", found: "a list of 0" };
    },
  },
  {
    id: "associate-result/questions-only-with-needs-input",
    says: "Questions come only with `needs_input`: it is used only if the user must answer before the work can proceed.",
    check: (value) => {
      const { status, questions } = value as AssociateResult;
      if (status === "needs_input" || questions.length === 0) return null;
      const message = "questions need the status `needs_input`";
      return {
        path: "/questions",
        message,
        expected: "no questions",
        found: `a list of ${questions.length}`,
      };
    },
  },
];
