/** The text of a pack's lock, from what pip reports for each Python and platform. Pure. */

/** The part of pip's report that matters here. */
export interface PipReport {
  readonly install: readonly {
    readonly metadata: { readonly name: string; readonly version: string };
    readonly download_info: {
      readonly archive_info?: { readonly hashes?: Readonly<Record<string, string>> };
    };
  }[];
}

export interface Resolved {
  /** `3.11` */
  readonly python: string;
  /** `glibc x86_64` */
  readonly platform: string;
  readonly report: PipReport;
}

/** What keeps the next platform to the same versions. */
export function pinsOf({ install }: PipReport): string[] {
  return install.map(({ metadata: { name, version } }) => `${canonical(name)}==${version}`);
}

/** One package a line, in the order of names, with the hashes of its files for all platforms. */
export function lockText(needs: readonly string[], resolved: readonly Resolved[]): string {
  const hashes = new Map<string, Set<string>>();
  for (const { python, platform, report } of resolved)
    for (const { metadata, download_info } of report.install) {
      const pin = `${canonical(metadata.name)}==${metadata.version}`;
      const hash = download_info.archive_info?.hashes?.["sha256"];
      if (hash === undefined) throw new Error(`no hash of ${pin} for Python ${python}, ${platform}`);
      const other = [...hashes.keys()].find((one) => one !== pin && nameOf(one) === nameOf(pin));
      if (other !== undefined) throw new Error(`Python ${python}, ${platform}: ${pin}, and ${other} before`);
      hashes.set(pin, (hashes.get(pin) ?? new Set()).add(hash));
    }
  const lines = [...hashes]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([pin, all]) => {
      return [pin, ...[...all].sort().map((hash) => `--hash=sha256:${hash}`)].join(" ");
    });
  return [
    `# What ${needs.join(", ")} needs, from the reports of pip: ${placesOf(resolved)}.`,
    ...lines,
    "",
  ].join("\n");
}

/** `CPython 3.11 (glibc x86_64, musl x86_64), 3.12 (glibc x86_64)` */
function placesOf(resolved: readonly Resolved[]): string {
  const pythons = [...new Set(resolved.map(({ python }) => python))];
  const of = (python: string): string =>
    resolved.flatMap((one) => (one.python === python ? [one.platform] : [])).join(", ");
  return `CPython ${pythons.map((python) => `${python} (${of(python)})`).join(", ")}`;
}

const nameOf = (pin: string): string => pin.split("==", 1)[0] ?? pin;

/** As PyPI compares names. */
const canonical = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, "-");
