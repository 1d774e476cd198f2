/** One checkable statement of a seed document, with its proof. */

export type Statement = {
  /** `000-07`: seed and running number. */
  readonly id: string;
  readonly section: string;
  /** The statement, short. */
  readonly says: string;
} & (
  | { /** Throws when it does not hold. */ readonly proof: () => void }
  | {
      /** Shown by a test elsewhere: its file, and its title or a part of it. */ readonly file: string;
      readonly title: string;
    }
);

export const titleOf = ({ id, says }: Statement): string => `${id} ${says}`;

type Draft = { says: string; proof: () => void } | { says: string; file: string; title: string };

/** Numbers the statements of a seed, section by section. */
export function statements(seed: string, sections: Readonly<Record<string, readonly Draft[]>>): Statement[] {
  let number = 0;
  return Object.entries(sections).flatMap(([section, drafts]) =>
    drafts.map((draft) => ({ id: `${seed}-${String(++number).padStart(2, "0")}`, section, ...draft })),
  );
}
