/** What an agent does to mend a repository, one tool after the other. Pure. */
import type { BrokenRepository, Edit } from "./repository.ts";

export type Step = { readonly bash: string } | { readonly read: string } | { readonly edit: Edit };

export interface Session {
  /** By which a request is known to be of this session. */
  readonly goal: string;
  readonly steps: readonly Step[];
}

/** Look, reproduce, read, mend (or mend wrongly, see it, and mend again), and look at the result. */
export function sessionOf({ goal, check, fix, wrong, also }: BrokenRepository): Session {
  const [path, , instead] = fix;
  const reproduce: Step = { bash: check };
  const mended: Step[] =
    wrong === undefined
      ? [{ edit: fix }]
      : [{ edit: wrong }, reproduce, { edit: [path, wrong[2], instead] satisfies Edit }];
  return {
    goal,
    steps: [
      { bash: "git ls-files && git log --oneline | head -n 3" },
      reproduce,
      { read: path },
      ...mended,
      ...(also === undefined ? [] : [{ bash: also.command }]),
      reproduce,
      { bash: "git diff --stat" },
    ],
  };
}
