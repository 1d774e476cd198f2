/**
 * Public repositories that Antiphon is tried with: where their sources are had again, and a fault to seed. A source is a
 * release in a registry, because registries keep releases for good. Nothing of them is part of this project.
 *
 * `fault` replaces a text, which occurs at least once, in a file; the repository's own check has to notice it.
 */
export type Registry = "npm" | "pypi" | "go" | "crates" | "debian" | "git";

export interface PublicRepository {
  readonly name: string;
  readonly language: string;
  readonly registry: Registry;
  /** As the registry's client names it; of a git repository, owner, name and commit. */
  readonly release: string;
  readonly fault: { readonly path: string; readonly from: string; readonly to: string };
  /** An `antiphon.yaml` that its owner would write. Absent: `antiphon init` finds all by itself. */
  readonly project?: string;
}

const of =
  (registry: Registry, language: string) =>
  (name: string, release: string, path: string, from: string, to: string): PublicRepository => ({
    ...{ name, language, registry, release, fault: { path, from, to } },
  });

const npm = of("npm", "JavaScript");
const pypi = of("pypi", "Python");
const go = of("go", "Go");
const crates = of("crates", "Rust");
/** For projects whose releases in registries hold no tests: `owner/name@commit`. */
const git = (language: string) => of("git", language);
const debian = (language: string) => of("debian", language);
/**
 * Where the registry of PHP packages is out of reach: the tests need no package but PHPUnit, which is in the image, and Composer
 * makes the file that loads the classes.
 */
const withoutPackagist = (...release: Parameters<ReturnType<typeof git>>): PublicRepository => ({
  ...git("PHP")(...release),
  project: "setup: composer dump-autoload --dev --no-interaction\nchecks: phpunit\n",
});

export const CATALOGUE: readonly PublicRepository[] = [
  npm("minimist", "minimist@1.2.8", "index.js", "/^0x[0-9a-f]+$/i", "/^0y[0-9a-f]+$/i"),
  npm("through", "through@2.3.8", "index.js", "stream.paused = false", "stream.paused = true"),
  npm("concat-map", "concat-map@0.0.2", "index.js", "res.push(x)", "res.push(x, x)"),
  npm("qs", "qs@6.13.0", "lib/formats.js", "'RFC3986'", "'RFC1738'"),
  npm("inherits", "inherits@2.0.4", "inherits_browser.js", "superCtor.prototype", "ctor.prototype"),
  pypi("six", "six==1.16.0", "six.py", "return sys.modules[name]", "return sys"),
  pypi("itsdangerous", "itsdangerous==2.2.0", "src/itsdangerous/encoding.py", 'rstrip(b"=")', 'rstrip(b"-")'),
  pypi("click", "click==8.1.7", "src/click/utils.py", 'return ""', 'return "x"'),
  pypi("more-itertools", "more-itertools==10.5.0", "more_itertools/more.py", "return default", "return None"),
  pypi(
    "toolz",
    "toolz==1.0.0",
    "toolz/itertoolz.py",
    "len(seq) == len(set(seq))",
    "len(seq) != len(set(seq))",
  ),
  pypi("attrs", "attrs==24.2.0", "src/attr/converters.py", "return val", "return None"),
  pypi("markupsafe", "MarkupSafe==2.1.5", "src/markupsafe/_native.py", "&amp;", "&am;"),
  pypi("packaging", "packaging==24.1", "src/packaging/version.py", "return self._version.epoch", "return 7"),
  pypi("idna", "idna==3.8", "idna/core.py", "return True", "return False"),
  go("uuid", "github.com/google/uuid@v1.6.0", "uuid.go", "case 36:", "case 35:"),
  go("errors", "github.com/pkg/errors@v0.9.1", "errors.go", 'return w.msg + ": "', 'return w.msg + "; "'),
  go("cobra", "github.com/spf13/cobra@v1.8.1", "args.go", "if len(args) > 0 {", "if len(args) > 1 {"),
  go("mux", "github.com/gorilla/mux@v1.8.1", "mux.go", "return false", "return true"),
  go("toml", "github.com/BurntSushi/toml@v1.4.0", "lex.go", "return lexTop", "return nil"),
  go("pflag", "github.com/spf13/pflag@v1.0.5", "bool.go", 'return "bool"', 'return "boolean"'),
  go("color", "github.com/fatih/color@v1.17.0", "color.go", "%s[%sm", "%s{%sm"),
  go(
    "xxhash",
    "github.com/cespare/xxhash/v2@v2.3.0",
    "xxhash.go",
    "11400714785074694791",
    "11400714785074694793",
  ),
  go(
    "shlex",
    "github.com/google/shlex@v0.0.0-20191202100458-e7afc7fbc510",
    "shlex.go",
    "return token.value, nil",
    'return "", nil',
  ),
  go("match", "github.com/tidwall/match@v1.1.1", "match.go", "-1) == rMatch", "-1) != rMatch"),
  go("wordwrap", "github.com/mitchellh/go-wordwrap@v1.0.1", "wordwrap.go", "char == '\\n'", "char == '\\t'"),
  go("text", "github.com/kr/text@v0.2.0", "wrap.go", "bytes.Join(lines, nl)", "bytes.Join(lines, nil)"),
  crates("heck", "heck@0.5.0", "src/kebab.rs", 'write!(f, "-")', 'write!(f, "_")'),
  crates("humantime", "humantime@2.1.0", "src/duration.rs", "n.mul(3600)?", "n.mul(360)?"),
  crates("strsim", "strsim@0.11.1", "src/lib.rs", "if sim > 0.7 {", "if sim > 1.7 {"),
  crates("itoa", "itoa@1.0.11", "src/lib.rs", "b'-'", "b'+'"),
  crates("fnv", "fnv@1.0.7", "lib.rs", "0x100000001b3", "0x100000001b5"),
  crates("hex", "hex@0.4.3", "src/lib.rs", "0123456789abcdef", "0123456789abcdee"),
  crates("smallvec", "smallvec@1.13.2", "src/lib.rs", "self.len() == 0", "self.len() == 1"),
  crates("semver", "semver@1.0.23", "src/eval.rs", "return false", "return true"),
  crates("either", "either@1.13.0", "src/lib.rs", "Left(_) => true", "Left(_) => false"),
  crates("base64", "base64@0.22.1", "src/alphabet.rs", '0123456789+/",', '0123456798+/",'),
  debian("C")("cjson", "cjson", "cJSON.c", "return true;", "return false;"),
  debian("C")("zlib", "zlib", "adler32.c", "65521U", "65523U"),
  debian("Perl")(
    "try-tiny",
    "libtry-tiny-perl",
    "lib/Try/Tiny.pm",
    "return $wantarray ? @ret : $ret[0];",
    "return;",
  ),
  debian("Perl")("json-pp", "libjson-perl", "lib/JSON.pm", "return $json->decode( $_[0] );", "return;"),
  debian("Perl")("path-tiny", "libpath-tiny-perl", "lib/Path/Tiny.pm", "$_[0] eq '/'", "$_[0] eq 'x'"),
  debian("Ruby")("rack", "ruby-rack", "lib/rack/utils.rb", "200", "201"),
  debian("Ruby")("rainbow", "ruby-rainbow", "lib/rainbow/presenter.rb", "bright: 1", "bright: 2"),
  debian("PHP")("psr-log", "php-psr-log", "src/LogLevel.php", "'emergency'", "'emergenci'"),
  debian("PHP")("parsedown", "php-parsedown", "Parsedown.php", "'strong'", "'string'"),
  debian("Shell")("bats", "bats", "libexec/bats-core/bats-exec-test", "exit 1", "exit 0"),
  debian("Java")(
    "commons-cli",
    "libcommons-cli-java",
    "src/main/java/org/apache/commons/cli/Util.java",
    "return str.substring(2",
    "return str.substring(1",
  ),
  debian("JavaScript")("semver", "node-semver", "functions/gt.js", "> 0", "< 0"),
  debian("JavaScript")("ms", "node-ms", "src/index.ts", "return n * y", "return n * w"),
  git("C")(
    "argparse",
    "cofyc/argparse@5559200a91a334e15391e8285571145f6b6cc002",
    "argparse.c",
    "return strncmp(str, prefix, len) ? NULL",
    "return strncmp(str, prefix, len) ? str",
  ),
  git("C")(
    "jsmn",
    "zserge/jsmn@25647e692c7906b96ffd2b05ca54c097948e879c",
    "jsmn.h",
    "(c == '{' ? JSMN_OBJECT : JSMN_ARRAY)",
    "(c == '{' ? JSMN_ARRAY : JSMN_OBJECT)",
  ),
  git("C")(
    "buffer",
    "clibs/buffer@736ba3cc161d6ab2ac64303ed3c14ccce42e12a5",
    "buffer.c",
    "return self->len;",
    "return self->len + 1;",
  ),
  git("C")(
    "zlib-git",
    "madler/zlib@d201f04c72b0881220f5ba75ca19fd0e19fa848b",
    "uncompr.c",
    "err == Z_STREAM_END ? Z_OK",
    "err == Z_STREAM_END ? Z_BUF_ERROR",
  ),
  git("Java")(
    "commons-cli-git",
    "apache/commons-cli@0a68ae0e826bb08eb59bda9bae7ec5d84008b62a",
    "src/main/java/org/apache/commons/cli/Util.java",
    "return str == null || str.isEmpty()",
    "return str == null",
  ),
  git("Java")(
    "commons-csv",
    "apache/commons-csv@d9b9f062b84ea02a30a7817789a2bb71a21c51a9",
    "src/main/java/org/apache/commons/csv/Lexer.java",
    "return reader.getLineNumber()",
    "return 0",
  ),
  git("Java")(
    "jsemver",
    "zafarkhaja/jsemver@75b5abe97ca55c4569ea84e09330db22a0df2db7",
    "src/main/java/com/github/zafarkhaja/semver/Version.java",
    "return setVersionCore(major, 0, 0)",
    "return setVersionCore(major, 1, 0)",
  ),
  git("Java")(
    "jopt-simple",
    "jopt-simple/jopt-simple@bcac08c12a5fcde88d22b17e4bdb966d3b6383ac",
    "net.sf.joptsimple/src/main/java/joptsimple/internal/Strings.java",
    "return begin + target + end",
    "return begin + target",
  ),
  git("Java")(
    "commons-cli-1.6",
    "apache/commons-cli@0d29a55998aa52be8832497527e266630f97c371",
    "src/main/java/org/apache/commons/cli/Util.java",
    "return str.substring(2)",
    "return str.substring(1)",
  ),
  git("Java")(
    "commons-text-1.10",
    "apache/commons-text@9397c1cdce7e78ffb3f53267d47c857d54c45d1c",
    "src/main/java/org/apache/commons/text/CaseUtils.java",
    "str = str.toLowerCase()",
    "str = str.toUpperCase()",
  ),
  git("Java")(
    "minimal-json",
    "ralfstx/minimal-json@c091e6985620da04d5abcd902aafb6c9583c48ea",
    "com.eclipsesource.json/src/main/java/com/eclipsesource/json/JsonString.java",
    "return true",
    "return false",
  ),
  git("Java")(
    "JSON-java",
    "stleary/JSON-java@1795e8cf26229229e7ab6fe4aeab0f51ffecda5a",
    "src/main/java/org/json/CookieList.java",
    "x.next('=')",
    "x.next(';')",
  ),
  git("JavaScript")(
    "mri",
    "lukeed/mri@62b9ce4f25e1f7b476c99858c20882d86c010085",
    "src/index.js",
    "'' : String(val)",
    "'x' : String(val)",
  ),
  git("TypeScript")(
    "defu",
    "unjs/defu@80c0146afb11ebd86183a579ec469f3abd976695",
    "src/defu.ts",
    "Array.isArray(value) && Array.isArray(object[key])",
    "Array.isArray(value) && !Array.isArray(object[key])",
  ),
  git("TypeScript")(
    "cookie",
    "jshttp/cookie@51c485421a95ee796de6d8dab53a5ade0a20db8a",
    "src/index.ts",
    'str += "; Path="',
    'str += "; Pith="',
  ),
  git("TypeScript")(
    "ms",
    "vercel/ms@4b85938394832e62e6e25cca5c151bbc97fe26e2",
    "src/index.ts",
    "return n * w",
    "return n * d",
  ),
  git("JavaScript")(
    "p-limit",
    "sindresorhus/p-limit@df476048d023ff868cd45b35ee47f5fb0ca2b25a",
    "index.js",
    "activeCount < concurrency",
    "activeCount <= concurrency",
  ),
  git("JavaScript")(
    "morgan",
    "expressjs/morgan@203c75852adadcc5e3a9ba23b0ef07a8e81c5af7",
    "index.js",
    "return req.originalUrl || req.url",
    "return req.url",
  ),
  git("Ruby")(
    "colored",
    "defunkt/colored@829bde0f8832406be1cacc5c99c49d976e05ccfc",
    "lib/colored.rb",
    "'red'     => 31",
    "'red'     => 37",
  ),
  git("Ruby")(
    "bacon",
    "chneukirchen/bacon@5e7115d577ebc98f7dc45fe628964751939f294e",
    "lib/bacon.rb",
    "(to.to_f - self).abs <= delta.to_f",
    "(to.to_f - self).abs > delta.to_f",
  ),
  git("Ruby")(
    "rack-git",
    "rack/rack@8bf4eb078498edc9105fb04add80d89c5340e60b",
    "lib/rack/utils.rb",
    "200",
    "201",
  ),
  git("Shell")(
    "bats-0.4",
    "sstephenson/bats@03608115df2071fff4eaaff1605768c275e5f81f",
    "libexec/bats-exec-test",
    "bats: $BATS_TEST_FILENAME does not exist",
    "bats: $BATS_TEST_FILENAME exists",
  ),
  withoutPackagist(
    "parsedown-git",
    "erusev/parsedown@4e433a8d57078645b55d21fd12c887d3ba6ca01e",
    "Parsedown.php",
    "'strong'",
    "'string'",
  ),
  withoutPackagist(
    "iter",
    "nikic/iter@4e1e8b5a4c3e896ca0a0468143e36c98223284a1",
    "src/iter.php",
    "yield $key => $function($value);",
    "yield $key => $value;",
  ),
  withoutPackagist(
    "dot-access-data",
    "dflydev/dflydev-dot-access-data@a23a2bf4f31d3518f3ecb38660c95715dfead60f",
    "src/Data.php",
    "return \\explode('.', $path);",
    "return \\explode('/', $path);",
  ),
  withoutPackagist(
    "lexer",
    "doctrine/lexer@c268e882d4dbdd85e36e4ad69e02dc284f89d229",
    "lib/Doctrine/Common/Lexer/AbstractLexer.php",
    "return substr($this->input, 0, $position);",
    "return substr($this->input, 1, $position);",
  ),
  git("Python")(
    "requests",
    "psf/requests@1f6589ec3a1ee910f9a65cc3ceac60b26677bc0e",
    "src/requests/structures.py",
    "self._store[key.lower()] = (key, value)",
    "self._store[key] = (key, value)",
  ),
  git("C")(
    "parson",
    "kgabis/parson@ba29f4eda9ea7703a9f6a9cf2b0532a2605723c3",
    "parson.c",
    "case '\\t': APPEND_STRING(\"\\\\t\")",
    "case '\\t': APPEND_STRING(\"\\\\n\")",
  ),
  git("Shell")(
    "bats-core",
    "bats-core/bats-core@d22e41faad59f5fd942a88c992b4913a27a460c4",
    "libexec/bats-core/bats-exec-test",
    "'bats: %s does not exist\\n'",
    "'bats: %s exists\\n'",
  ),
  git("Shell")(
    "shellspec",
    "shellspec/shellspec@cb649abb6913b52ef2be8cddd364b7704916ee65",
    "lib/semver.sh",
    "*.*.*.*) return 1",
    "*.*.*.*) return 0",
  ),
  git("Shell")(
    "shunit2",
    "kward/shunit2@f39734a3dd56495c2fee1d4b0925bb31082e36d2",
    "shunit2",
    '[ "${shunit_expected_}" = "${shunit_actual_}" ]',
    '[ "${shunit_expected_}" != "${shunit_actual_}" ]',
  ),
];
