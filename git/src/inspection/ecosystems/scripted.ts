/**
 * Ruby, PHP and shell: Bundler installs into the home directory, Composer into `vendor/`, which repositories ignore. Bats, the
 * test framework of shell programs, comes from npm where the image has none.
 */
import { SANDBOX_HOME } from "@antiphon/contracts";
import { isFilled, jsonOf, recordOf, type Ecosystem } from "./ecosystem.ts";

export const RUBY: Ecosystem = {
  name: "Ruby",
  decides: /^(Gemfile(\.lock)?|gems\.(rb|locked)|\.ruby-version|.+\.gemspec)$/,
  markers: ["Gemfile"],
  probe(place) {
    if (!place.has("Gemfile")) return Promise.resolve(null);
    const isLocked = place.has("Gemfile.lock");
    return Promise.resolve({
      because: isLocked ? "Gemfile.lock" : "Gemfile",
      commands: [isLocked ? "BUNDLE_FROZEN=true bundle install" : "bundle install"],
      tools: ["bundle"],
      variables: { BUNDLE_PATH: `${SANDBOX_HOME}/.bundle/gems` },
    });
  },
};

export const PHP: Ecosystem = {
  name: "PHP",
  decides: /^composer\.(json|lock)$/,
  markers: ["composer.json", "composer.lock"],
  async probe(place) {
    const isLocked = place.has("composer.lock");
    if (!isLocked && !place.has("composer.json")) return null;
    const lock = jsonOf(await place.read("composer.lock"));
    const manifest = jsonOf(await place.read("composer.json"));
    const isEmpty = isLocked
      ? lock !== null && !isFilled({ ...lists(lock["packages"]), ...lists(lock["packages-dev"]) })
      : !isFilled(manifest?.["require-dev"]) && !packagesOf(manifest?.["require"]);
    if (isEmpty) return null;
    return {
      because: isLocked ? "composer.lock" : "composer.json",
      commands: ["composer install --no-interaction --no-progress"],
      tools: ["composer"],
    };
  },
};

/** PHP itself and its extensions come with the image. */
const packagesOf = (value: unknown): boolean =>
  Object.keys(recordOf(value) ?? {}).some((name) => name.includes("/"));

const lists = (value: unknown): object => (Array.isArray(value) ? value : {});

const BATS_FILE = /^(tests?|spec)\/.*\.bats$/;

export const BATS: Ecosystem = {
  name: "Bats",
  decides: /^\.bats-version$/,
  markers: [],
  marks: BATS_FILE,
  async probe(place) {
    const because = place.paths.find((path) => BATS_FILE.test(path));
    const isOwn = place.has("bin/bats") || /"bats"\s*:/.test((await place.read("package.json")) ?? "");
    if (because === undefined || isOwn) return null;
    return {
      because,
      commands: ['command -v bats >/dev/null || npm install --global --prefix "$HOME/.local" bats'],
      tools: ["npm"],
      path: [`${SANDBOX_HOME}/.local/bin`],
    };
  },
};
