/**
 * Public repositories that Antiphon is tried with: where their sources are had again, and a fault to seed. A source is a
 * release in a registry, because registries keep releases for good. Nothing of them is part of this project.
 *
 * `fault` replaces a text, which occurs at least once, in a file; the repository's own check has to notice it.
 */
export type Registry = "npm" | "pypi" | "go" | "crates" | "debian";

export interface PublicRepository {
  readonly name: string;
  readonly language: string;
  readonly registry: Registry;
  /** As the registry's client names it. */
  readonly release: string;
  readonly fault: { readonly path: string; readonly from: string; readonly to: string };
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
const debian = (language: string) => of("debian", language);

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
];
