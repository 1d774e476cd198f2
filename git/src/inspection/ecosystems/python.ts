/**
 * Python: everything goes into one virtual environment in the home directory, so that nothing of it lies in the work tree.
 * It sees the packages of the image too. uv, poetry and pipenv come from the index where the image has none.
 */
import { SANDBOX_HOME } from "@antiphon/contracts";
import { versionVariables } from "./python-version.ts";
import { recordOf, tomlOf, type Ecosystem, type Finding, type Place } from "./ecosystem.ts";

const VENV = `${SANDBOX_HOME}/.venv`;
const CREATE = 'python3 -m venv --system-site-packages "$HOME/.venv"';
/** In an environment of its own, because its dependencies must not meet those of the project. */
const OWN_POETRY =
  'command -v poetry >/dev/null || { python3 -m venv "$HOME/.poetry" && "$HOME/.poetry/bin/pip" install poetry; }';

/** Many projects that are tested with pytest do not say so in a file; one that does gets the version it names. */
const PYTEST = "python3 -c 'import pytest' 2>/dev/null || pip install pytest";

/** Requirements of the project itself. */
const OWN_REQUIREMENTS = /^(requirements|requirements\/(base|main))\.txt$/;
/** Requirements of its tests, the fitting ones first: those of developers pin tools that may contradict the project. */
const TEST_REQUIREMENTS = [
  /^(requirements[-_.](tests?|testing|ci)|tests?[-_]requirements|requirements\/(tests?|testing|ci)|(tests?|testing)\/requirements)\.txt$/,
  /^(requirements[-_.](dev|develop|development)|dev[-_]requirements|requirements\/dev)\.txt$/,
];
/** Extras that people give the dependencies of their tests. */
const TEST_EXTRAS = ["test", "tests", "testing", "dev"];

export const PYTHON: Ecosystem = {
  name: "Python",
  decides:
    /^(uv\.lock|poetry\.lock|poetry\.toml|uv\.toml|Pipfile(\.lock)?|[A-Za-z0-9_.-]*(requirements|constraints)[A-Za-z0-9_.-]*\.(txt|in)|pyproject\.toml|setup\.(py|cfg)|\.python-version)$/,
  markers: ["uv.lock", "poetry.lock", "Pipfile.lock", "requirements.txt", "pyproject.toml", "setup.py"],
  async probe(place) {
    const found = await manager(place);
    if (found === null) return null;
    return {
      because: found.because,
      commands: [CREATE, ...found.commands],
      tools: ["python3"],
      path: [`${VENV}/bin`, `${SANDBOX_HOME}/.poetry/bin`],
      variables: {
        ...{ VIRTUAL_ENV: VENV, UV_PROJECT_ENVIRONMENT: VENV, PIPENV_VERBOSITY: "-1" },
        // A test run that is killed when its time is over has said which test it was at.
        PYTHONUNBUFFERED: "1",
        ...(await versionVariables(place)),
      },
    };
  },
};

async function manager(place: Place): Promise<Pick<Finding, "because" | "commands"> | null> {
  if (place.has("uv.lock"))
    return by("uv.lock", "command -v uv >/dev/null || pip install uv", "uv sync --frozen");
  if (place.has("poetry.lock")) return by("poetry.lock", OWN_POETRY, "poetry install --no-interaction");
  if (place.has("Pipfile.lock"))
    return by("Pipfile.lock", "command -v pipenv >/dev/null || pip install pipenv", "pipenv sync --dev");
  const wanted = [await project(place), await requirements(place)].flatMap((one) => one ?? []);
  const [first] = wanted;
  if (first === undefined) return null;
  const install = `pip install ${wanted.map(({ argument }) => argument).join(" ")}`;
  return by(first.because, ...(place.paths.some(isTest) ? [PYTEST] : []), install);
}

function isTest(name: string): boolean {
  return /(^|\/)(conftest|test_[^/]*|[^/]*_test)\.py$/.test(name);
}

function by(because: string, ...commands: string[]): Pick<Finding, "because" | "commands"> {
  return { because, commands };
}

interface Wanted {
  readonly because: string;
  readonly argument: string;
}

async function requirements(place: Place): Promise<Wanted | null> {
  const among = (form: RegExp): string[] => place.names.filter((name) => form.test(name));
  const forTests = TEST_REQUIREMENTS.map(among).find((files) => files.length > 0) ?? [];
  const files = [...among(OWN_REQUIREMENTS), ...forTests];
  const texts = await Promise.all(files.map((name) => place.read(name)));
  const filled = files.filter((_, i) => /^[ \t]*[^#\s]/m.test(texts[i] ?? ""));
  const [first] = filled;
  if (first === undefined) return null;
  return { because: first, argument: filled.map((name) => `-r ${name}`).join(" ") };
}

/** The project itself, with the dependencies of its tests. A pyproject.toml that only configures tools is none. */
async function project(place: Place): Promise<Wanted | null> {
  const document = tomlOf(await place.read("pyproject.toml"));
  const own = recordOf(document?.["project"]);
  const isProject = own !== null || recordOf(document?.["build-system"]) !== null;
  if (!isProject && !place.has("setup.py")) return null;
  const because = isProject ? "pyproject.toml" : "setup.py";
  const optional = recordOf(own?.["optional-dependencies"]) ?? {};
  const extras = TEST_EXTRAS.filter((extra) => Object.hasOwn(optional, extra));
  const groups = recordOf(document?.["dependency-groups"]) ?? {};
  const grouped = TEST_EXTRAS.flatMap((group) => requirementsOf(groups[group]));
  const self = extras.length === 0 ? "-e ." : `-e '.[${extras.join(",")}]'`;
  return { because, argument: [self, ...grouped.map((one) => `'${one}'`)].join(" ") };
}

/** The plain requirements of a dependency group; included groups are looked at by their own names. */
function requirementsOf(group: unknown): string[] {
  if (!Array.isArray(group)) return [];
  return group.filter((one): one is string => typeof one === "string" && !one.includes("'"));
}
