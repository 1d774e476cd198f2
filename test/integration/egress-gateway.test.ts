/**
 * The way out of a sandbox, end to end: a real container without a network, the supervisor's frames, the runner, the
 * gateway, and real servers. Titles name promises of services/egress-gateway.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { egressWorld, GIT_AND_PACKAGES, grantOf, type EgressWorld } from "../support/egress-world.ts";
import { NAMES } from "../support/egress-upstreams.ts";
import { rawGit } from "../support/repo.ts";

let world: EgressWorld;
beforeAll(async () => {
  world = await egressWorld("egress");
  mkdirSync(world.gitRoot, { recursive: true });
  rawGit(world.gitRoot, "init", "-q", "--bare", "-b", "main", "project.git");
  const work = join(world.gitRoot, "work");
  rawGit(world.gitRoot, "init", "-q", "-b", "main", work);
  rawGit(work, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first");
  rawGit(work, "push", "-q", join(world.gitRoot, "project.git"), "main");
});
afterAll(() => world.close());

const PYTHON_GET = (url: string, more = ""): string => `python3 - <<'PY'
import urllib.request, urllib.error
r = urllib.request.Request("${url}"${more})
try:
    with urllib.request.urlopen(r, timeout=20) as a: print(a.status, a.read().decode()[:2000])
except urllib.error.HTTPError as e: print(e.code, e.read().decode()[:2000])
except Exception as e: print("error", e)
PY`;

describe("a sandbox with git+pkg", () => {
  it("P4: fetches with git, and cannot push; the log says both", async () => {
    const { out, log, outcome } = await world.run(
      GIT_AND_PACKAGES,
      `cd /tmp && git clone -q https://${NAMES.git}/project.git p && cd p && git log --format=%s &&
       git -c user.name=a -c user.email=a@b commit -q --allow-empty -m mine && git push -q origin main; echo push: $?`,
    );
    expect(out).toContain("first\n");
    expect(out).toMatch(/push: (1|128)/);
    expect(out).toMatch(/403|ANT_EGRESS_METHOD/);
    const seen = log.map(({ method, rule, decision }) => `${decision} ${method} ${rule}`);
    expect(seen).toEqual([
      "allow GET git:fetch",
      "allow POST git:fetch",
      "allow POST git:fetch",
      "refuse GET git:push",
    ]);
    expect(rawGit(join(world.gitRoot, "project.git"), "log", "--format=%s", "main").trim()).toBe("first");
    expect(outcome.egress).toMatchObject({ requests: 4, refused: 1 });
  });

  it("P4: downloads a package, and cannot publish one", async () => {
    const base = `https://${NAMES.packages}`;
    const { out } = await world.run(
      GIT_AND_PACKAGES,
      [
        PYTHON_GET(`${base}/left-pad`),
        PYTHON_GET(`${base}/left-pad/-/left-pad-1.0.0.tgz`),
        PYTHON_GET(`${base}/left-pad`, `, data=b"{}", method="PUT"`),
        PYTHON_GET(`${base}/legacy/`, `, data=b"x"`),
        PYTHON_GET(`${base}/left-pad/-rev/1`, `, method="DELETE"`),
      ].join("\n"),
    );
    const lines = out
      .trim()
      .split("\n")
      .filter((line) => line !== "");
    expect(lines.map((line) => line.slice(0, 3))).toEqual(["200", "200", "403", "403", "403"]);
    expect(lines[2]).toContain("ANT_EGRESS_METHOD");
    expect(
      world.upstreams.heard.filter(({ host, method }) => host === NAMES.packages && method !== "GET"),
    ).toEqual([]);
  });
});
