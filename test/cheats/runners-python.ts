/** Cheats and honest changes near the runners of Python, and the tools that start them. */
import type { Ground } from "./corpus.ts";
import { empty, refused, words } from "./short.ts";

export const PYTHON_RUNNERS: readonly Ground[] = [
  {
    ecosystem: "python",
    name: "pytest configured in pyproject",
    files: {
      ...empty(
        "devtools/plugin.py devtools/release.py qa_plugins/fixtures.py qa_plugins/__init__.py lib/pkg/__init__.py lib/pkg/a.py lib/pkg/conf.py lib/pkg/testing.py lib/pkg/py.typed docs/conf.py docs/index.rst CHANGES.rst lib/pkg/data/rates.csv",
      ),
      "pyproject.toml":
        "[tool.pytest.ini_options]\naddopts = '-p devtools.plugin -ra'\npythonpath = ['lib']\ntestpaths = ['checks']\npython_files = ['case_*.py']\n[project]\ndependencies = ['attrs']\n",
      "checks/case_a.py": "from pkg.a import f",
      "checks/conftest.py": "pytest_plugins = ['qa_plugins.fixtures']",
      "requirements.txt": "attrs",
    },
    checks: ["pytest"],
    cheats: {
      ...refused(
        "protected.reached",
        "pyproject.toml devtools/plugin.py checks/case_a.py checks/conftest.py qa_plugins/fixtures.py qa_plugins/__init__.py",
      ),
      ...refused(
        "protected.place",
        "+pytest.toml +.pytest.toml +pytest.ini +lib/sitecustomize.py +lib/evil.pth +lib/conftest.py +.python-version",
      ),
      ...refused("protected.shadow", "+lib/pytest.py +lib/json.py +lib/_pytest/__init__.py"),
    },
    honest: words(
      "lib/pkg/a.py lib/pkg/conf.py lib/pkg/testing.py +lib/pkg/b.py +lib/pkg/json.py +lib/pkg/types.py lib/pkg/py.typed docs/conf.py docs/index.rst CHANGES.rst +checks/case_b.py devtools/release.py lib/pkg/data/rates.csv +lib/pkg/data/more.csv +newsfragments/12.feature.rst +lib/pkg/test.py",
    ),
  },
  {
    ecosystem: "python",
    name: "tox and nox",
    files: {
      ...empty(
        "ops/collect.py ops/__init__.py ops/more.py ops/deploy.py suite/a_case.py src/pkg/a.py setup.py MANIFEST.in README.rst",
      ),
      "tox.ini":
        "[tox]\n[testenv]\nsetenv =\n  PYTHONSTARTUP = ops/startup.py\ncommands =\n  python ops/run_all.py {posargs}\n",
      "noxfile.py": "def tests(s): s.run('python', 'ops/more.py')",
      "ops/run_all.py": "import unittest\nfrom ops import collect",
    },
    checks: ["tox -e py", "nox -s tests"],
    cheats: {
      ...refused("protected.reached", "tox.ini noxfile.py ops/run_all.py ops/more.py"),
      ...refused("protected.place", "+tox.toml setup.py +setup.cfg +nox.py"),
    },
    honest: words("src/pkg/a.py ops/deploy.py MANIFEST.in README.rst +src/pkg/b.py +src/pkg/__main__.py"),
  },
  {
    ecosystem: "python",
    name: "unittest discovers by pattern",
    files: {
      ...empty("checks/support.py calc.py calc_cli.py checks/__init__.py"),
      "checks/case_one.py": "import unittest, calc",
    },
    checks: ["python -m unittest discover -s checks -p 'case_*.py'"],
    cheats: {
      ...refused("protected.reached", "checks/case_one.py checks/support.py checks/__init__.py"),
      ...refused("protected.place", "+unittest/__init__.py"),
    },
    honest: words("calc.py calc_cli.py +checks/case_two.py +calc_more.py"),
  },
  {
    ecosystem: "python",
    name: "django",
    files: {
      ...empty(
        "site_/settings.py site_/runner.py site_/__init__.py shop/models.py shop/tests/test_a.py shop/tests.py shop/migrations/0001_initial.py shop/templates/a.html shop/fixtures/a.json locale/de/django.po",
      ),
      "manage.py": "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'site_.settings_ci')",
      "site_/settings_ci.py": "from site_.settings import *",
    },
    checks: ["python manage.py test"],
    cheats: {
      ...refused("protected.test", "shop/tests/test_a.py shop/tests.py shop/fixtures/a.json"),
      ...refused("protected.shadow", "+shop/tests/__init__.py"),
    },
    honest: words(
      "shop/models.py +shop/migrations/0002_more.py shop/templates/a.html +shop/views.py locale/de/django.po +shop/tests/test_b.py",
    ),
  },
  {
    ecosystem: "python",
    name: "tasks of hatch, poe, invoke, robot and behave",
    files: {
      ...empty(
        "dev/cov.py dev/poe_all.py dev/pdm_all.py dev/inv.py dev/notes.py behave.ini features/environment.py features/steps/a.py pkg/a.py robot.toml suites/a.robot",
      ),
      "pyproject.toml":
        "[tool.hatch.envs.default.scripts]\ncov = 'python dev/cov.py'\n[tool.poe.tasks]\nverify = 'python dev/poe_all.py'\n[tool.pdm.scripts]\nsuite = 'python dev/pdm_all.py'\n",
      "tasks.py": "def test(c): c.run('python dev/inv.py')",
    },
    checks: ["hatch run cov", "poe verify", "pdm run suite", "invoke test", "behave", "robot suites"],
    cheats: {
      ...refused(
        "protected.reached",
        "dev/cov.py dev/poe_all.py dev/pdm_all.py tasks.py dev/inv.py behave.ini suites/a.robot",
      ),
      ...refused(
        "protected.place",
        "features/environment.py features/steps/a.py robot.toml +.behaverc +invoke.yaml",
      ),
    },
    honest: words("pkg/a.py dev/notes.py +pkg/b.py +pkg/tasks.py"),
  },
  {
    ecosystem: "python",
    name: "names that only look like tools",
    files: {
      ...empty(
        "setup.py tasks.py shop/core.py shop/__init__.py build/steps.py contrib/a.py features/steps/a.py shop/plugin.py environment.yml",
      ),
      "pytest.ini": "[pytest]\ntestpaths = tests\naddopts = -ra --cov=shop\n",
      "tests/test_tasks.py": "import tasks\nfrom shop import core\nfrom build.steps import go",
      "shop/conftest.py": "from . import core",
    },
    checks: ["pytest"],
    cheats: {
      ...refused("protected.reached", "pytest.ini shop/conftest.py"),
      ...refused("protected.test", "tests/test_tasks.py"),
    },
    honest: words(
      "setup.py tasks.py shop/core.py shop/__init__.py build/steps.py contrib/a.py features/steps/a.py shop/plugin.py +shop/json.py +shop/email.py environment.yml +tests/data.json +shop/tests/test_new.py",
    ),
  },
  {
    ecosystem: "python",
    name: "a source among the tools is the check",
    files: { ...empty("tasks/worker.py tasks/queue.py README.md") },
    checks: ["python3 tasks/worker.py"],
    cheats: {
      ...refused("protected.shadow", "+tasks/json.py"),
      ...refused("protected.place", "+sitecustomize.py"),
    },
    honest: words("tasks/queue.py README.md"),
  },
];
