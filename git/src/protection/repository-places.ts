/** Protected places of every repository: its automation, its own settings, its lock files. Pure data. */
import type { ProtectedPlace } from "./protected-place.ts";

export const REPOSITORY_PLACES: readonly ProtectedPlace[] = [
  {
    what: "automation of GitHub",
    globs: { ".github/**": [".github/workflows/ci.yml", "docs/.github/workflows/ci.yml"] },
    when: "always",
  },
  {
    what: "automation of GitLab",
    globs: {
      ".gitlab/**": [".gitlab/merge_request_templates/default.md", "gitlab/default.md"],
      "**/.gitlab-ci.{yml,yaml}": ["deploy/.gitlab-ci.yml", "deploy/gitlab-ci.yml"],
    },
    when: "always",
  },
  {
    what: "automation of Gitea and Forgejo",
    globs: { "{.gitea,.forgejo}/**": [".forgejo/workflows/ci.yml", "forgejo/workflows/ci.yml"] },
    when: "always",
  },
  {
    what: "automation",
    globs: {
      "{.circleci,.buildkite,.azure-pipelines,.woodpecker,.tekton,.semaphore,.teamcity,.ci}/**": [
        ".circleci/config.yml",
        "circleci/config.yml",
      ],
      "{.travis,.drone,.woodpecker,.appveyor,appveyor,.cirrus,azure-pipelines,bitbucket-pipelines,cloudbuild,buildspec}.{yml,yaml}":
        [".travis.yml", "travis.yml"],
      "**/Jenkinsfile*": ["deploy/Jenkinsfile.nightly", "deploy/jenkins.md"],
    },
    when: "always",
  },
  {
    what: "hooks of git",
    globs: {
      "{.husky,.githooks}/**": [".husky/pre-commit", "husky/pre-commit"],
      "{lefthook,.lefthook}.{yml,yaml,toml}": ["lefthook.yml", "lefthook.md"],
      ".overcommit.yml": [".overcommit.yml", "overcommit.yml"],
    },
    when: "always",
  },
  {
    what: "who reviews what",
    globs: { "**/CODEOWNERS": ["docs/CODEOWNERS", "docs/CODEOWNERS.md"] },
    when: "always",
  },
  {
    what: "the sandbox's image",
    globs: {
      "**/.devcontainer*/**": [".devcontainer/devcontainer.json", "devcontainer/devcontainer.json"],
      "**/.devcontainer*.json": ["app/.devcontainer.json", "app/devcontainer.json"],
    },
    when: "always",
  },
  {
    what: "settings of agents",
    globs: {
      "**/{.claude,.cursor,.codex,.opencode,.gemini}/**": [".cursor/rules.md", "src/cursor/rules.md"],
      "**/.mcp.json": [".mcp.json", "src/mcp.json"],
    },
    when: "always",
  },
  {
    what: "what an editor runs when it opens the repository",
    globs: {
      "**/.vscode/{tasks,launch,settings,mcp}.json": [".vscode/tasks.json", ".vscode/extensions.json"],
      "**/*.code-workspace": ["app.code-workspace", "src/workspace.code"],
    },
    when: "always",
  },
  {
    what: "attributes of git",
    globs: { "**/.gitattributes": ["src/.gitattributes", "src/gitattributes"] },
    when: "always",
  },
  {
    what: "Antiphon's own file",
    globs: { "antiphon.{yaml,yml}": ["antiphon.yaml", "docs/antiphon.yaml"] },
    when: "always",
  },
  {
    what: "variables of the shell",
    globs: { "**/.envrc": ["app/.envrc", "app/.envrc.md"] },
    when: "always",
  },
  {
    what: "a lock file",
    globs: {
      "**/{package-lock.json,npm-shrinkwrap.json,yarn.lock,pnpm-lock.yaml,bun.lock,bun.lockb,deno.lock}": [
        "app/yarn.lock",
        "app/yarn.lock.md",
      ],
      "**/{poetry.lock,uv.lock,pdm.lock,Pipfile.lock,pixi.lock,conda-lock.yml}": [
        "uv.lock",
        "src/uv_lock.py",
      ],
      "**/{Cargo.lock,go.sum,go.work.sum,Gemfile.lock,gems.locked,composer.lock,mix.lock,pubspec.lock}": [
        "go.sum",
        "go.summary",
      ],
      "**/{gradle.lockfile,buildscript-gradle.lockfile,verification-metadata.xml,packages.lock.json,paket.lock}":
        ["app/packages.lock.json", "app/packages.json"],
      "**/{flake.lock,Package.resolved,Podfile.lock,stack.yaml.lock,cabal.project.freeze,.terraform.lock.hcl,rebar.lock,MODULE.bazel.lock,conan.lock}":
        ["deploy/.terraform.lock.hcl", "deploy/terraform.hcl"],
    },
    when: "always",
  },
  {
    what: "how an image is built",
    globs: {
      "**/Dockerfile*": ["app/Dockerfile.dev", "app/docker.md"],
      "**/{docker-,}compose*.{yml,yaml}": ["docker-compose.test.yml", "src/composer.ts"],
    },
    when: "always",
    existing: true,
  },
  {
    what: "the configuration of PHP's tests",
    globs: { "**/phpunit*.xml*": ["phpunit.xml.dist", "unit.xml"] },
    when: "always",
    existing: true,
  },
];
