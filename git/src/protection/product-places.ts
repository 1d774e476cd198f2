/**
 * Protected places of products that a tool takes instead of the text they were made from: compiled modules, caches, records
 * of what is installed. Pure data. Whoever reads the change sees the text, and the check runs the product.
 */
import type { ProtectedPlace } from "./protected-place.ts";

const PYTHON =
  /^(python[0-9.]*|pypy[0-9.]*|py\.?test|tox|nox|unittest|uv|poetry|pipenv|hatch|pdm|coverage|nose2?)$/;
const NATIVE = /^(g?cc|clang|[gc]\+\+|clang\+\+|g?make|cmake|ctest|ninja|meson)$/;

export const PRODUCT_PLACES: readonly ProtectedPlace[] = [
  {
    what: "a compiled module, which is loaded instead of its text",
    globs: {
      "**/__pycache__/**": ["tests/__pycache__/a.pyc", "tests/pycache/a.py"],
      "**/*.{pyc,pyo,pyd}": ["src/a.pyc", "src/a.pyx"],
      "**/*.pmc": ["t/lib/Helper.pmc", "lib/Helper.pm"],
      "**/*.{elc,eln}": ["test/a.elc", "test/a.el"],
    },
    when: "always",
  },
  {
    what: "a record of an installed package, which may name plugins of a test runner",
    globs: {
      "**/*.{egg-info,dist-info}{,/**}": ["a.egg-info/entry_points.txt", "src/egg-info.md"],
      "**/{EGG-INFO,.eggs}/**": [".eggs/a.egg/a.py", "src/eggs/a.py"],
    },
    when: "always",
  },
  {
    what: "an environment of installed packages",
    globs: {
      "**/{.venv,.tox,.nox,__pypackages__}/**": [".venv/bin/python", "src/venv.py"],
      "**/pyvenv.cfg": ["venv/pyvenv.cfg", "src/pyvenv.py"],
      "**/{.pdm-python,.pdm.toml}": [".pdm-python", "src/pdm.toml"],
      "**/.pnp.{js,cjs,data.json,loader.mjs}": [".pnp.cjs", "src/pnp.cjs"],
    },
    when: "always",
  },
  {
    what: "a cache that a check trusts instead of the sources",
    globs: {
      "**/{.mypy_cache,.ruff_cache,.pytest_cache,.turbo,.wireit,.gradle,.dart_tool}/**": [
        ".mypy_cache/3.12/a.meta.json",
        "src/cache/a.json",
      ],
      "**/.nx/cache/**": [".nx/cache/a", "src/nx/cache.ts"],
      "**/*.tsbuildinfo": ["app/tsconfig.tsbuildinfo", "app/build.info"],
      "**/.{eslint,stylelint,prettier}cache": [".eslintcache", "src/cache.js"],
      "**/.{php-cs-fixer,php_cs}.cache": [".php-cs-fixer.cache", "src/Cache.php"],
    },
    when: "always",
  },
  {
    what: "a native module, which Python loads before the text of its name",
    globs: { "**/*.so": ["tests/a.abi3.so", "src/a.c"] },
    when: PYTHON,
    ambiguous: true,
  },
  {
    what: "what a compiler takes instead of a source",
    globs: {
      "**/*.{o,lo,gch,pch}": ["build/a.o", "src/a.c"],
      "**/{CMakeCache.txt,.ninja_log,.ninja_deps,build.ninja}": ["build/CMakeCache.txt", "docs/cache.txt"],
      "**/{CMakeFiles,meson-private}/**": ["build/CMakeFiles/a", "src/files/a"],
    },
    when: NATIVE,
    ambiguous: true,
  },
  {
    what: "what cargo has built",
    globs: { "**/target{,/*}/{debug,release}/**": ["target/debug/deps/a", "src/target/a.rs"] },
    when: /^(cargo|cross)$/,
    ambiguous: true,
  },
  {
    what: "what a JVM build has made",
    globs: {
      "**/target/{classes,test-classes,maven-status,streams}/**": [
        "target/classes/A.class",
        "src/target/A.java",
      ],
    },
    when: /^(mvn|mvnw|mvnd|sbt|lein|clojure|clj)$/,
    ambiguous: true,
  },
  {
    what: "what the build has made",
    globs: {
      "_build/**": ["_build/test/lib/a/ebin/A.beam", "lib/build.ex"],
      "{dist-newstyle,.stack-work,.build,.zig-cache,zig-cache}/**": [".build/debug/a", "src/build/a.hs"],
    },
    when: /^(mix|elixir|rebar3|dune|opam|esy|cabal|stack|swift|zig)$/,
    ambiguous: true,
  },
  {
    what: "installed packages",
    globs: { "deps/**": ["deps/jason/mix.exs", "lib/deps.ex"] },
    when: /^mix$/,
    ambiguous: true,
  },
];
