/** The own files of an agent pack, as commands of its installation, so that no service has to read them. Pure. */
import { gzipSync } from "node:zlib";
import { AntiphonError } from "../errors.ts";
import type { AgentPack } from "../settings/agent-pack.ts";
import { npmLockFault, rootOf } from "./npm-lock.ts";
import { fileCommand } from "./pack-agent.ts";
import { resumeFault } from "./pack-resume.ts";
import { usageFault } from "./pack-usage.ts";

/** A record of the run holds the command, and no command is longer. */
const COMMAND_CHARS = 8000;
/** Of a lock; a pack has 16 commands at most. */
const MOST_PARTS = 8;

/**
 * The pack with the content of its own files.
 * @throws AntiphonError ANT_AGENT_PACK_INVALID
 */
export function completePack(
  { install, ...pack }: AgentPack,
  contentOf: (name: string) => Uint8Array | null,
): AgentPack {
  const fault = resumeFault(pack) ?? usageFault(pack);
  if (fault !== null) throw invalid(fault);
  if (install === undefined) return pack;
  const { files = [], commands = [], ...packages } = install;
  const { lock, pip, npm, npm_lock } = packages;
  if (lock !== undefined && pip === undefined)
    throw invalid(`${lock} holds the packages of "pip", and there are none`);
  if (npm_lock !== undefined && npm === undefined)
    throw invalid(`${npm_lock} holds the packages of "npm", and there are none`);
  const locked = lock === undefined ? [] : writingInParts(lock, lock, contentOf(lock));
  if (npm_lock !== undefined) locked.push(...npmLocked(npm ?? [], npm_lock, contentOf(npm_lock)));
  const all = [...locked, ...files.map((name) => writing(name, contentOf(name))), ...commands];
  return { ...pack, install: { ...packages, ...(all.length === 0 ? {} : { commands: all }) } };
}

/** The lock, and the package.json that it is for. */
function npmLocked(npm: readonly string[], lock: string, content: Uint8Array | null): string[] {
  const locked = writingInParts(lock, "package-lock.json", content);
  const text = Buffer.from(content ?? []).toString("utf8");
  const fault = npmLockFault(npm, text);
  if (fault !== null) throw invalid(`${lock}: ${fault}; \`npm run agents:lock\` makes it again`);
  return [fileCommand("package.json", packedOf(Buffer.from(JSON.stringify(rootOf(text))))), ...locked];
}

/** Hashes do not compress, so a lock of many packages takes several commands. @param as its name in the sandbox */
function writingInParts(name: string, as: string, content: Uint8Array | null): string[] {
  if (content === null) throw invalid(`${name}: there is no such file, and agent.yaml names it as a lock`);
  for (let parts = 1; parts <= MOST_PARTS; parts += 1) {
    const bytes = Math.ceil(content.length / parts);
    const commands = Array.from({ length: parts }, (_, n) =>
      fileCommand(as, packedOf(content.subarray(n * bytes, (n + 1) * bytes)), n > 0),
    );
    if (commands.every((command) => command.length <= COMMAND_CHARS)) return commands;
  }
  throw invalid(`${name} is too large for a lock: more than ${MOST_PARTS} commands when packed`);
}

function packedOf(content: Uint8Array): string {
  return gzipSync(content, { level: 9 }).toString("base64");
}

function writing(name: string, content: Uint8Array | null): string {
  if (content === null)
    throw invalid(`${name}: there is no such file, and agent.yaml lists it under "files"`);
  const packed = packedOf(content);
  const command = fileCommand(name, packed);
  if (command.length <= COMMAND_CHARS) return command;
  throw invalid(
    `${name} is too large for a file of a pack: ${packed.length} characters when packed, of at most ${COMMAND_CHARS}; a larger program is a package of npm or PyPI`,
  );
}

const invalid = (message: string): AntiphonError => new AntiphonError("ANT_AGENT_PACK_INVALID", message);
