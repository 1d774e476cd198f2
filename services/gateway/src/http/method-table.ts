// The methods each path takes, for the answer to a request with another method. Pure.

interface Entry {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

export class MethodTable {
  readonly #entries = new Map<string, Entry>();

  /** `url`: the declared route, with `:name` for a segment and `*` for the rest. */
  add(url: string, method: string): void {
    const entry = this.#entries.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    entry.methods.add(method);
    this.#entries.set(url, entry);
  }

  /** The methods of a path, sorted; empty: there is no such path. */
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
