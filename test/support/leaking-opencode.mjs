// Stands in for OpenCode's server where a test needs one that leaks: it speaks what the pack `opencode-server` asks it, keeps its
// session on disk as OpenCode does, and holds more memory after each step. A step is a tool, whose
// begin and end are lines in steps.txt of the work tree.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const { LEAK_MIB, LEAK_STEPS, LEAK_TOOL_MS, XDG_DATA_HOME, OPENCODE_SERVER_PASSWORD } = process.env;
const THINKS_MS = 400;
const SESSION = "ses_1";
const FILE = join(XDG_DATA_HOME, "session.json");
const leaked = [];
let isBusy = false;

const stored = () => (existsSync(FILE) ? JSON.parse(readFileSync(FILE, "utf8")) : []);
const store = (messages) => writeFileSync(FILE, JSON.stringify(messages));
const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A message of the model, in the place of one that is not over yet. */
function put(message) {
  store([...stored().filter(({ info }) => info.id !== message.info.id), message]);
}

async function turn() {
  isBusy = true;
  for (;;) {
    const done = stored().flatMap(({ parts }) => parts.filter(({ state }) => state?.status === "completed"));
    const id = `msg_${stored().length}`;
    if (done.length >= Number(LEAK_STEPS)) {
      const parts = [{ id: `${id}_text`, type: "text", text: "Done.", time: { end: 1 } }];
      put({ info: { id, role: "assistant", finish: "stop", time: { completed: 1 } }, parts });
      isBusy = false;
      return;
    }
    await after(THINKS_MS);
    const tool = { id: `${id}_tool`, type: "tool", tool: "bash" };
    const info = { id, role: "assistant", time: {} };
    put({ info, parts: [{ ...tool, state: { status: "running", input: {} } }] });
    appendFileSync("steps.txt", "begun\n");
    await after(Number(LEAK_TOOL_MS));
    appendFileSync("steps.txt", "done\n");
    const over = { ...tool, state: { status: "completed", input: {}, output: "done" } };
    const finish = { id: `${id}_step`, type: "step-finish", tokens: { total: 100 } };
    put({ info: { ...info, finish: "tool-calls", time: { completed: 1 } }, parts: [over, finish] });
    leaked.push(Buffer.alloc(Number(LEAK_MIB) * 1024 * 1024, 1));
  }
}

const ROUTES = {
  "GET /global/health": () => ({ healthy: true }),
  "GET /session/status": () => (isBusy ? { [SESSION]: { type: "busy" } } : {}),
  "POST /session": () => ({ id: SESSION }),
  [`GET /session/${SESSION}/message`]: stored,
  [`POST /session/${SESSION}/prompt_async`]: ({ parts }) => {
    const id = `msg_${stored().length}`;
    put({ info: { id, role: "user" }, parts: [{ id: `${id}_text`, ...parts[0] }] });
    void turn();
    return null;
  },
  "GET /vcs/diff": () => [],
  [`POST /session/${SESSION}/message`]: () => ({
    info: { role: "assistant", structured: { plan: { nodes: [] }, tests: [] } },
    parts: [],
  }),
};

const server = createServer(async (request, response) => {
  const body = await text(request);
  const secret = Buffer.from(`opencode:${OPENCODE_SERVER_PASSWORD}`).toString("base64");
  if (request.headers.authorization !== `Basic ${secret}`) return response.writeHead(401).end();
  const path = request.url.split("?", 1)[0];
  const route = ROUTES[`${request.method} ${path}`];
  if (route === undefined) return response.writeHead(404).end();
  const answer = route(body === "" ? {} : JSON.parse(body));
  response.end(answer === null ? "" : JSON.stringify(answer));
});
server.listen(0, "127.0.0.1", () => {
  console.log(`opencode server listening on http://127.0.0.1:${server.address().port}`);
});
