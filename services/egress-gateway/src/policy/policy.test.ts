import { describe, expect, it } from "vitest";
import { KNOWN_HOSTS } from "./known-hosts.ts";
import { compilePolicy, matches, passRule, ruleFor, type HostRule } from "./policy.ts";
import { EgressRefusal } from "./refusal.ts";
import { parseOrigin } from "./target.ts";

const MODEL: HostRule = { host: "api.model.example", kind: "model", ports: [443], terminate: true };
const known = [MODEL, ...KNOWN_HOSTS];
const refusal = (act: () => unknown): string | null => {
  try {
    act();
    return null;
  } catch (error) {
    return error instanceof EgressRefusal ? `${error.code} ${error.rule}` : String(error);
  }
};
const reach = (profile: Parameters<typeof compilePolicy>[0], host: string, budget = false): string | null => {
  const policy = compilePolicy(profile, budget ? { tokens: 1 } : null, known);
  return refusal(() => ruleFor(policy, host, 443, known));
};

describe("a policy", () => {
  it("egress-gateway/E1: allows the named hosts and nothing else", () => {
    expect(reach({ mode: "none", allowlist: ["a.example"] }, "a.example")).toBe("ANT_EGRESS_HOST host:none");
    expect(reach({ mode: "allowlist", allowlist: ["a.example"] }, "a.example")).toBeNull();
    expect(reach({ mode: "allowlist", allowlist: ["a.example"] }, "b.a.example")).toBe(
      "ANT_EGRESS_HOST host:none",
    );
    expect(reach({ mode: "allowlist", allowlist: ["*.a.example"] }, "b.a.example")).toBeNull();
    expect(reach({ mode: "allowlist", allowlist: ["*.a.example"] }, "a.example")).toBe(
      "ANT_EGRESS_HOST host:none",
    );
    expect(reach({ mode: "allowlist" }, "github.com")).toBe("ANT_EGRESS_HOST host:none");
    expect(reach({ mode: "git+pkg" }, "github.com")).toBeNull();
    expect(reach({}, "pypi.org")).toBeNull(); // seed 000: git+pkg is the default profile
    expect(reach({ mode: "git+pkg", allowlist: ["a.example"] }, "a.example")).toBeNull();
    expect(reach({ mode: "allowlist", allowlist: ["a.example:8443"] }, "a.example")).toBe(
      "ANT_EGRESS_HOST host:port",
    );
  });

  it("egress-gateway/E1: keeps a git host a git host, when the allowlist names it or covers it with a wildcard", () => {
    for (const entry of ["github.com", "*.com"]) {
      const policy = compilePolicy(
        { mode: "allowlist", allowlist: entry === "*.com" ? ["*.gitlab.com", "github.com"] : [entry] },
        null,
        known,
      );
      expect(ruleFor(policy, "github.com", 443, known).kind).toBe("git");
    }
    const wild = compilePolicy({ mode: "allowlist", allowlist: ["*.npmjs.org"] }, null, known);
    expect(ruleFor(wild, "registry.npmjs.org", 443, known).kind).toBe("package");
  });

  it("allows a model host to a run with a budget, and keeps it a model host when the allowlist names it", () => {
    expect(reach({ mode: "git+pkg" }, MODEL.host)).toBe("ANT_EGRESS_HOST host:none");
    expect(reach({ mode: "git+pkg" }, MODEL.host, true)).toBeNull();
    expect(reach({ mode: "none" }, MODEL.host, true)).toBe("ANT_EGRESS_HOST host:none");
    const named = compilePolicy({ mode: "allowlist", allowlist: [MODEL.host] }, null, known);
    expect(ruleFor(named, MODEL.host, 443, known).kind).toBe("model");
  });

  it("refuses an allowlist entry that is not a host", () => {
    for (const entry of [
      "10.0.0.1",
      "localhost",
      "a b.example",
      "*",
      "*.*.example",
      "http://a.example",
      "a.example/x",
    ])
      expect(
        refusal(() => compilePolicy({ mode: "allowlist", allowlist: [entry] }, null, known)),
        entry,
      ).not.toBeNull();
  });

  it("egress-gateway/E1: lets git fetch and packages download, and refuses pushes and publishing", () => {
    const git = KNOWN_HOSTS.find(({ kind }) => kind === "git") as HostRule;
    const pkg = KNOWN_HOSTS.find(({ kind }) => kind === "package") as HostRule;
    const ask = (
      rule: HostRule,
      method: string,
      url: string,
      more: { body?: boolean; contentType?: string } = {},
    ) =>
      refusal(() =>
        passRule(rule, {
          target: parseOrigin(url, { host: rule.host, port: 443 }),
          method,
          body: false,
          contentType: "",
          ...more,
        }),
      );
    const pack = { body: true, contentType: "application/x-git-upload-pack-request" };
    expect(ask(git, "GET", "/o/r.git/info/refs?service=git-upload-pack")).toBeNull();
    expect(ask(git, "POST", "/o/r.git/git-upload-pack", pack)).toBeNull();
    expect(ask(git, "GET", "/o/r.git/info/refs?service=git-receive-pack")).toBe("ANT_EGRESS_METHOD git:push");
    expect(ask(git, "POST", "/o/r.git/git-receive-pack", pack)).toBe("ANT_EGRESS_METHOD git:push");
    expect(ask(git, "POST", "/o/r.git/git-upload-pack", { body: true })).toBe("ANT_EGRESS_METHOD git:other");
    expect(ask(git, "GET", "/o/r")).toBe("ANT_EGRESS_METHOD git:other");
    expect(ask(pkg, "GET", "/left-pad?x=1")).toBeNull();
    expect(ask(pkg, "HEAD", "/left-pad")).toBeNull();
    for (const method of ["PUT", "POST", "DELETE", "PATCH", "OPTIONS"])
      expect(ask(pkg, method, "/left-pad")).toBe("ANT_EGRESS_METHOD package:publish");
    expect(ask(pkg, "GET", "/left-pad", { body: true })).toBe("ANT_EGRESS_METHOD package:publish");
  });

  it("matches a wildcard only against names below it", () => {
    expect(["a.b.example", "b.example", "xb.example"].map((host) => matches("*.b.example", host))).toEqual([
      true,
      false,
      false,
    ]);
  });
});
