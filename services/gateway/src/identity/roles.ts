// What a person may do here. Pure. A role is a set of rights; a person may have several roles.
import { AntiphonError } from "@antiphon/contracts";

export const ROLES = ["viewer", "submitter", "approver", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** read: look. submit: start and steer runs. decide: approve and reject. operate: dead letters, archives, documents. */
export type Right = "read" | "submit" | "decide" | "operate";

const RIGHTS: Readonly<Record<Role, readonly Right[]>> = {
  viewer: ["read"],
  submitter: ["read", "submit"],
  approver: ["read", "decide"],
  admin: ["read", "submit", "decide", "operate"],
};

/** The caller, as the deployment or its identity provider knows it; nothing of it comes from the body of a request. */
export interface Identity {
  readonly principal: string;
  readonly roles: readonly Role[];
  readonly tenancy: Tenancy;
}

/** free: the deployment assigns no tenants, so a request may name one. assigned: it may not; null is the default tenant. */
export type Tenancy =
  { readonly kind: "free" } | { readonly kind: "assigned"; readonly tenant: string | null };

export const isRole = (text: unknown): text is Role => (ROLES as readonly unknown[]).includes(text);

export const TENANT = /^[a-z0-9][a-z0-9_-]{0,31}$/;

export function hasRight({ roles }: Pick<Identity, "roles">, right: Right): boolean {
  return roles.some((role) => RIGHTS[role].includes(right));
}

/** One of `wanted` is enough. @throws AntiphonError ANT_GATEWAY_ROLE */
export function requireRight(
  { principal, roles }: Pick<Identity, "principal" | "roles">,
  wanted: readonly Right[],
  what: string,
): void {
  if (wanted.some((right) => hasRight({ roles }, right))) return;
  const needed = ROLES.filter((role) => RIGHTS[role].some((right) => wanted.includes(right)));
  const held = roles.length === 0 ? "no role" : roles.join(", ");
  throw new AntiphonError(
    "ANT_GATEWAY_ROLE",
    `${what} needs the role ${needed.join(" or ")}; ${principal} has ${held}`,
    {
      data: { needed, roles: [...roles] },
    },
  );
}
