/** Go, Rust, Maven and Gradle: their tools download what the manifests name into the home directory. */
import type { Ecosystem, Finding, Place } from "./ecosystem.ts";

const found = (because: string, command: string, ...tools: string[]): Finding => ({
  because,
  commands: [command],
  tools,
});

export const GO: Ecosystem = {
  name: "Go",
  decides: /^go\.(mod|sum|work|work\.sum)$/,
  markers: ["go.mod"],
  async probe(place) {
    if (place.has("vendor/modules.txt")) return null;
    if (!place.has("go.mod") && !place.has("go.work")) return null;
    const needs = place.has("go.work") || /^[ \t]*require\b/m.test((await place.read("go.mod")) ?? "");
    return needs ? found(place.has("go.work") ? "go.work" : "go.mod", "go mod download", "go") : null;
  },
};

export const RUST: Ecosystem = {
  name: "Rust",
  decides: /^(Cargo\.(toml|lock)|rust-toolchain(\.toml)?)$/,
  markers: ["Cargo.toml"],
  async probe(place) {
    if (!place.has("Cargo.toml")) return null;
    const lock = await place.read("Cargo.lock");
    if (lock !== null)
      return /^source = /m.test(lock) ? found("Cargo.lock", "cargo fetch --locked", "cargo") : null;
    const manifest = (await place.read("Cargo.toml")) ?? "";
    const needs = /^\[(workspace|(target\.[^\]]+\.)?(dev-|build-)?dependencies)\b/m.test(manifest);
    return needs ? found("Cargo.toml", "cargo fetch", "cargo") : null;
  },
};

export const MAVEN: Ecosystem = {
  name: "Maven",
  decides: /^(pom\.xml|maven-wrapper\.properties)$/,
  markers: ["pom.xml"],
  probe: (place) => Promise.resolve(place.has("pom.xml") ? maven(place) : null),
};

function maven(place: Place): Finding {
  const goals = "-B -q -DskipTests dependency:go-offline test";
  return place.has("mvnw")
    ? found("pom.xml", `sh ./mvnw ${goals}`, "java")
    : found("pom.xml", `mvn ${goals}`, "mvn", "java");
}

export const GRADLE: Ecosystem = {
  name: "Gradle",
  decides:
    /^((build|settings)\.gradle(\.kts)?|gradle\.(properties|lockfile)|gradle-wrapper\.properties|libs\.versions\.toml|verification-metadata\.xml)$/,
  markers: ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
  probe(place) {
    const because = GRADLE.markers.find((name) => place.has(name));
    if (because === undefined) return Promise.resolve(null);
    const task = "--no-daemon -q testClasses";
    return Promise.resolve(
      place.has("gradlew")
        ? found(because, `sh ./gradlew ${task}`, "java")
        : found(because, `gradle ${task}`, "gradle", "java"),
    );
  },
};
