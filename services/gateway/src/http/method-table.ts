// Which methods a path takes, for the answer to one that it does not. Pure.

interface Entry {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

export class MethodTable {
  readonly #entries = new Map<string, Entry>();

  /** `url`: as a route is declared, with `:name` for a segment and `*` for the rest. */
  add(url: string, method: string): void {
    const entry = this.#entries.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    entry.methods.add(method);
    this.#entries.set(url, entry);
  }

  /** Sorted; empty: there is no such path. */
  of(path: string): string[] {
    const found = [...this.#entries.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(found.flatMap(({ methods }) => [...methods]))].sort();
  }
}

function patternOf(url: string): RegExp {
  const parts = url.split("/").map((part) => {
    if (part === "*") return ".*";
    return part.startsWith(":") ? "[^/]+" : part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("/")}$`);
}
