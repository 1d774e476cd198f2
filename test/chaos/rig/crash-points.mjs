// Ends the process at a named point. Loaded by `node --import` in the chaos rig only; the product has no code for it.
// It watches the process's messages to the server, the container engine and git.
//
//   ANTIPHON_CHAOS_POINT   {"deed":"append verdict","side":"after"}
//   ANTIPHON_CHAOS_POISON  a text; a process that claims a task whose dispatch contains it ends
import { ChildProcess } from "node:child_process";
import { Socket } from "node:net";

const point = JSON.parse(process.env.ANTIPHON_CHAOS_POINT ?? "null");
const poison = process.env.ANTIPHON_CHAOS_POISON ?? "";

const end = () => process.kill(process.pid, "SIGKILL");

/** The outgoing message of an operation, and the answer when it is complete; null: there is no answer. */
function signs(deed) {
  if (deed.startsWith("append ")) {
    const type = deed.slice("append ".length);
    return { out: ["antiphon.v1.run.", `.${type}.run_`, "PUB "], back: '"stream":"ANT_JOURNAL' };
  }
  switch (deed) {
    case "ack":
      return { out: ["PUB $JS.ACK.", "+ACK"], back: null };
    case "blob":
      return { out: ["PUB $O.", ".M."], back: '"stream":"OBJ_' };
    case "manifest":
      return { out: ["PUB $KV.ANT_EVIDENCE."], back: '"stream":"KV_ANT_EVIDENCE"' };
    case "container create":
      return { out: ["POST /containers/create"], back: "HTTP/1.1 201" };
    case "container start":
      return { out: ["POST /containers/", "/start"], back: "HTTP/1.1 204" };
    default:
      return { out: [deed], back: null };
  }
}

const armed = point === null ? null : { ...signs(point.deed), side: point.side, done: false };
/** Run ids of poisonous dispatches this process has been given. */
const poisoned = new Set();
let claiming = false;

const includesAll = (bytes, texts) => texts.every((text) => bytes.includes(text));
const bytesOf = (chunk) =>
  typeof chunk === "string"
    ? Buffer.from(chunk)
    : Buffer.from(chunk.buffer ?? chunk, chunk.byteOffset ?? 0, chunk.byteLength);

const write = Socket.prototype.write;
Socket.prototype.write = function (chunk, ...rest) {
  const bytes = bytesOf(chunk);
  for (const runId of poisoned) if (bytes.includes(`.claim.${runId}`)) claiming = true;
  if (armed === null || armed.done || !includesAll(bytes, armed.out)) return write.call(this, chunk, ...rest);
  if (armed.side === "before") end();
  armed.done = true;
  if (armed.back !== null) return write.call(this, chunk, ...rest);
  const result = write.call(this, chunk, ...rest);
  process.nextTick(end); // The kernel has the bytes by then.
  return result;
};

const push = Socket.prototype.push;
Socket.prototype.push = function (chunk, ...rest) {
  if (chunk === null || chunk === undefined) return push.call(this, chunk, ...rest);
  const bytes = bytesOf(chunk);
  if (armed?.done && armed.back !== null && bytes.includes(armed.back)) end();
  if (claiming && bytes.includes('"stream":"ANT_JOURNAL') && !bytes.includes('"error"')) end();
  if (poison !== "" && bytes.includes(poison)) {
    for (const [, runId] of bytes.toString("latin1").matchAll(/\.dispatch\.(run_[a-z0-9]+)\./g))
      poisoned.add(runId);
  }
  return push.call(this, chunk, ...rest);
};

const spawn = ChildProcess.prototype.spawn;
ChildProcess.prototype.spawn = function (options) {
  if (armed === null || point.deed !== "update-ref" || !options.args?.includes("update-ref"))
    return spawn.call(this, options);
  if (point.side === "before") end();
  this.prependListener("exit", end);
  return spawn.call(this, options);
};
