/**
 * Finds empty places where a new file would be loaded instead of a module that the check relies on. Pure.
 *
 * A module of the image that a test names is protected only if it belongs to Python itself, because a test may name a
 * module that the change is asked to write.
 */
import { nodeModule } from "../reach/modules.ts";
import { CheckTree, parentOf, type TreeListing } from "../reach/check-tree.ts";
import type { Reached } from "../reach/reached-files.ts";
import { literalGlob } from "../patch/glob.ts";
import type { Guard } from "./guard.ts";
import { perlShadows } from "./perl-shadows.ts";

const MAX_DIRECTORIES = 200;
const MAX_ROOTS = 20;

/** Python modules that come from the interpreter, and those of the usual test runners. */
const PYTHON_OWN: readonly string[] =
  "abc aifc argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http imaplib imghdr imp importlib inspect io ipaddress itertools json keyword linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty types typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo tomllib pytest py pluggy iniconfig exceptiongroup tomli _pytest hypothesis nose mock coverage".split(
    " ",
  );

export function shadows(listing: TreeListing, reached: Reached, tests: readonly string[]): Guard[] {
  const tree = new CheckTree(listing);
  return [
    ...nodeShadows(tree, reached),
    ...pythonShadows(tree, reached, tests),
    ...crateScripts(tree, reached),
    ...perlShadows(tree, reached),
  ];
}

/** Cargo runs a `build.rs` that stands beside a manifest; below `src/` it is a module. */
function crateScripts(tree: CheckTree, { programs }: Reached): Guard[] {
  if (!programs.has("cargo")) return [];
  return tree.paths
    .filter((path) => path.endsWith("/Cargo.toml"))
    .map((path) => literalGlob(`${parentOf(path)}/build.rs`))
    .map((glob): Guard => ({
      rule: "protected.place",
      glob,
      why: "cargo runs it before it builds the crate",
    }));
}

/** `./helper` resolves to `helper/index.js` only while there is no `helper.js`. */
function nodeShadows(tree: CheckTree, reached: Reached): Guard[] {
  return reached.imports.flatMap((found) => {
    if (found.language !== "node" || found.to === null || !reached.files.has(found.to)) return [];
    const { before } = nodeModule(tree, parentOf(found.from), found.name);
    const why = `it would be loaded instead of ${found.to}, by ${found.from}`;
    return before.map((path): Guard => ({
      rule: "protected.shadow",
      glob: literalGlob(path),
      why,
      loaded: true,
    }));
  });
}

function pythonShadows(tree: CheckTree, reached: Reached, tests: readonly string[]): Guard[] {
  if (
    ![...reached.programs].some((program) =>
      /^(python|pypy|py\.?test|tox|nox|unittest|coverage)/.test(program),
    )
  )
    return [];
  const guards: Guard[] = [];
  const harness = new Set([...tests, ...reached.files.keys()].filter((path) => path.endsWith(".py")));
  const directories = new Set([...harness].map(parentOf));
  const scripts = new Set(
    [...harness]
      .filter((path) => !/(^|\/)(conftest|__init__|test_[^/]*|[^/]*_test)\.py$/.test(path))
      .map(parentOf),
  );
  for (const directory of [...directories].slice(0, MAX_DIRECTORIES)) {
    const init = under(directory, "__init__.py");
    if (directory === "" || tree.has(init)) continue;
    const why = "it would run before the tests of its directory";
    guards.push({ rule: "protected.shadow", glob: literalGlob(init), why, unless: "empty" });
  }
  const roots = tree.has("src/__init__.py") ? [""] : ["", "src", ...importRoots(tree, reached)];
  const searched = [...directories].slice(0, MAX_DIRECTORIES).filter((directory) => {
    // pytest searches the directory above a package. unittest and scripts search their own.
    if (directory === "" || !tree.has(under(directory, "__init__.py"))) return true;
    return reached.programs.has("unittest") || scripts.has(directory);
  });
  for (const directory of new Set([...roots, ...searched])) {
    for (const name of PYTHON_OWN) {
      for (const form of [`${name}.py`, `${name}/__init__.py`]) {
        const path = under(directory, form);
        if (tree.has(path)) continue;
        const why = `it would be loaded instead of the module ${name}`;
        guards.push({ rule: "protected.shadow", glob: literalGlob(path), why, loaded: true });
      }
    }
  }
  for (const path of harness) {
    const package_ = path.endsWith("/__init__.py") ? null : `${path.slice(0, -3)}/__init__.py`;
    if (package_ === null || tree.has(package_)) continue;
    const why = `it would be loaded instead of ${path}`;
    guards.push({ rule: "protected.shadow", glob: literalGlob(package_), why, loaded: true });
  }
  return guards;
}

/** Directories that are no packages, and from which tests import: `pkg.a` was found as `lib/pkg/a.py`. */
function importRoots(tree: CheckTree, { imports }: Reached): string[] {
  const roots = new Set<string>();
  for (const { language, name, to } of imports) {
    if (language !== "python" || to === null || roots.size >= MAX_ROOTS) continue;
    const module = to.replace(/(\/__(init|main)__)?\.py$/, "");
    const path = `/${name.replaceAll(".", "/")}`;
    const root = module.endsWith(path) ? module.slice(0, -path.length) : "";
    if (root !== "" && !tree.has(`${root}/__init__.py`)) roots.add(root);
  }
  return [...roots];
}

function under(directory: string, name: string): string {
  return directory === "" ? name : `${directory}/${name}`;
}
