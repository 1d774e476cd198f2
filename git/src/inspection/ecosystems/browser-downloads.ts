/**
 * Packages that download a browser or a runtime while they are installed, from hosts that setup may not reach. One that cannot
 * fails the whole installation, although most checks need no browser. Each has a variable that leaves the download out. Pure.
 */
import type { Finding, Place } from "./ecosystem.ts";

const DOWNLOADS: readonly { readonly named: RegExp; readonly variables: Readonly<Record<string, string>> }[] =
  [
    {
      named: /\bpuppeteer\b/,
      variables: { PUPPETEER_SKIP_DOWNLOAD: "true", PUPPETEER_SKIP_CHROMIUM_DOWNLOAD: "true" },
    },
    { named: /\bplaywright\b/, variables: { PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: "1" } },
    { named: /\bcypress\b/, variables: { CYPRESS_INSTALL_BINARY: "0" } },
    { named: /\belectron\b/, variables: { ELECTRON_SKIP_BINARY_DOWNLOAD: "1" } },
    { named: /\bchromedriver\b/, variables: { CHROMEDRIVER_SKIP_DOWNLOAD: "true" } },
    { named: /\bgeckodriver\b/, variables: { GECKODRIVER_SKIP_DOWNLOAD: "true" } },
  ];

/** The file that decided names the packages; one that is too large to read may name any. */
export async function withoutBrowsers(place: Place, finding: Finding): Promise<Finding> {
  const text = await place.read(finding.because);
  const skipped = DOWNLOADS.filter(({ named }) => text === null || named.test(text));
  if (skipped.length === 0) return finding;
  const variables: Record<string, string> = { ...finding.variables };
  for (const one of skipped) Object.assign(variables, one.variables);
  return { ...finding, variables };
}
