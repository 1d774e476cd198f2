/** Ruby and PHP: Bundler installs into the home directory, Composer into `vendor/`, which repositories ignore. */
import { SANDBOX_HOME } from "@antiphon/contracts";
import { isFilled, jsonOf, type Ecosystem } from "./ecosystem.ts";

export const RUBY: Ecosystem = {
  name: "Ruby",
  decides: /^(Gemfile(\.lock)?|gems\.(rb|locked)|\.ruby-version|.+\.gemspec)$/,
  markers: ["Gemfile.lock"],
  probe(place) {
    if (!place.has("Gemfile") || !place.has("Gemfile.lock")) return Promise.resolve(null);
    return Promise.resolve({
      because: "Gemfile.lock",
      commands: ["BUNDLE_FROZEN=true bundle install"],
      tools: ["bundle"],
      variables: { BUNDLE_PATH: `${SANDBOX_HOME}/.bundle/gems` },
    });
  },
};

export const PHP: Ecosystem = {
  name: "PHP",
  decides: /^composer\.(json|lock)$/,
  markers: ["composer.lock"],
  async probe(place) {
    const lock = jsonOf(await place.read("composer.lock"));
    if (!place.has("composer.lock")) return null;
    const isEmpty =
      lock !== null && !isFilled({ ...lists(lock["packages"]), ...lists(lock["packages-dev"]) });
    if (isEmpty) return null;
    return {
      because: "composer.lock",
      commands: ["composer install --no-interaction --no-progress"],
      tools: ["composer"],
    };
  },
};

const lists = (value: unknown): object => (Array.isArray(value) ? value : {});
