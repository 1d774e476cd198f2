/**
 * The toolchains that the standard sandbox image does not have. `antiphon images build --with` adds them
 * (setup/toolchains.mjs has a row for each name), and `antiphon images allow` looks for their programs in any image.
 */
export const TOOLCHAINS = {
  cpp: { programs: ["cmake", "g++"], what: "C++ and CMake" },
  go: { programs: ["go"], what: "Go" },
  java: { programs: ["java", "mvn"], what: "Java and Maven" },
  php: { programs: ["composer", "php"], what: "PHP and Composer" },
  postgres: { programs: ["initdb", "postgres"], what: "PostgreSQL, as a service" },
  redis: { programs: ["redis-server"], what: "Redis, as a service" },
  ruby: { programs: ["bundle", "ruby"], what: "Ruby and Bundler" },
  rust: { programs: ["cargo"], what: "Rust and Cargo" },
} as const satisfies Readonly<Record<string, { programs: readonly string[]; what: string }>>;

export type ToolchainName = keyof typeof TOOLCHAINS;

export const TOOLCHAIN_NAMES = Object.keys(TOOLCHAINS) as readonly ToolchainName[];

/** Every program that a repository may need and an image may lack; `gradle` is in no toolchain. */
export const TOOLCHAIN_PROGRAMS: readonly string[] = [
  ...Object.values(TOOLCHAINS).flatMap(({ programs }) => programs),
  "gradle",
];

/** The toolchains that bring the given programs, in the order of the table. */
export function toolchainsFor(programs: readonly string[]): ToolchainName[] {
  return TOOLCHAIN_NAMES.filter((name) => TOOLCHAINS[name].programs.some((one) => programs.includes(one)));
}

/** The command that makes an image with the given programs; null if no toolchain has any of them. */
export function buildCommandFor(programs: readonly string[]): string | null {
  const names = toolchainsFor(programs);
  return names.length === 0 ? null : `antiphon images build --with ${names.join(",")}`;
}
