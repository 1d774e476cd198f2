/**
 * SubjectIndex: finds the subjects that a filter may match by the ids in them, without scanning all. The result may hold
 * too many subjects, never too few; the filter itself decides.
 */
const SHORTEST_ID = 12;

export class SubjectIndex {
  private readonly all = new Set<string>();
  private readonly byId = new Map<string, Set<string>>();

  add(subject: string): void {
    this.all.add(subject);
    for (const id of idsOf(subject)) {
      const known = this.byId.get(id);
      if (known === undefined) this.byId.set(id, new Set([subject]));
      else known.add(subject);
    }
  }

  delete(subject: string): void {
    this.all.delete(subject);
    for (const id of idsOf(subject)) {
      const known = this.byId.get(id);
      known?.delete(subject);
      if (known?.size === 0) this.byId.delete(id);
    }
  }

  /** In the order they came. */
  candidates(filter: string): ReadonlySet<string> {
    let found: ReadonlySet<string> = this.all;
    for (const id of idsOf(filter)) {
      const those = this.byId.get(id) ?? NONE;
      if (those.size < found.size) found = those;
    }
    return found;
  }
}

const NONE: ReadonlySet<string> = new Set();

function idsOf(subject: string): string[] {
  return subject.split(".").filter((token) => token.length >= SHORTEST_ID);
}
