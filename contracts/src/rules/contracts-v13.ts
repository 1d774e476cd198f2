/** Rules of seed 004: commands, task plans, policies. */
import { COMMANDS, RESERVED_COMMANDS } from "../seeds/v13-commands.ts";
import type { PolicyConfig } from "../seeds/v13-policy.ts";
import type { TaskPlan } from "../seeds/v13-plan.ts";
import { globFault } from "../documents/glob.ts";
import { graphRules } from "./graph.ts";
import { pathRules } from "./paths.ts";
import { member, within, type Rule } from "../shapes/rule.ts";

const isReserved = (name: unknown): name is string =>
  (RESERVED_COMMANDS as readonly unknown[]).includes(name);

const commandRules: readonly Rule[] = [
  {
    id: "command/not-reserved",
    says: "SpawnSession and LinkPlanNode are reserved and refused.",
    raw: true,
    check: (value) => {
      const command = member(value, "command");
      if (!isReserved(command)) return null;
      return {
        path: "/command",
        message: `\`${command}\` is reserved for the future and has no meaning yet (ANT_CONTRACT_RESERVED)`,
        expected: `one of: ${Object.keys(COMMANDS).join(", ")}`,
        found: command,
      };
    },
  },
];

export const commitRules: readonly Rule[] = pathRules({
  name: "commit",
  git: true,
  paths: (value) =>
    ((member(value, "includePaths") as string[] | undefined) ?? []).map((path, i) => ({
      at: `/includePaths/${i}`,
      path,
    })),
});

export const commandEnvelopeRules: readonly Rule[] = [
  ...commandRules,
  ...within("/payload", commitRules, (value) =>
    member(value, "command") === "Commit" ? member(value, "payload") : null,
  ),
];

export const taskPlanRules: readonly Rule[] = graphRules({
  name: "task-plan",
  path: "/nodes",
  idKey: "id",
  depsKey: "dependsOn",
  nodes: (value) => (value as TaskPlan).nodes.map(({ id, dependsOn }) => ({ id, deps: dependsOn })),
});

export const policyConfigRules: readonly Rule[] = [
  {
    id: "policy-config/default-exists",
    says: "`defaultProfile` is the name of one of the profiles.",
    check: (value) => {
      const { profiles, defaultProfile } = value as PolicyConfig;
      if (Object.hasOwn(profiles, defaultProfile)) return null;
      const expected = `one of: ${Object.keys(profiles).join(", ")}`;
      return {
        path: "/defaultProfile",
        message: "there is no profile with this name",
        expected,
        found: defaultProfile,
      };
    },
  },
  {
    id: "policy-config/rules-name-profiles",
    says: "Each rule names one of the profiles.",
    check: (value) => {
      const { profiles, rules = [] } = value as PolicyConfig;
      const at = rules.findIndex(({ profile }) => !Object.hasOwn(profiles, profile));
      if (at === -1) return null;
      return {
        path: `/rules/${at}/profile`,
        message: "there is no profile with this name",
        expected: `one of: ${Object.keys(profiles).join(", ")}`,
        found: rules[at]?.profile ?? "",
      };
    },
  },
  {
    id: "policy-config/globs-can-be-matched",
    says: "No list of globs is longer than can be matched, so each path that a policy names counts.",
    check: (value) => {
      for (const [path, globs] of globsOf(value as PolicyConfig)) {
        const message = globFault(globs);
        if (message !== null)
          return { path, message, expected: "fewer globs, or shorter ones", found: `${globs.length} globs` };
      }
      return null;
    },
  },
];

/** The lists of globs of a policy, each with its JSON pointer. */
function* globsOf({
  profiles,
  rules = [],
}: PolicyConfig): Generator<[path: string, globs: readonly string[]]> {
  for (const [name, { protectedPaths = [], allowedGrants = [], autoLand, gates = [] }] of Object.entries(
    profiles,
  )) {
    const at = `/profiles/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    yield [`${at}/protectedPaths`, protectedPaths];
    yield [`${at}/allowedGrants`, allowedGrants];
    yield [`${at}/autoLand/paths`, autoLand?.paths ?? []];
    for (const [i, { paths = [] }] of gates.entries()) yield [`${at}/gates/${i}/paths`, paths];
  }
  for (const [i, { repo, name }] of rules.entries()) {
    yield [`/rules/${i}/repo`, repo === undefined ? [] : [repo]];
    yield [`/rules/${i}/name`, name === undefined ? [] : [name]];
  }
}
