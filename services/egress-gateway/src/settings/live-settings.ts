/**
 * The settings of an egress gateway, read again when its configuration file has changed. A listener keeps those with which it
 * was opened. A file that cannot be read as a configuration is logged, and the last settings go on.
 */
import { statSync } from "node:fs";
import { AntiphonError } from "@antiphon/contracts";
import type { Logger } from "@antiphon/runtime";
import { environment, readEgressConfig, type EgressSettings } from "../config.ts";
import type { Env } from "./config-file.ts";

const REMEDY = "mend the file; it is read again by itself. `antiphon models list` shows what is used";

export class LiveSettings {
  readonly #env: Env;
  readonly #log: Logger;
  #settings: EgressSettings;
  #stamp: string;

  /** Throws ANT_CONFIG_INVALID. */
  constructor(log: Logger, env: Env = environment()) {
    this.#env = env;
    this.#log = log;
    this.#stamp = stampOf(env);
    this.#settings = readEgressConfig(env);
    this.#say();
  }

  current(): EgressSettings {
    const stamp = stampOf(this.#env);
    if (stamp === this.#stamp) return this.#settings;
    this.#stamp = stamp;
    try {
      // A broken file closes a gateway at its start only: later, what it said before goes on.
      this.#settings = readEgressConfig({ ...this.#env, ANTIPHON_EGRESS_BROKEN_CONFIG: "" });
      this.#log.info({ models: this.#settings.models.size }, "configuration read again");
      this.#say();
    } catch (error) {
      const { code, detail } = AntiphonError.from(error);
      this.#log.error({ code, detail }, "the changed configuration is not used");
    }
    return this.#settings;
  }

  #say(): void {
    const { unusable, overrides, privateHosts, proxy, isClosed } = this.#settings;
    if (isClosed === true)
      this.#log.error(
        { code: "ANT_CONFIG_INVALID", remedy: REMEDY },
        "the configuration cannot be used: until it is mended, no sandbox reaches a model or another host",
      );
    if (proxy !== null) {
      const at = `${proxy.scheme}://${proxy.host}:${proxy.port}`;
      if (proxy.byName)
        this.#log.warn(
          { proxy: at },
          "the upstream proxy resolves names; which addresses are reached is up to it",
        );
      else this.#log.info({ proxy: at }, "everything leaves through the upstream proxy");
    }
    if (privateHosts.length > 0)
      this.#log.info(
        { hosts: privateHosts.map(({ host }) => host) },
        "the addresses of these hosts may be private",
      );
    for (const { entry, reason } of unusable)
      this.#log.error(
        { code: "ANT_CONFIG_INVALID", entry, reason, remedy: REMEDY },
        "entry of the configuration is not used",
      );
    for (const [place, to] of overrides)
      this.#log.warn(
        { place, to: `${to.address}:${to.port}` },
        "address override: this address is not checked; do not use overrides in production",
      );
  }
}

function stampOf(env: Env): string {
  const path = env["ANTIPHON_EGRESS_CONFIG"] ?? "";
  const found = path === "" ? undefined : statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "" : `${found.mtimeMs} ${found.size} ${found.ino}`;
}
