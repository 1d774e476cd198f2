/**
 * The checks of ecosystems whose build tool runs the tests. They name offline modes where the tool has one: a check runs
 * without a network, and setup has downloaded what it needs.
 */
import type { ReadText } from "./checks.ts";

export type Probe = (files: ReadonlySet<string>, read: ReadText) => Promise<string | null>;

const GRADLE_FILES = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
const RUBY_FILES = [".rspec", "Gemfile", "Rakefile"];
const PHP_FILES = ["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml", "composer.json"];

/** Every file with a fixed name that these probes look for. */
export const BUILT_FROM: readonly string[] = [
  "pom.xml",
  "mvnw",
  ...GRADLE_FILES,
  "gradlew",
  ...RUBY_FILES,
  ...PHP_FILES,
  "CMakeLists.txt",
];

const has = (files: ReadonlySet<string>, shape: RegExp): boolean =>
  [...files].some((path) => shape.test(path));

const textOf = async (files: ReadonlySet<string>, read: ReadText, name: string): Promise<string> =>
  files.has(name) ? ((await read(name)) ?? "") : "";

/** Not quiet: Surefire would report only tests that fail, and a check that passes has to report its tests as well. */
async function maven(files: ReadonlySet<string>): Promise<string | null> {
  if (!files.has("pom.xml")) return null;
  return `${files.has("mvnw") ? "sh ./mvnw" : "mvn"} -B -o test`;
}

async function gradle(files: ReadonlySet<string>): Promise<string | null> {
  if (!GRADLE_FILES.some((name) => files.has(name))) return null;
  return `${files.has("gradlew") ? "sh ./gradlew" : "gradle"} --no-daemon --offline -q test`;
}

/** RSpec by its files, else the task `test` (or a default task) of the Rakefile. Through Bundler if there is a Gemfile. */
async function ruby(files: ReadonlySet<string>, read: ReadText): Promise<string | null> {
  const prefix = files.has("Gemfile") ? "bundle exec " : "";
  if (files.has(".rspec") || has(files, /^spec\/.*_spec\.rb$/)) return `${prefix}rspec`;
  const rakefile = await textOf(files, read, "Rakefile");
  if (/TestTask|^[ \t]*task\b[^\n]*\btest\b/m.test(rakefile)) return `${prefix}rake test`;
  return has(files, /^test\/.*(test_|_test)[^/]*\.rb$|^test\/test_[^/]*\.rb$/) && rakefile !== ""
    ? `${prefix}rake`
    : null;
}

/** The tests without Rake, whose file may need gems that are no part of the tests. */
export async function rubyTests(files: ReadonlySet<string>): Promise<string | null> {
  if (!has(files, /^test\/(.*\/)?(test_[^/]*|[^/]*_test)\.rb$/)) return null;
  const each = `Dir["./test/**/{test_*,*_test}.rb"].sort.each { |file| require file }`;
  return `${files.has("Gemfile") ? "bundle exec " : ""}ruby -Ilib -Itest -e '${each}'`;
}

/** The script `test` of composer.json, else PHPUnit by its configuration, or on `tests` if Composer installs it. */
async function php(files: ReadonlySet<string>, read: ReadText): Promise<string | null> {
  const manifest = await textOf(files, read, "composer.json");
  if (/"scripts"\s*:\s*\{[^{}]*"test"\s*:/.test(manifest)) return "composer test";
  const isInstalled = /"phpunit\/phpunit"/.test(manifest);
  if (PHP_FILES.slice(0, 3).some((name) => files.has(name)))
    return isInstalled ? "vendor/bin/phpunit" : "phpunit";
  return isInstalled && has(files, /^tests\/(.*\/)?[^/]*Test\.php$/) ? "vendor/bin/phpunit tests" : null;
}

/** A build beside the sources, in a directory that is thrown away with the sandbox. */
async function cmake(files: ReadonlySet<string>, read: ReadText): Promise<string | null> {
  const text = await textOf(files, read, "CMakeLists.txt");
  if (!/\b(enable_testing|add_test|include\s*\(\s*CTest)\b/i.test(text)) return null;
  return "cmake -S . -B /tmp/build && cmake --build /tmp/build -j2 && ctest --test-dir /tmp/build --output-on-failure";
}

export const BUILT_CHECKS: readonly Probe[] = [maven, gradle, ruby, php, cmake];
