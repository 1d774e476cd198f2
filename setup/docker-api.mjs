/**
 * The few calls of set-up to a Docker engine, over its socket. They use only node, because set-up runs before node_modules
 * exists and without a docker command line.
 */
import { createReadStream, createWriteStream } from "node:fs";
import { request } from "node:http";
import { pipeline } from "node:stream/promises";
import { URLSearchParams } from "node:url";

import { StepFailure } from "./step-failure.mjs";

/** A busy engine is slow even for the simplest call; a hanging one should still be reported. */
const CALL_TIMEOUT_MS = 60_000;
const DEFAULT_SOCKET = "/var/run/docker.sock";

/** The engine's address, from DOCKER_HOST as the docker command line reads it. */
export function engineAddress(dockerHost = process.env["DOCKER_HOST"]) {
  if (dockerHost === undefined || dockerHost === "")
    return { label: `unix://${DEFAULT_SOCKET}`, connection: { socketPath: DEFAULT_SOCKET }, local: true };
  const url = new URL(dockerHost);
  if (url.protocol === "unix:")
    return {
      label: dockerHost,
      connection: { socketPath: url.pathname },
      local: url.pathname === DEFAULT_SOCKET,
    };
  return {
    label: dockerHost,
    connection: { host: url.hostname, port: Number(url.port || 2375) },
    local: false,
  };
}

/** @typedef {ReturnType<typeof engineAddress>} EngineAddress */

/**
 * Makes one call and returns its whole answer.
 *
 * @param {EngineAddress} address
 * @param {string} method
 * @param {string} path
 * @param {{body?: object, tarFile?: string, timeoutMs?: number}} [options]
 * @returns {Promise<{status: number, text: string}>}
 */
export function call(address, method, path, options = {}) {
  const { body, tarFile, timeoutMs = CALL_TIMEOUT_MS } = options;
  return new Promise((resolve, reject) => {
    const type = tarFile === undefined ? "application/json" : "application/x-tar";
    const outgoing = request(
      { ...address.connection, method, path, headers: { "Content-Type": type, Host: "docker" } },
      (incoming) => {
        /** @type {Buffer[]} */
        const chunks = [];
        incoming.on("data", (chunk) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () =>
          resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") }),
        );
      },
    );
    outgoing.setTimeout(timeoutMs, () =>
      outgoing.destroy(
        new StepFailure(
          `the Docker engine did not answer ${method} ${path.split("?")[0]} within ${timeoutMs / 1000} s`,
          "see whether the machine is very busy or the engine hangs (docker info), then run npm run setup again",
        ),
      ),
    );
    outgoing.on("error", reject);
    if (tarFile !== undefined) pipeline(createReadStream(tarFile), outgoing).catch(reject);
    else outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/**
 * Whether the engine answers, and if not, why.
 *
 * @param {EngineAddress} address
 * @returns {Promise<{ok: true, version: string} | {ok: false, code: string, message: string}>}
 */
export async function ping(address) {
  try {
    const { status, text } = await call(address, "GET", "/version", { timeoutMs: 3_000 });
    if (status !== 200) return { ok: false, code: `HTTP_${status}`, message: text.trim() };
    return { ok: true, version: String(JSON.parse(text).Version) };
  } catch (error) {
    const { code = "UNKNOWN", message } = /** @type {NodeJS.ErrnoException} */ (error);
    return { ok: false, code, message };
  }
}

/**
 * The id of an image, or null if it does not exist.
 *
 * @param {EngineAddress} address
 * @param {string} ref
 * @returns {Promise<string | null>}
 */
export async function imageId(address, ref) {
  const { status, text } = await call(address, "GET", `/images/${ref}/json`);
  if (status === 404) return null;
  if (status !== 200) throw new Error(`the engine refused to inspect ${ref}: ${text.trim()}`);
  return String(JSON.parse(text).Id);
}

/**
 * Makes an image of one file system tar; `changes` are Dockerfile lines such as `USER 65532`.
 *
 * @param {EngineAddress} address
 * @param {{repository: string, tag: string, tarFile: string, changes: readonly string[]}} image
 */
export async function importImage(address, { repository, tag, tarFile, changes }) {
  const query = new URLSearchParams([
    ["fromSrc", "-"],
    ["repo", repository],
    ["tag", tag],
    ...changes.map((change) => ["changes", change]),
  ]);
  const answer = await call(address, "POST", `/images/create?${query}`, { tarFile, timeoutMs: 300_000 });
  failOnProgressError(answer);
}

/**
 * Builds an image of a Dockerfile; the tar holds the build context.
 *
 * @param {EngineAddress} address
 * @param {{ref: string, tarFile: string, dockerfile: string, args?: Record<string, string>, target?: string, pull?: boolean}} image
 */
export async function buildImage(
  address,
  { ref, tarFile, dockerfile, args = {}, target = "", pull = false },
) {
  const query = new URLSearchParams({
    t: ref,
    dockerfile,
    target,
    buildargs: JSON.stringify(args),
    forcerm: "1",
    ...(pull ? { pull: "1" } : {}),
  });
  const answer = await call(address, "POST", `/build?${query}`, { tarFile, timeoutMs: 1_200_000 });
  failOnProgressError(answer);
}

/**
 * Gives an image one more name.
 *
 * @param {EngineAddress} address
 * @param {string} ref
 * @param {{repository: string, tag: string}} name
 */
export async function tagImage(address, ref, { repository, tag }) {
  const query = new URLSearchParams({ repo: repository, tag });
  const { status, text } = await call(address, "POST", `/images/${ref}/tag?${query}`);
  if (status !== 201) throw new Error(`the engine refused to name ${ref}: ${text.trim()}`);
}

/** Takes a name from an image that has another one. @param {EngineAddress} address @param {string} ref */
export async function untagImage(address, ref) {
  const { status, text } = await call(address, "DELETE", `/images/${ref}?noprune=1`);
  if (status !== 200) throw new Error(`the engine refused to forget ${ref}: ${text.trim()}`);
}

/**
 * Writes an image into a tar file that `docker load` reads.
 *
 * @param {EngineAddress} address
 * @param {string} ref
 * @param {string} file
 */
export function saveImage(address, ref, file) {
  return new Promise((resolve, reject) => {
    const path = `/images/get?${new URLSearchParams({ names: ref })}`;
    const outgoing = request({ ...address.connection, path, headers: { Host: "docker" } }, (incoming) => {
      if (incoming.statusCode !== 200) {
        incoming.resume();
        return reject(new Error(`the engine refused to save ${ref}: HTTP ${incoming.statusCode}`));
      }
      pipeline(incoming, createWriteStream(file)).then(resolve, reject);
    });
    outgoing.setTimeout(CALL_TIMEOUT_MS, () =>
      outgoing.destroy(new Error(`the engine sent nothing of ${ref} for ${CALL_TIMEOUT_MS / 1000} s`)),
    );
    outgoing.on("error", reject);
    outgoing.end();
  });
}

/**
 * Runs a command to its end in a throw-away container without network and returns its output.
 *
 * @param {EngineAddress} address
 * @param {string} ref
 * @param {readonly string[]} command
 */
export async function runOnce(address, ref, command) {
  const created = await call(address, "POST", "/containers/create", {
    body: {
      Image: ref,
      Cmd: command,
      Tty: true,
      HostConfig: { NetworkMode: "none", ReadonlyRootfs: true, CapDrop: ["ALL"] },
    },
  });
  if (created.status !== 201) throw new Error(created.text.trim());
  const id = String(JSON.parse(created.text).Id);
  try {
    const started = await call(address, "POST", `/containers/${id}/start`);
    if (started.status !== 204) throw new Error(started.text.trim());
    const waited = await call(address, "POST", `/containers/${id}/wait`);
    const logs = await call(address, "GET", `/containers/${id}/logs?stdout=1&stderr=1`);
    return { exitCode: Number(JSON.parse(waited.text).StatusCode), output: logs.text };
  } finally {
    await call(address, "DELETE", `/containers/${id}?force=1`);
  }
}

/** The engine answers 200 first and reports a failure in the last line of its progress. @param {{status: number, text: string}} answer */
function failOnProgressError({ status, text }) {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const failure = lines.find((line) => line.includes('"error"')) ?? (status === 200 ? undefined : text);
  if (failure !== undefined) throw new Error(failure.trim().slice(-500));
}
