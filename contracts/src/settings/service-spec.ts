/**
 * A program that checks need beside them, such as a database: `services:` of a repository's `antiphon.yaml`. It runs in a
 * container of its own that shares nothing with the sandbox but its loopback interface.
 */
import { Type, type Static } from "typebox";
import { limits } from "../limits.ts";
import { closed } from "../shapes/shape.ts";

const command = (description: string) => Type.String({ minLength: 1, maxLength: 8192, description });

const settings = {
  image: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description: "Image of the service, from the allowlist. Default: that of the sandbox.",
    }),
  ),
  command: Type.Optional(command("What runs, by `sh`. Default: what the image starts.")),
  env: Type.Optional(
    Type.Record(Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]{0,63}$" }), Type.String({ maxLength: 4096 }), {
      maxProperties: 64,
      description: "Variables of the service; no secrets.",
    }),
  ),
  port: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 65_535,
      description: "It is ready when it listens on this port. Checks reach it at 127.0.0.1.",
    }),
  ),
  ready: Type.Optional(command("It is ready when this command succeeds in the service's container.")),
  ready_s: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.serviceReadyMs / 1000,
      description: "How long to wait for that, in seconds. Default: 60.",
    }),
  ),
  tmpfs: Type.Optional(
    Type.Array(Type.String({ pattern: "^(/[A-Za-z0-9._-]+){1,8}$", maxLength: 255 }), {
      maxItems: 8,
      description: "Directories that it writes to, beside /tmp and the volumes of its image. They are empty.",
    }),
  ),
};

export const ServiceName = Type.String({ pattern: "^[a-z][a-z0-9-]{0,31}$" });

export const ServiceSettings = closed(settings, { description: "A service that the checks need." });
export type ServiceSettings = Static<typeof ServiceSettings>;

export const ServiceSpec = closed(
  { name: ServiceName, ...settings },
  { description: "A service that runs beside the commands of a sandbox." },
);
export type ServiceSpec = Static<typeof ServiceSpec>;

export const Services = Type.Array(ServiceSpec, {
  maxItems: limits.services,
  description: "Services that run beside the agent and beside the checks.",
});
