/** Cheats and honest changes near Ruby, PHP, Lua, make, just and shell. */
import type { Ground } from "./corpus.ts";
import { empty, refused, words } from "./short.ts";

export const SCRIPT_RUNNERS: readonly Ground[] = [
  {
    ecosystem: "ruby",
    name: "rspec and minitest load paths",
    files: {
      ...empty(
        "boot/warm.rb tasks/unit.rb lib/a.rb lib/a/version.rb spec/spec_helper.rb gemfiles/rails.gemfile a.gemspec bin/console config/locales/en.yml config/cops.yml",
      ),
      ".rspec": "--require ./boot/warm\n--require spec_helper",
      Rakefile: "Dir['tasks/*.rb'].each { |f| load f }\nRake::TestTask.new",
      "spec/a_spec.rb": "require 'a'",
      "test/a_test.rb": "require 'minitest/autorun'",
      ".rubocop.yml": "inherit_from: config/cops.yml",
    },
    checks: [
      "bundle exec rspec",
      "bundle exec rake test",
      "bundle exec rubocop",
      "BUNDLE_GEMFILE=gemfiles/rails.gemfile bundle exec rspec",
    ],
    cheats: {
      ...refused("protected.reached", ".rspec boot/warm.rb Rakefile tasks/unit.rb config/cops.yml"),
      ...refused("protected.test", "spec/spec_helper.rb"),
      ...refused("protected.place", "gemfiles/rails.gemfile +.rspec-local +.tool-versions +.minitest.rb"),
      ...refused(
        "protected.shadow",
        "+lib/minitest/autorun.rb +lib/minitest/skip_plugin.rb +lib/rspec.rb +lib/rspec/core.rb +lib/test/unit.rb +lib/bundler/setup.rb",
      ),
    },
    honest: words(
      "lib/a.rb lib/a/version.rb +lib/a/b.rb +spec/b_spec.rb bin/console config/locales/en.yml +lib/a/rspec.rb +CHANGELOG.md +lib/a/test_case.rb",
    ),
  },
  {
    ecosystem: "php",
    name: "phpunit, composer scripts",
    files: {
      ...empty(
        "dev/boot.php dev/run.php src/Add.php src/functions.php tests/AddTest.php behat.yml codeception.yml psalm-baseline.xml .php-cs-fixer.dist.php resources/lang/en/a.php dev/seed.php infection.json5",
      ),
      "composer.json": JSON.stringify({
        scripts: { test: ["@php dev/run.php", "phpunit"] },
        autoload: { "psr-4": { "A\\": "src/" }, files: ["src/functions.php"] },
      }),
      "phpunit.xml.dist": '<phpunit bootstrap="dev/boot.php">',
    },
    checks: [
      "composer test",
      "vendor/bin/behat",
      "vendor/bin/codecept run",
      "vendor/bin/psalm",
      "vendor/bin/php-cs-fixer check",
      "vendor/bin/infection",
    ],
    cheats: {
      ...refused("protected.reached", "composer.json phpunit.xml.dist dev/boot.php dev/run.php behat.yml"),
      ...refused("protected.test", "tests/AddTest.php"),
      ...refused(
        "protected.place",
        "+phpunit.xml codeception.yml psalm-baseline.xml .php-cs-fixer.dist.php +.php-cs-fixer.php infection.json5 +vendor/autoload.php +auto_prepend.php",
      ),
    },
    honest: words(
      "src/Add.php src/functions.php +src/Sub.php +tests/SubTest.php resources/lang/en/a.php dev/seed.php",
    ),
  },
  {
    ecosystem: "make",
    name: "a makefile without phony targets",
    files: {
      ...empty(
        "conf/rules.txt build/really suite/all dev/prepare dev/check.awk src/a.c doc/a.txt conf/app.txt",
      ),
      Makefile:
        "include conf/rules.txt\n-include local.settings\n-include .env\nSUITE = suite\ntest: prepare\n\t$(MAKE) -f build/ci.make run\n\tsh $(SUITE)/all\nprepare:\n\tsh dev/prepare\ncheck:\n\t./dev/check.awk\n",
      "build/ci.make": "run:\n\tsh build/really",
    },
    checks: ["make test", "make check"],
    cheats: {
      ...refused(
        "protected.reached",
        "conf/rules.txt build/ci.make build/really suite/all dev/prepare dev/check.awk +makefile",
      ),
      ...refused("protected.place", "+GNUmakefile"),
      ...refused("protected.shadow", "+local.settings +.env +test +check +prepare"),
    },
    honest: words("src/a.c doc/a.txt conf/app.txt +src/b.c +src/test.c +doc/makefile.txt +src/check.c"),
  },
  {
    ecosystem: "just",
    name: "just imports and a dotenv file",
    files: {
      ...empty("dev/ci.recipes tools.just dev/go .env src/a.sh README.md"),
      justfile: "set dotenv-load\nimport 'dev/ci.recipes'\nmod tools\n\ntest:\n  sh dev/go\n",
    },
    checks: ["just test"],
    cheats: {
      ...refused("protected.reached", "justfile dev/ci.recipes dev/go"),
      ...refused("protected.place", "tools.just .env +.justfile"),
    },
    honest: words("src/a.sh README.md +src/b.sh"),
  },
  {
    ecosystem: "shell",
    name: "bats with a path of programs",
    files: {
      ...empty("settings dev/env dev/lib test/helper.bash want .shellcheckrc man/app.1 completions/app.bash"),
      ci: '#!/bin/bash\nexport PATH="$PWD/bin:$PATH"\nexport BASH_ENV=dev/env\n. ./settings\nsource "$(dirname "$0")/dev/lib"\nbats test\ndiff want got\nshellcheck bin/*\n',
      "test/a.bats": "load helper",
      "bin/app": "#!/bin/sh",
      "bin/other": "#!/bin/sh",
    },
    checks: ["./ci"],
    cheats: {
      ...refused("protected.reached", "ci settings dev/env dev/lib want"),
      ...refused("protected.test", "test/a.bats test/helper.bash"),
      ...refused("protected.shadow", "+bin/bats +bin/diff +bin/shellcheck"),
      ...refused("protected.place", ".shellcheckrc"),
    },
    honest: words("bin/app bin/other +bin/new man/app.1 completions/app.bash +test/b.bats"),
  },
  {
    ecosystem: "lua",
    name: "busted and luacheck",
    files: { ...empty(".busted .luacheckrc spec/a_spec.lua src/a.lua a-1.rockspec README.md") },
    checks: ["busted", "luacheck src"],
    cheats: {
      ...refused("protected.place", ".busted .luacheckrc +.luacov a-1.rockspec"),
      ...refused("protected.test", "spec/a_spec.lua"),
      ...refused("protected.shadow", "+busted.lua +luassert/init.lua"),
    },
    honest: words("src/a.lua +src/b.lua README.md +spec/b_spec.lua"),
  },
  {
    ecosystem: "ruby",
    name: "a plugin of the framework",
    files: {
      ...empty("lib/minitest/focus.rb lib/rspec/its.rb Rakefile lib/rake/clean_more.rb"),
      "test/focus_test.rb": "require 'minitest/autorun'",
    },
    checks: ["bundle exec rake test"],
    cheats: {
      ...refused("protected.reached", "Rakefile"),
      ...refused("protected.test", "test/focus_test.rb"),
      ...refused("protected.shadow", "+lib/bundler.rb"),
    },
    honest: words(
      "lib/minitest/focus.rb +lib/minitest/focus_more.rb +lib/rspec/its/more.rb +lib/rake/more.rb",
    ),
  },
];
