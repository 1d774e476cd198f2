/** The own files of an agent pack, as commands of its installation, so that no service has to read them. Pure. */
import { gzipSync } from "node:zlib";
import { AntiphonError } from "../errors.ts";
import type { AgentPack } from "../settings/agent-pack.ts";
import { fileCommand } from "./pack-agent.ts";

/** A record of the run holds the command, and no command is longer. */
const COMMAND_CHARS = 8000;

/**
 * The pack with the content of its own files.
 * @throws AntiphonError ANT_AGENT_PACK_INVALID
 */
export function completePack(
  { install, ...pack }: AgentPack,
  contentOf: (name: string) => Uint8Array | null,
): AgentPack {
  if (install === undefined) return pack;
  const { files = [], commands = [], ...packages } = install;
  const all = [...files.map((name) => writing(name, contentOf(name))), ...commands];
  return { ...pack, install: { ...packages, ...(all.length === 0 ? {} : { commands: all }) } };
}

function writing(name: string, content: Uint8Array | null): string {
  if (content === null)
    throw invalid(`${name}: there is no such file, and agent.yaml lists it under "files"`);
  const packed = gzipSync(content, { level: 9 }).toString("base64");
  const command = fileCommand(name, packed);
  if (command.length <= COMMAND_CHARS) return command;
  throw invalid(
    `${name} is too large for a file of a pack: ${packed.length} characters when packed, of at most ${COMMAND_CHARS}; a larger program is a package of npm or PyPI`,
  );
}

const invalid = (message: string): AntiphonError => new AntiphonError("ANT_AGENT_PACK_INVALID", message);
