/**
 * Prepared environments: what a repository's setup commands make (installed packages, a home directory), once for all
 * attempts and clean rooms that need the same. A Director decides which environment a tree needs and says so in a
 * request to the sandbox-runner, which has it or makes it.
 */
import { Type, type Static } from "typebox";
import { EgressReport } from "./egress-rpc.ts";
import { BlobRef } from "../shapes/refs.ts";
import { Digest } from "../shapes/ids.ts";
import { closed, nullable } from "../shapes/shape.ts";

const command = Type.String({ minLength: 1, maxLength: 8192 });
const path = Type.String({ minLength: 1, maxLength: 1024 });

/** The home directory of setup and of every step in a prepared environment. Part of what the environment holds. */
export const SANDBOX_HOME = "/tmp/home";

/** The most files that a spec and its evidence name. */
const NAMED_FILES = 64;

export const EnvironmentSource = closed(
  {
    tree: Type.String({ minLength: 1, maxLength: 256, description: "Object in `ANT_REPOS`." }),
    overlay: nullable(BlobRef, { description: "Tar of the files that replace those of the tree." }),
    deletions: Type.Array(path, { maxItems: 20_000 }),
  },
  { description: "The tree in which the setup commands run." },
);
export type EnvironmentSource = Static<typeof EnvironmentSource>;

export const EnvironmentAgent = closed(
  {
    installs: Type.Integer({
      minimum: 1,
      maximum: 64,
      description: "So many of the commands, from the first, install it in the standard image.",
    }),
    scope: Type.String({ minLength: 1, maxLength: 256, description: "Who shares it." }),
    tools: Type.Array(Type.String({ pattern: "^[A-Za-z0-9._+-]{1,64}$" }), {
      maxItems: 32,
      description: "Programs that the standard image must have.",
    }),
    path: Type.Array(path, { maxItems: 16, description: "Directories of its programs." }),
    starts: Type.String({
      minLength: 1,
      maxLength: 8192,
      description: "A command that fails in an image where it cannot run, and says why.",
    }),
  },
  { description: "An agent that brings all that it runs with, so that it is installed once for all images." },
);
export type EnvironmentAgent = Static<typeof EnvironmentAgent>;

export const EnvironmentSpec = closed(
  {
    commands: Type.Array(command, { minItems: 1, maxItems: 64, description: "Setup commands, in order." }),
    inputs: Type.String({
      pattern: "^[0-9a-f]{64}$",
      description: "SHA-256 of the names and contents of the files that decide the environment.",
    }),
    decided_by: Type.Array(path, {
      maxItems: NAMED_FILES,
      description: "The first of these files, for people.",
    }),
    scope: Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        "Who shares it: `repo:<digest>` for the commits that people gave, `tree:<id>` for a tree that an agent changed.",
    }),
    source: EnvironmentSource,
    tools: Type.Array(Type.String({ pattern: "^[A-Za-z0-9._+-]{1,64}$" }), {
      maxItems: 32,
      description: "Programs that the image must have.",
    }),
    path: Type.Array(path, { maxItems: 16, description: "Directories before the image's own PATH." }),
    variables: Type.Record(Type.String(), Type.String({ maxLength: 4096 }), {
      description: "Variables of every later step.",
    }),
    found: Type.Array(Type.String({ minLength: 1, maxLength: 512 }), {
      maxItems: 32,
      description: "Why these commands: one line for each ecosystem or source.",
    }),
    packages: nullable(BlobRef, { description: "Packages that the lock files name, with their digests." }),
    agent: Type.Optional(EnvironmentAgent),
    owned: Type.Optional(
      Type.Boolean({
        description: "True: each sandbox has a copy whose files are its own. Default: all share one.",
      }),
    ),
  },
  { description: "An environment that a tree needs. Written by a Director." },
);
export type EnvironmentSpec = Static<typeof EnvironmentSpec>;

const reported = {
  key: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  image: Type.String({ minLength: 1 }),
  commands: Type.Array(command, { minItems: 1, maxItems: 64 }),
  found: Type.Array(Type.String(), { maxItems: 32 }),
  decided_by: Type.Array(path, { maxItems: NAMED_FILES }),
  cached: Type.Boolean({ description: "False: prepared for this request." }),
  duration_ms: Type.Number({ minimum: 0, description: "Time that preparing it took, whenever that was." }),
  layer: nullable(Digest, { description: "Digest of what it holds; null if preparing it failed." }),
  bytes: Type.Integer({ minimum: 0 }),
  files: Type.Integer({ minimum: 0 }),
  log: nullable(BlobRef, { description: "Output of the setup commands." }),
  packages: nullable(BlobRef),
  egress: nullable(EgressReport, { description: "Requests that the setup commands made." }),
};

export const EnvironmentReport = closed(
  {
    ...reported,
    agent: Type.Optional(
      closed(reported, {
        description: "The agent beside which it was prepared, installed in the standard image.",
      }),
    ),
  },
  { description: "The environment that a job had, or the one that could not be prepared." },
);
export type EnvironmentReport = Static<typeof EnvironmentReport>;
