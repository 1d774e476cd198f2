import { expect, test } from "vitest";
import {
  broughtJudge,
  checkGates,
  preparesJudges,
  withNamedJudge,
  withRepositoryGates,
} from "./gate-agents.ts";

const SCRIPT = { kind: "scripted" as const, commands: ["true"] };
const NONE = { profiles: ["team"] };
const POLICY = { ...NONE, gates: [{ name: "code", skill: "qa" as const }] };

test("a skill that nobody but the author's script could be is refused, with the policy that demands it", () => {
  const own = { agent: SCRIPT, gates: { skills: ["reviewer" as const] } };
  expect(() => checkGates(own, NONE)).toThrow("nobody can be the reviewer");
  expect(() => checkGates({ agent: SCRIPT }, POLICY)).toThrow(
    "policy team demands it; name one with --gate-agent",
  );
});

test("no run names a script or a recording as its judge, whoever demands the skill", () => {
  const author = { kind: "command" as const, argv: ["author"] };
  const forged = { ...SCRIPT, commands: [`echo '{"findings":[]}' > findings.json`] };
  const judge = { agent: author, gates: { skills: [], agent: forged } };
  expect(() => checkGates(judge, POLICY)).toThrow("a scripted agent does only what it was told before");
  const demanded = withRepositoryGates(judge.gates, ["reviewer"]);
  expect(() => checkGates({ agent: author, gates: demanded! }, NONE, ["reviewer"])).toThrow(
    "nobody can be the reviewer",
  );
  const replay = { kind: "replay" as const, seed: "recorded" };
  const own = { agent: author, gates: { skills: ["qa" as const], agent: replay } };
  expect(() => checkGates(own, NONE)).toThrow("nobody can be the qa");
  expect(() => checkGates(judge, NONE)).not.toThrow();
});

test("a run with an agent that can judge, with a judge of its own, or without skills starts", () => {
  const judge = { kind: "command" as const, argv: ["judge"] };
  expect(() => checkGates({ agent: SCRIPT }, NONE)).not.toThrow();
  expect(() => checkGates({ agent: judge }, POLICY)).not.toThrow();
  expect(() => checkGates({ agent: SCRIPT, gates: { skills: [], agent: judge } }, POLICY)).not.toThrow();
  const named = { ...NONE, gates: [{ name: "code", skill: "qa" as const, agent: judge }] };
  expect(() => checkGates({ agent: SCRIPT }, named)).not.toThrow();
});

test("a repository adds its skills to those of the run, each once, and is named where nobody can judge", () => {
  expect(withRepositoryGates(undefined)).toBeUndefined();
  expect(withRepositoryGates(undefined, ["qa"])).toEqual({ skills: ["qa"] });
  const own = { skills: ["qa" as const], blocks: "info" as const };
  expect(withRepositoryGates(own, ["reviewer", "qa"])).toEqual({
    skills: ["qa", "reviewer"],
    blocks: "info",
  });
  const demanded = { agent: SCRIPT, gates: { skills: ["qa" as const] } };
  expect(() => checkGates(demanded, NONE, ["qa"])).toThrow("antiphon.yaml of the repository demands it");
});

const AUTHOR = { kind: "command" as const, argv: ["author"] };
const NAMED = { kind: "command" as const, argv: ["judge-of-the-policy"] };
const STRICT = { named: null, own: false };

test("a run brings its own judge if nobody is named, be it the author or whom the run names", () => {
  const other = { kind: "command" as const, argv: ["friend"] };
  const own = { skills: ["qa" as const] };
  expect(broughtJudge({ agent: AUTHOR, gates: own }, NONE, STRICT)).toEqual(AUTHOR);
  expect(broughtJudge({ agent: AUTHOR, gates: { ...own, agent: other } }, NONE, STRICT)).toEqual(other);
  expect(broughtJudge({ agent: AUTHOR }, POLICY, STRICT)).toEqual(AUTHOR);
  expect(broughtJudge({ agent: AUTHOR, gates: { skills: [], agent: other } }, POLICY, STRICT)).toEqual(other);
});

test("a run brings none if the policy allows its own, if the policy names one, or if nothing is judged", () => {
  const gates = { skills: ["qa" as const] };
  expect(broughtJudge({ agent: AUTHOR, gates }, NONE, { named: null, own: true })).toBeNull();
  expect(broughtJudge({ agent: AUTHOR }, NONE, STRICT)).toBeNull();
  expect(broughtJudge({ agent: AUTHOR, gates: { skills: [], agent: AUTHOR } }, NONE, STRICT)).toBeNull();
  const strict = { named: NAMED, own: false };
  const judged = withNamedJudge(gates, strict);
  expect(judged).toEqual({ ...gates, agent: NAMED });
  expect(broughtJudge({ agent: AUTHOR, gates: judged! }, NONE, strict)).toBeNull();
  const bounds = { ...NONE, gates: [{ ...POLICY.gates[0]!, agent: NAMED }] };
  expect(broughtJudge({ agent: AUTHOR }, bounds, strict)).toBeNull();
});

test("a run names no other judge than the policy, unless it may bring its own", () => {
  const gates = { skills: ["qa" as const], agent: AUTHOR };
  expect(() => withNamedJudge(gates, { named: NAMED, own: false })).toThrow("the policy names who judges");
  expect(withNamedJudge(gates, { named: NAMED, own: true })).toEqual(gates);
  expect(withNamedJudge({ ...gates, agent: NAMED }, { named: NAMED, own: false })?.agent).toEqual(NAMED);
  expect(withNamedJudge({ skills: [], agent: AUTHOR }, { named: NAMED, own: false })?.agent).toEqual(AUTHOR);
});

test("a run whose own commands would prepare the place of its judges brings a judge, whoever judges", () => {
  const setup = ["cp evil $HOME/.local/bin/claude"];
  const gates = { skills: ["qa" as const] };
  expect(preparesJudges({ setup, gates }, NONE, STRICT)).toBe(true);
  expect(preparesJudges({ setup }, POLICY, STRICT)).toBe(true);
  const named = { ...NONE, gates: [{ ...POLICY.gates[0]!, agent: NAMED }] };
  expect(preparesJudges({ setup }, named, STRICT)).toBe(true);
  expect(preparesJudges({ setup, gates }, NONE, { own: true })).toBe(false);
  expect(preparesJudges({ setup }, NONE, STRICT)).toBe(false);
  expect(preparesJudges({ setup: [], gates }, NONE, STRICT)).toBe(false);
  expect(preparesJudges({ gates }, NONE, STRICT)).toBe(false);
});
