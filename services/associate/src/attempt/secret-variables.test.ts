import { expect, test } from "vitest";
import { secretValues } from "./secret-variables.ts";

test("variables with the name of a secret are masked, short values and other variables are not", () => {
  const env = {
    API_TOKEN: "canary-1",
    DB_PASSWORD: "hunter22",
    NODE_ENV: "production",
    KEY: "yes",
    api_key: "canary-1",
  };
  expect(secretValues(env)).toEqual(["canary-1", "hunter22"]);
  expect(secretValues()).toEqual([]);
  expect(secretValues({ GIT_AUTHOR_NAME: "Alice Example", KEYWORDS: "alpha, beta" })).toEqual([]);
  expect(secretValues({ AUTHORIZATION: "canary-2", REGISTRY_AUTH: "canary-3" })).toHaveLength(2);
});
