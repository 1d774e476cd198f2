/** What the next release may change, by the rules of docs/guides/upgrade.md: the present sources with these edits. */
import type { Edit } from "./installation.ts";

export const NEXT_VERSION = "99.0.0";

export const NEXT_RELEASE: readonly Edit[] = [
  { file: "package.json", old: '"version": "0.1.0"', now: `"version": "${NEXT_VERSION}"` },
  // Every record has a new field in its body.
  {
    file: "runtime/src/journal/record-message.ts",
    old: "const payload = encode(envelope);",
    now: 'const payload = encode({ ...envelope, body: { ...envelope.body, mood: "fine" } });',
  },
  // Every sandbox job asks for something that older runners cannot do.
  {
    file: "contracts/src/rpc/sandbox-rpc.ts",
    old: '    ),\n  },\n  { description: "A few commands in one sandbox." },',
    now: '    ),\n    mood: Type.Optional(Type.String()),\n  },\n  { description: "A few commands." },',
  },
  {
    file: "runtime/src/sandbox/sandbox-client.ts",
    old: "    async run(request, { signal,",
    now: "    async run(given, { signal,",
  },
  {
    file: "runtime/src/sandbox/sandbox-client.ts",
    old: "      const askedAt = systemClock.now();",
    now: '      const request = { ...given, mood: "fine" };\n      const askedAt = systemClock.now();',
  },
  // The server has other settings: stronger ones, which an older Director would have to loosen, and other words.
  {
    file: "contracts/src/topology/topology.ts",
    old: "export const TOPOLOGY_VERSION = 1;",
    now: "export const TOPOLOGY_VERSION = 2;",
  },
  {
    file: "contracts/src/topology/topology.ts",
    old: "maxBytes: 256 * 1024 * 1024,",
    now: "maxBytes: 512 * 1024 * 1024,",
  },
  {
    file: "contracts/src/topology/topology.ts",
    old: '"The journal: the truth about every run."',
    now: '"The journal."',
  },
  {
    file: "contracts/src/topology/topology.ts",
    old: '"Everything that can move a run on."',
    now: '"What moves a run on."',
  },
];
