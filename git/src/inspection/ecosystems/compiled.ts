/**
 * Go, Rust, Maven and Gradle: their tools download what the manifests name into the home directory. Go and Rust also
 * compile the dependencies there, which otherwise each check would do again.
 *
 * An environment serves every commit with the same manifests, so it may hold nothing that was made of the project's own
 * sources unless the tool compares contents. Go and Gradle do; Cargo and Maven compare times, so their part is removed.
 */
import { SANDBOX_HOME } from "@antiphon/contracts";
import type { Ecosystem, Finding, Place } from "./ecosystem.ts";

/** A larger cache takes longer to store and mount than it saves. */
const MAX_CACHE_MIB = 1024;
const smallOr = (directory: string, remove: string): string =>
  `[ "$(du -sm "${directory}" | cut -f1)" -le ${MAX_CACHE_MIB} ] || ${remove}`;

const WARM_GO = `go test -run '^$' ./... >/dev/null 2>&1; ${smallOr("$(go env GOCACHE)", "go clean -cache")}`;

const TARGET = `${SANDBOX_HOME}/.cargo-target`;
/** The packages of the work tree, as arguments `-p name@version`. */
const OWN_CRATES =
  "cargo tree --workspace --offline -e all --prefix none --format '{p}' | sed -n 's|^\\([^ ]*\\) v\\([^ ]*\\) \\((proc-macro) \\)\\{0,1\\}(/workspace.*|-p \\1@\\2|p' | sort -u";
const WARM_RUST = [
  "cargo test --workspace --no-run --offline >/dev/null 2>&1",
  `own=$(${OWN_CRATES}) && [ -n "$own" ] && cargo clean --offline $own || rm -rf "$CARGO_TARGET_DIR"`,
  `[ ! -d "$CARGO_TARGET_DIR" ] || ${smallOr("$CARGO_TARGET_DIR", 'rm -rf "$CARGO_TARGET_DIR"')}`,
].join("; ");

export const GO: Ecosystem = {
  name: "Go",
  decides: /^go\.(mod|sum|work|work\.sum)$/,
  markers: ["go.mod"],
  async probe(place) {
    if (!place.has("go.mod") && !place.has("go.work")) return null;
    const names = place.has("go.work") || /^[ \t]*require\b/m.test((await place.read("go.mod")) ?? "");
    const needs = names && !place.has("vendor/modules.txt");
    if (!needs && !place.names.some((name) => name.endsWith("_test.go"))) return null;
    return {
      because: place.has("go.work") ? "go.work" : "go.mod",
      commands: [...(needs ? ["go mod download"] : []), WARM_GO],
      tools: ["go"],
    };
  },
};

export const RUST: Ecosystem = {
  name: "Rust",
  decides: /^(Cargo\.(toml|lock)|rust-toolchain(\.toml)?)$/,
  markers: ["Cargo.toml"],
  async probe(place) {
    if (!place.has("Cargo.toml")) return null;
    const lock = await place.read("Cargo.lock");
    if (lock !== null) return /^source = /m.test(lock) ? crates("Cargo.lock", "cargo fetch --locked") : null;
    const manifest = (await place.read("Cargo.toml")) ?? "";
    const needs = /^\[(workspace|(target\.[^\]]+\.)?(dev-|build-)?dependencies)\b/m.test(manifest);
    return needs ? crates("Cargo.toml", "cargo fetch") : null;
  },
};

const crates = (because: string, fetch: string): Finding => ({
  because,
  commands: [fetch, WARM_RUST],
  tools: ["cargo"],
  variables: {
    CARGO_TARGET_DIR: TARGET,
    CARGO_INCREMENTAL: "0",
    CARGO_PROFILE_DEV_DEBUG: "line-tables-only",
  },
});

export const MAVEN: Ecosystem = {
  name: "Maven",
  decides: /^(pom\.xml|maven-wrapper\.properties)$/,
  markers: ["pom.xml"],
  probe: (place) => Promise.resolve(place.has("pom.xml") ? maven(place) : null),
};

function maven(place: Place): Finding {
  const program = place.has("mvnw") ? "sh ./mvnw" : "mvn";
  // Surefire fetches the provider of the project's test framework when it has classes to run, so it runs no method of all.
  const none =
    "'-Dtest=*#none' -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false -Dmaven.test.failure.ignore";
  return {
    because: "pom.xml",
    // Two commands, since a module is compiled against what `test` left of the modules before it.
    commands: [`${program} -B -q ${none} test`, `${program} -B -q clean`],
    tools: program === "mvn" ? ["mvn", "java"] : ["java"],
    // Java takes its home from the user's entry, which is the workspace: a check of all files would find Maven's repository there.
    variables: { MAVEN_OPTS: `-Duser.home=${SANDBOX_HOME}` },
  };
}

export const GRADLE: Ecosystem = {
  name: "Gradle",
  decides:
    /^((build|settings)\.gradle(\.kts)?|gradle\.(properties|lockfile)|gradle-wrapper\.properties|libs\.versions\.toml|verification-metadata\.xml)$/,
  markers: ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
  // Below a project of another kind it builds that project for Android, which no check of the root does.
  rootFirst: true,
  probe(place) {
    const because = GRADLE.markers.find((name) => place.has(name));
    // A project that has both is checked with Maven, as found by checks.ts.
    if (because === undefined || place.has("pom.xml")) return Promise.resolve(null);
    const program = place.has("gradlew") ? "sh ./gradlew" : "gradle";
    // The second call fetches what only a test run needs, such as the engine of the test framework.
    const call = `${program} --no-daemon -q testClasses && { ${program} --no-daemon -q test --tests none.None --continue || true; }`;
    const tools = program === "gradle" ? ["gradle", "java"] : ["java"];
    return Promise.resolve({ because, commands: [call], tools });
  },
};
