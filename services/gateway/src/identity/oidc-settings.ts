// Reads the settings of an OpenID Connect provider. Pure.
import { AntiphonError } from "@antiphon/contracts";
import { isLoopback } from "../http/caller-guard.ts";

export interface OidcConfig {
  readonly issuer: string;
  readonly audience: string;
  /** The claim that names a person: stable and unique at the provider. */
  readonly nameClaim: string;
  readonly rolesClaim: string;
  readonly tenantClaim: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Null: no provider is set. */
export function oidcOf(env: Env, token: string | null): OidcConfig | null {
  const issuer = env.ANTIPHON_OIDC_ISSUER ?? "";
  const audience = env.ANTIPHON_OIDC_AUDIENCE ?? "";
  if (issuer === "" && audience === "") return null;
  if (!URL.canParse(issuer)) throw invalid("ANTIPHON_OIDC_ISSUER", "is not a URL");
  const { protocol, hostname, username, search } = new URL(issuer);
  if (protocol !== "https:" && !(protocol === "http:" && isLoopback(hostname)))
    throw invalid("ANTIPHON_OIDC_ISSUER", "must be https, or http on loopback");
  if (username !== "" || search !== "") throw invalid("ANTIPHON_OIDC_ISSUER", "has a user or a query");
  if (audience === "")
    throw invalid("ANTIPHON_OIDC_AUDIENCE", "is needed: tokens for other clients must not count");
  if (token === null) throw invalid("ANTIPHON_OIDC_ISSUER", "requires ANTIPHON_TOKEN");
  return {
    issuer,
    audience,
    nameClaim: env.ANTIPHON_OIDC_NAME_CLAIM || "sub",
    rolesClaim: env.ANTIPHON_OIDC_ROLES_CLAIM || "antiphon_roles",
    tenantClaim: env.ANTIPHON_OIDC_TENANT_CLAIM || "antiphon_tenant",
  };
}

function invalid(variable: string, detail: string): AntiphonError {
  return new AntiphonError("ANT_CONFIG_INVALID", `${variable} ${detail}`, { data: { variable } });
}
