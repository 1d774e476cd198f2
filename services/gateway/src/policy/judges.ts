// Which agents judge a change at gates that name none, by the profiles that apply to the run. Pure.
import type { AgentSpec, Gate, PolicyProfile } from "@antiphon/contracts";

export interface Judges {
  /** Null: the policy names nobody. */
  readonly named: AgentSpec | null;
  /** The agent that the run brings itself may judge. */
  readonly own: boolean;
}

/** Every profile has to allow an own judge. Of several named judges that of the first profile counts. */
export function judgesOf(profiles: readonly PolicyProfile[]): Judges {
  const named = profiles.flatMap(({ judge }) => judge ?? [])[0] ?? null;
  return { named, own: profiles.length > 0 && profiles.every(({ ownJudges }) => ownJudges === true) };
}

/** The gates of all profiles; a skill that none of them names an agent for gets the judge of its profile. */
export function gatesOf(profiles: readonly PolicyProfile[]): Gate[] {
  const { named } = judgesOf(profiles);
  return profiles.flatMap(({ gates = [], judge = named }) =>
    gates.map((gate) =>
      gate.skill === undefined || gate.agent !== undefined || judge === null
        ? gate
        : { ...gate, agent: judge },
    ),
  );
}
