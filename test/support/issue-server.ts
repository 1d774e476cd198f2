/** An issue tracker on loopback that speaks the REST API of Gitea (`/api/v1`) and GitHub (`/api/v3`) for one project. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ServedIssue {
  number: number;
  title: string;
  body: string;
  state: string;
  assignees: { login: string }[];
  labels: { name: string }[];
  pull_request?: object;
}

export interface ServedPull extends ServedIssue {
  draft: boolean;
  user: { login: string };
  head: { ref: string; repo?: { full_name: string } };
}

export interface IssueServer {
  readonly url: string;
  readonly issues: ServedIssue[];
  readonly pulls: ServedPull[];
  readonly comments: Map<number, string[]>;
  /** Method, path and Authorization of each request. */
  readonly asked: { method: string; path: string; authorization: string }[];
  /** Answers the next request instead of the server. */
  next: ((response: ServerResponse) => void) | null;
  /** Answers a request after its effect. */
  after: ((response: ServerResponse) => void) | null;
  /** GitHub drops an assignee that it does not know, or refuses it; Gitea 1.26 answers with 500. */
  unknown: "refused" | "dropped" | "failed";
  close(): Promise<void>;
}

export const TOKEN = "token-of-the-deployment";
export const PEOPLE = ["ada", "bob"];
const PAGE = 50;

export async function issueServer(project: string, count: number): Promise<IssueServer> {
  const issues = Array.from({ length: count }, (_, i): ServedIssue => {
    const number = i + 1;
    const rest = { assignees: [], labels: [{ name: number % 2 === 0 ? "even" : "odd" }] };
    return { number, title: `Issue ${number}`, body: `Text ${number}`, state: "open", ...rest };
  });
  const served: Omit<IssueServer, "url" | "close"> = {
    ...{ issues, pulls: [], comments: new Map(), asked: [], next: null, after: null, unknown: "refused" },
  };
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => answer(served, project, request, body, response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): Promise<void> => {
    server.closeAllConnections();
    return new Promise((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())));
  };
  return Object.assign(served, { url, close });
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
}

export function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

function answer(
  served: Omit<IssueServer, "url" | "close">,
  project: string,
  request: IncomingMessage,
  body: Record<string, unknown>,
  response: ServerResponse,
): void {
  const { method = "", headers } = request;
  const url = new URL(request.url ?? "/", "http://host");
  const { authorization = "" } = headers;
  served.asked.push({ method, path: request.url ?? "", authorization });
  const { next } = served;
  served.next = null;
  if (next !== null) return next(response);
  const user = /^\/api\/v[13]\/users\/([^/]+)$/.exec(url.pathname)?.[1];
  if (user !== undefined) return send(response, PEOPLE.includes(user) ? 200 : 404, { login: user });
  const api = /^\/api\/(v1|v3)\/repos\/([^/]+\/[^/]+)\/issues(?:\/(\d+))?(\/comments)?$/.exec(url.pathname);
  const pulls = /^\/api\/(v1|v3)\/repos\/([^/]+\/[^/]+)\/pulls$/.exec(url.pathname);
  const repository = /^\/api\/(v1|v3)\/repos\/([^/]+\/[^/]+)$/.exec(url.pathname);
  const [, version, asked, number, isComment] = api ?? pulls ?? repository ?? [];
  if (version === undefined) return send(response, 404, { message: "Not Found" });
  if (authorization !== `${version === "v1" ? "token" : "Bearer"} ${TOKEN}`)
    return send(response, 401, { message: "Bad credentials" });
  if (asked !== project) return send(response, 403, { message: "user should have a permission" });
  if (repository !== null) return send(response, 200, { full_name: project, default_branch: "main" });
  if (pulls !== null && method === "POST") return propose(served, project, body, response);
  if (pulls !== null) return list(served.pulls, url, response);
  if (number === undefined) return list(served.issues, url, response);
  const issue = served.issues.find((one) => one.number === Number(number));
  if (issue === undefined) return send(response, 404, { message: "Not Found" });
  const comments = served.comments.get(issue.number) ?? [];
  if (isComment !== undefined && method === "GET")
    return send(
      response,
      200,
      comments.map((text) => ({ body: text })),
    );
  if (isComment !== undefined) {
    served.comments.set(issue.number, [...comments, String(body["body"])]);
    return served.after === null ? send(response, 201, { body: body["body"] }) : served.after(response);
  }
  if (method === "PATCH" && !change(served, issue, body))
    return served.unknown === "failed"
      ? send(response, 500, { message: "user does not exist" })
      : send(response, 422, { message: "Validation Failed", errors: [{ field: "assignees" }] });
  return send(response, method === "PATCH" && version === "v1" ? 201 : 200, issue);
}

function propose(
  { pulls, issues }: Pick<IssueServer, "pulls" | "issues">,
  project: string,
  body: Record<string, unknown>,
  response: ServerResponse,
): void {
  const [head, base, title] = ["head", "base", "title"].map((name) => String(body[name]));
  if (pulls.some((one) => one.head.ref === head)) return send(response, 409, { message: "it exists" });
  if (head === base || title === "") return send(response, 422, { message: "Validation Failed" });
  const pull: ServedPull = {
    ...{ number: 1 + pulls.length + issues.length, title: title ?? "", body: String(body["body"]) },
    ...{ state: "open", assignees: [], labels: [], draft: false, user: { login: "bot" } },
    head: { ref: head ?? "", repo: { full_name: project } },
  };
  pulls.push(pull);
  send(response, 201, pull);
}

function change(
  { unknown }: Pick<IssueServer, "unknown">,
  issue: ServedIssue,
  body: Record<string, unknown>,
): boolean {
  if (typeof body["state"] === "string") issue.state = body["state"];
  if (!Array.isArray(body["assignees"])) return true;
  const names = body["assignees"] as string[];
  const known = names.filter((name) => PEOPLE.includes(name));
  if (known.length < names.length && unknown !== "dropped") return false;
  issue.assignees = known.map((login) => ({ login }));
  return true;
}

function list(issues: readonly ServedIssue[], url: URL, response: ServerResponse): void {
  const state = url.searchParams.get("state") ?? "open";
  const chosen = issues.filter((issue) => state === "all" || issue.state === state);
  const page = Number(url.searchParams.get("page") ?? "1");
  const isLast = page * PAGE >= chosen.length;
  url.searchParams.set("page", String(page + 1));
  const link = isLast ? {} : { link: `<http://evil.example${url.pathname}${url.search}>; rel="next"` };
  send(response, 200, chosen.slice((page - 1) * PAGE, page * PAGE), link);
}
