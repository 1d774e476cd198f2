// The settings that are read from the environment, so that a misspelt name is refused instead of passed over. Pure.
import { isSlip } from "../validation/slip.ts";

const PREFIX = "ANTIPHON_";

/** Of the services, the command and the files of the deployment, without the prefix; each is described where it is read. */
export const VARIABLES: readonly string[] = [
  "AGENT_PACKS",
  "ARCHIVE_AFTER_S",
  "ASSOCIATE_ID",
  "ASSOCIATE_SLOTS",
  "BASE_STEPS",
  "BRIEF_PROJECTS",
  "BUILD_ADAPTER",
  "CACHE_DIR",
  "DEVCONTAINER",
  "DIRECTOR_KEY",
  "DIRECTOR_KEYS",
  "DIRECTOR_SLOTS",
  "DOCKER_GID",
  "DRAIN_MS",
  "EGRESS_ADVERTISE",
  "EGRESS_BROKEN_CONFIG",
  "EGRESS_CONFIG",
  "EGRESS_LISTEN",
  "EGRESS_PORTS",
  "GATEWAY_HOSTS",
  "GATEWAY_PORT",
  "GATEWAY_URL",
  "GIT_CA",
  "GIT_CREDENTIALS",
  "GIT_DIR",
  "GIT_KNOWN_HOSTS",
  "GIT_SSH_KEY",
  "HOOKS",
  "INSTANCE",
  "JOURNAL_PARTITIONS",
  "LISTEN",
  "LOG_LEVEL",
  "METRICS_HOST",
  "METRICS_PORT",
  "MODE",
  "NATS_CA",
  "NATS_CREDS",
  "NATS_MONITOR",
  "NATS_PORT",
  "NATS_TOKEN",
  "NATS_URL",
  "NATS_USERS",
  "NOTIFY_SECRET",
  "NOTIFY_URL",
  "OIDC_AUDIENCE",
  "OIDC_ISSUER",
  "OIDC_NAME_CLAIM",
  "OIDC_ROLES_CLAIM",
  "OIDC_TENANT_CLAIM",
  "OPEN_RUNS",
  "PAGE",
  "PAGE_URL",
  "PROBED_LEASES",
  "PULL_REQUESTS",
  "REPLICAS",
  "REPO_COPIES",
  "REPO_ROOTS",
  "REPO_STORE_BYTES",
  "REPO_URLS",
  "REPOS",
  "REPOS_USER",
  "ROLES",
  "ROUTER_MODEL",
  "ROUTER_MODEL_KEY_FILE",
  "ROUTER_MODEL_URL",
  "ROUTER_SLOTS",
  "RUNNER_KEY",
  "SANDBOX_ALLOW",
  "SANDBOX_IMAGE",
  "SANDBOX_PATIENCE_MS",
  "SANDBOX_PROVIDER",
  "SANDBOX_RUNTIME",
  "SANDBOX_SLOTS",
  "SANDBOX_SWAP_MIB",
  "SANDBOX_TREE_BYTES",
  "SANDBOX_WARM",
  "SESSION_KEY",
  "STATE_DIR",
  "STORE_DIR",
  "TAG",
  "TENANTS",
  "TOKEN",
  "TOKENS",
  "TRUSTED_KEYS",
  "TRUSTED_RUNNERS",
  "UNSAFE_DURABILITY",
  "UNSAFE_TRUST",
  "WORK_ITEMS",
  "WORK_ITEMS_TOKEN",
];

/**
 * The first name that is a slip of a setting and none itself, and the setting that is meant. Other unknown names are no
 * mistake of this version: they may be of another one, or of a program of the user.
 */
export function misspelt(names: Iterable<string>): { readonly name: string; readonly meant: string } | null {
  const known = new Set(VARIABLES);
  for (const name of names) {
    if (!name.startsWith(PREFIX)) continue;
    const rest = name.slice(PREFIX.length);
    if (known.has(rest)) continue;
    const meant = VARIABLES.find((one) => isSlip(rest, one));
    if (meant !== undefined) return { name, meant: PREFIX + meant };
  }
  return null;
}
