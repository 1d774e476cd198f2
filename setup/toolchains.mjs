/**
 * The toolchains that `antiphon images build --with` adds to the standard sandbox image: Debian packages, the links that
 * Debian's alternatives would have made, and for Go a current compiler, because the stable release's is too old for many
 * modules. The names are those of TOOLCHAINS in the contracts.
 */

/**
 * @typedef {object} Toolchain
 * @property {readonly string[]} packages
 * @property {Readonly<Record<string, string>>} [links] link in the image -> its target; a `*` stands for what is there
 * @property {readonly string[]} programs what the image must run afterwards, each with an argument that prints its version
 */

/** @type {Readonly<Record<string, Toolchain>>} */
export const TOOLCHAINS = {
  go: { packages: [], programs: ["go version"] },
  rust: {
    packages: ["rustc-web", "cargo-web"],
    programs: ["cargo --version", "rustc --version"],
  },
  java: {
    packages: ["openjdk-17-jdk-headless", "maven"],
    links: {
      "usr/bin/mvn": "../share/maven/bin/mvn",
      "usr/bin/java": "../lib/jvm/java-17-openjdk-*/bin/java",
      "usr/bin/javac": "../lib/jvm/java-17-openjdk-*/bin/javac",
      "usr/bin/jar": "../lib/jvm/java-17-openjdk-*/bin/jar",
      "usr/lib/jvm/default-java": "java-17-openjdk-*",
    },
    programs: ["java -version", "javac -version", "mvn --version"],
  },
  ruby: {
    packages: [
      "ruby",
      "ruby-dev",
      "ruby-bundler",
      "bundler",
      "rake",
      "ruby-minitest",
      "ruby-test-unit",
      "ruby-rspec",
      "g++",
    ],
    programs: ["ruby --version", "bundle --version", "rake --version", "rspec --version"],
  },
  php: {
    packages: ["php-cli", "php-xml", "php-mbstring", "php-curl", "php-zip", "composer", "phpunit"],
    links: { "usr/bin/php": "php8.*" },
    programs: ["php --version", "composer --version", "phpunit --version"],
  },
  postgres: {
    packages: ["postgresql", "postgresql-client"],
    links: Object.fromEntries(
      ["initdb", "postgres", "pg_ctl", "pg_isready", "psql", "createdb"].map((name) => [
        `usr/bin/${name}`,
        `../lib/postgresql/*/bin/${name}`,
      ]),
    ),
    programs: ["initdb --version", "postgres --version", "pg_isready --version", "psql --version"],
  },
  redis: { packages: ["redis-server"], programs: ["redis-server --version", "redis-cli --version"] },
  cpp: {
    packages: ["g++", "cmake", "ninja-build", "pkg-config", "autoconf", "automake", "libtool"],
    links: { "usr/bin/c++": "g++" },
    programs: ["g++ --version", "cmake --version", "ninja --version"],
  },
};
