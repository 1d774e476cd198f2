/** The version of this build, as `nats micro ls` shows it. Sources that run without a build have none. */
declare const __ANTIPHON_VERSION__: string | undefined;

export const VERSION = typeof __ANTIPHON_VERSION__ === "string" ? __ANTIPHON_VERSION__ : "0.0.0-sources";
