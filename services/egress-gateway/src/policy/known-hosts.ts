/** The git and package hosts of profile `git+pkg`. The configuration file may replace either list. */
import type { HostRule } from "./policy.ts";

const GIT = ["github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "git.kernel.org"];

const PACKAGES = [
  "registry.npmjs.org",
  "registry.yarnpkg.com",
  "pypi.org",
  // The index before 2018, which lock files of that time still name.
  "pypi.python.org",
  "files.pythonhosted.org",
  "index.crates.io",
  "static.crates.io",
  "proxy.golang.org",
  "sum.golang.org",
  "rubygems.org",
  "index.rubygems.org",
  "repo.maven.apache.org",
  "repo1.maven.org",
  "repo.packagist.org",
  "cpan.metacpan.org",
  "fastapi.metacpan.org",
  "nodejs.org",
];

/** Reachable over plain HTTP too, because their indexes are signed. */
const DISTRIBUTIONS = [
  "deb.debian.org",
  "security.debian.org",
  "archive.ubuntu.com",
  "dl-cdn.alpinelinux.org",
];

const rule = (host: string, kind: HostRule["kind"], ports: readonly number[]): HostRule => ({
  host,
  kind,
  ports,
  terminate: true,
});

export const KNOWN_HOSTS: readonly HostRule[] = [
  ...GIT.map((host) => rule(host, "git", [443])),
  ...PACKAGES.map((host) => rule(host, "package", [443])),
  ...DISTRIBUTIONS.map((host) => rule(host, "package", [443, 80])),
];
