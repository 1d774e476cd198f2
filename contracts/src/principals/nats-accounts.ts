/**
 * The part of a nats-server's configuration that gives each principal its user, and each service its account, from the
 * table in principals.ts. The configuration holds public keys only.
 */
import { limits } from "../limits.ts";
import {
  PRINCIPALS,
  REPLY_WINDOW_S,
  SERVICES,
  type Answers,
  type Ask,
  type Principal,
  type Rights,
} from "./principals.ts";
import { rightsOf, type Limited } from "./rights.ts";

/** The public nkeys (`U...`) of the users; a principal without one has no user. */
export type PublicKeys = Readonly<Partial<Record<Principal, string>>>;

export interface AccountsOptions {
  readonly keys: PublicKeys;
  /** The journal's partitions. */
  readonly partitions: number;
  /** Who a connection without credentials is. Default: nobody. */
  readonly anonymous?: Principal;
}

const CORE = "ANTIPHON";
const SYSTEM = "SYS";

/**
 * Prefix of the JetStream API in the accounts of the services. The server answers `$JS.API.>` in every account for that
 * account itself, so requests about the streams of `ANTIPHON` are imported under another name.
 */
export const API_PREFIX = "ANTIPHON.API";

/** Messages and pulls are answered by the stream and the consumer themselves, and keep their names. */
const DATA = /^\$JS\.API\.(DIRECT\.GET|CONSUMER\.MSG\.NEXT)\./;

export const inCore = (principal: Principal): boolean =>
  ["director", "operator", "admin"].includes(principal);

const accountOf = (principal: Principal): string =>
  inCore(principal) ? CORE : `${CORE}_${principal.toUpperCase().replaceAll("-", "_")}`;

/** The name of a subject in the account of a principal. */
export function localSubject(principal: Principal, subject: string): string {
  if (inCore(principal) || !subject.startsWith("$JS.API.") || DATA.test(subject)) return subject;
  return `${API_PREFIX}${subject.slice("$JS.API".length)}`;
}

/** The accounts whose members answer a subject. */
function ownersOf(subject: string): string[] {
  if (subject.startsWith("$SYS.")) return [SYSTEM];
  if (subject.startsWith("$SRV.")) {
    const [, , named] = subject.split(".");
    return SERVICES.filter((name) => named === undefined || named === name).map(accountOf);
  }
  if (subject.startsWith("antiphon.v1.rpc.sandbox.")) return [accountOf("sandbox-runner")];
  if (subject.startsWith("antiphon.v1.rpc.attempt.")) return [accountOf("associate")];
  return [subject.startsWith("antiphon.v1.rpc.egress.") ? accountOf("egress") : CORE];
}

/**
 * Live output and control hints. A service hears them from the accounts of those who tell them, as the server does not pass on to
 * a stream import what an account got by a service import. Records are heard from the Director's account alone.
 */
const HINTS = ["antiphon.v1.log.", "antiphon.v1.ctl."];

/** The hints with this prefix that other accounts than the Director's tell. */
function toldBy(name: string, prefix: string, partitions: number): { owner: string; subject: string }[] {
  return SERVICES.filter((one) => !inCore(one) && accountOf(one) !== name).flatMap((one) =>
    rightsOf(one, partitions)
      .asks.filter(({ subject }) => subject.startsWith(prefix))
      .map(({ subject }) => ({ owner: accountOf(one), subject })),
  );
}

/** How long the server keeps the way back of an answer. */
const WAY_BACK: Readonly<Record<Answers, string>> = {
  one: "response: singleton",
  many: 'response: stream, threshold: "1m"',
  long: `response: stream, threshold: "${limits.taskTimeBudgetMaxS + 3_600}s"`,
};

interface Account {
  /** Export lines by kind and subject, with the accounts that may import them. */
  readonly exports: Map<string, { readonly line: string; readonly to: Set<string> }>;
  readonly imports: Set<string>;
  readonly users: string[];
}

export function accountsConfig({ keys, partitions, anonymous }: AccountsOptions): string {
  const accounts = new Map<string, Account>();
  const account = (name: string): Account => {
    const made = accounts.get(name) ?? { exports: new Map(), imports: new Set(), users: [] };
    accounts.set(name, made);
    return made;
  };
  const share = (kind: "service" | "stream", subject: string, owner: string, to: string, how = ""): void => {
    const key = `${kind} ${subject}`;
    const { exports } = account(owner);
    const entry = exports.get(key) ?? { line: `${kind}: ${text(subject)}${how}`, to: new Set<string>() };
    exports.set(key, entry);
    entry.to.add(to);
  };

  account(SYSTEM);
  for (const principal of PRINCIPALS) {
    const name = accountOf(principal);
    const own = account(name);
    const nkey = keys[principal];
    if (principal === "admin") {
      if (nkey !== undefined) own.users.push(`{ nkey: ${nkey} }`);
      continue;
    }
    const rights = rightsOf(principal, partitions); // contracts/C7
    if (nkey !== undefined) own.users.push(user(principal, nkey, rights, partitions));
    for (const { subject, answers } of rights.asks) {
      const local = localSubject(principal, subject);
      const as = local === subject ? "" : `, to: ${text(local)}`;
      for (const owner of ownersOf(subject).filter((one) => one !== name)) {
        share("service", subject, owner, name, `, ${WAY_BACK[answers]}`);
        own.imports.add(`{ service: { account: ${owner}, subject: ${text(subject)} }${as} }`);
      }
    }
    for (const subject of rights.hears.filter(() => name !== CORE)) {
      share("stream", subject, CORE, name);
      own.imports.add(`{ stream: { account: ${CORE}, subject: ${text(subject)} } }`);
      const prefix = HINTS.find((one) => subject.startsWith(one));
      for (const told of prefix === undefined ? [] : toldBy(name, prefix, partitions)) {
        share("stream", told.subject, told.owner, name);
        own.imports.add(`{ stream: { account: ${told.owner}, subject: ${text(told.subject)} } }`);
      }
    }
  }
  const nobody = anonymous === undefined ? undefined : keys[anonymous];
  return `accounts {
${[...accounts].map(([name, made]) => block(name, made)).join("\n")}
}
system_account: ${SYSTEM}
${nobody === undefined ? "" : `no_auth_user: ${nobody}\n`}`;
}

function block(name: string, { users, exports, imports }: Account): string {
  const shared = [...exports.values()].map(
    ({ line, to }) => `{ ${line}, accounts: [${[...to].join(", ")}] }`,
  );
  const parts = [
    ...(name === CORE ? ["jetstream: enabled"] : []),
    ...(users.length === 0 ? [] : [listed("users", users)]),
    ...(shared.length === 0 ? [] : [listed("exports", shared)]),
    ...(imports.size === 0 ? [] : [listed("imports", [...imports])]),
  ];
  return `  ${name} {\n${parts.map((part) => `    ${part}`).join("\n")}\n  }`;
}

const listed = (key: string, entries: readonly string[]): string =>
  `${key}: [\n${entries.map((entry) => `      ${entry}`).join("\n")}\n    ]`;

/** The subjects on which a principal may publish, by the names they have in its account. */
export function publishable(principal: Limited, partitions: number): string[] {
  const { asks, replies } = rightsOf(principal, partitions);
  const subjects = asks.map(({ subject }: Ask) => localSubject(principal, subject));
  const own = principal === "operator" || replies === "received" ? [] : ["_R_.>", "_INBOX.>"];
  const acks = /^\$JS\.ACK\./;
  return [
    ...new Set([...(replies === "received" ? subjects.filter((one) => !acks.test(one)) : subjects), ...own]),
  ];
}

/** The subjects to which a principal may subscribe. */
export function hearable(principal: Limited, partitions: number): string[] {
  const { hears, serves } = rightsOf(principal, partitions);
  return [...hears, ...serves, ...(principal === "operator" ? [] : ["$SRV.>"]), "_INBOX.>"];
}

function user(principal: Limited, nkey: string, { replies }: Rights, partitions: number): string {
  const window = REPLY_WINDOW_S[principal];
  const answers =
    replies === "any" || window === undefined
      ? ""
      : `, allow_responses: { max: 1000000, expires: "${window}s" }`;
  const allowed = (subjects: readonly string[]): string => `[${subjects.map(text).join(", ")}]`;
  return `{ nkey: ${nkey}, permissions: { publish: ${allowed(publishable(principal, partitions))}, subscribe: ${allowed(hearable(principal, partitions))}${answers} } }`;
}

const text = (value: string): string => JSON.stringify(value);
