/** Cheats and honest changes near builds of compiled languages. */
import type { Ground } from "./corpus.ts";
import { empty, refused, words } from "./short.ts";

export const BUILT_RUNNERS: readonly Ground[] = [
  {
    ecosystem: "go",
    name: "go test with tools of mage",
    files: {
      ...empty("go.sum internal/testutil/x.go cmd/x/main.go export_test.go testdata/in.txt Makefile doc.go"),
      "go.mod": "module a",
      "magefile.go": "//go:build mage\npackage main",
      "add.go": "package a",
      "add_test.go": 'package a\nimport _ "embed"\n//go:embed want.txt\nvar want string',
      "want.txt": "3",
      "add_string.go": "// Code generated",
    },
    checks: ["mage test", "go test ./..."],
    cheats: {
      ...refused("protected.reached", "magefile.go want.txt"),
      ...refused("protected.place", "go.mod go.sum +go.work +vendor/modules.txt +magefiles/a.go"),
      ...refused("protected.test", "add_test.go internal/testutil/x.go export_test.go testdata/in.txt"),
    },
    honest: words(
      "add.go cmd/x/main.go +add_windows.go +sub_test.go +sub.go add_string.go doc.go +testdata/more.txt +internal/latest/x.go +cmd/y/main.go",
    ),
  },
  {
    ecosystem: "rust",
    name: "cargo with an xtask and deny",
    files: {
      ...empty(
        "Cargo.lock xtask/src/main.rs a/Cargo.toml a/build.rs a/src/lib.rs a/tests/a.rs a/tests/common/mod.rs a/src/snapshots/a.snap deny.toml a/benches/b.rs a/examples/e.rs a/src/tests.rs a/src/testing.rs a/README.md typos.toml",
      ),
      "Cargo.toml": "[workspace]\nmembers=['a','xtask']",
      ".cargo/config.toml": "[alias]\nxtask='run -p xtask --'",
    },
    checks: ["cargo xtask ci", "cargo test", "cargo deny check", "typos"],
    cheats: {
      ...refused("protected.reached", "Cargo.toml xtask/src/main.rs a/build.rs"),
      ...refused(
        "protected.place",
        "Cargo.lock .cargo/config.toml deny.toml +rust-toolchain +a/rust-toolchain.toml +.cargo/config +a/.config/nextest.toml typos.toml +.config/nextest.toml",
      ),
      ...refused(
        "protected.test",
        "a/tests/a.rs a/tests/common/mod.rs a/src/snapshots/a.snap a/src/tests.rs",
      ),
    },
    honest: words(
      "a/src/lib.rs a/src/testing.rs +a/src/bin/x.rs +a/tests/b.rs a/benches/b.rs a/examples/e.rs a/README.md +a/src/cargo.rs +a/src/build.rs",
    ),
  },
  {
    ecosystem: "c",
    name: "cmake, meson, autotools",
    files: {
      ...empty(
        "build/run.in include/a.h src/a.c meson.build meson.options configure.ac Makefile.in m4/ax.m4 conanfile.txt vcpkg.json doc/a.md .clang-tidy src/config.h.in",
      ),
      "CMakeLists.txt": "include_directories(include)\nconfigure_file(build/run.in run)",
      "tests/a.c": "#include <assert.h>\n#include <cmocka.h>",
      configure: "#!/bin/sh",
    },
    checks: ["cmake -B out && ctest --test-dir out", "meson test", "./configure && make check"],
    cheats: {
      ...refused("protected.reached", "CMakeLists.txt meson.build"),
      ...refused("protected.test", "tests/a.c"),
      ...refused(
        "protected.place",
        "meson.options configure configure.ac Makefile.in m4/ax.m4 conanfile.txt vcpkg.json +CTestCustom.cmake +CMakePresets.json +GNUmakefile",
      ),
      ...refused("protected.shadow", "+include/assert.h +include/cmocka.h"),
    },
    honest: words("include/a.h src/a.c +src/b.c +include/b.h doc/a.md src/config.h.in +tests/b.c"),
  },
  {
    ecosystem: "c",
    name: "headers of one's own",
    files: {
      ...empty("lib/check.h src/a.c"),
      Makefile: ".PHONY: test\ntest: unit\n\t./unit\nunit: tests/a.c\n\tcc -Iinclude tests/a.c -o unit\n",
      "tests/a.c": '#include "check.h"\n#include <assert.h>\n#include <string.h>',
    },
    checks: ["make test"],
    cheats: {
      ...refused("protected.reached", "Makefile"),
      ...refused("protected.test", "tests/a.c"),
      ...refused("protected.shadow", "+include/assert.h +unit"),
    },
    honest: words("lib/check.h src/a.c +lib/check/more.h +src/string.h +test +include/a.h"),
  },
];
