import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readRouterConfig } from "./config.ts";

const folder = mkdtempSync(join(tmpdir(), "antiphon-router-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function keyFile(text: string): string {
  const path = join(folder, `key-${text.length}`);
  writeFileSync(path, text);
  return path;
}

const MODEL = { ANTIPHON_ROUTER_MODEL: "m", ANTIPHON_ROUTER_MODEL_URL: "http://127.0.0.1:11434/v1" };

test("no model is asked by default", () => {
  expect(readRouterConfig({})).toEqual({ slots: 64, model: null });
});

test("a model has a name, an address, and a key from a file if it needs one", () => {
  const url = `${MODEL.ANTIPHON_ROUTER_MODEL_URL}/`;
  expect(readRouterConfig(MODEL).model).toEqual({ name: "m", url, key: null });
  const file = keyFile("sk-1\n");
  expect(readRouterConfig({ ...MODEL, ANTIPHON_ROUTER_MODEL_KEY_FILE: file }).model?.key).toBe("sk-1");
});

test.each<[string, Record<string, string>]>([
  ["slots", { ANTIPHON_ROUTER_SLOTS: "0" }],
  ["a name without an address", { ANTIPHON_ROUTER_MODEL: "m" }],
  ["an address without a name", { ANTIPHON_ROUTER_MODEL_URL: "http://127.0.0.1/v1" }],
  ["a long name", { ...MODEL, ANTIPHON_ROUTER_MODEL: "m".repeat(201) }],
  ["no address", { ...MODEL, ANTIPHON_ROUTER_MODEL_URL: "localhost" }],
  ["another protocol", { ...MODEL, ANTIPHON_ROUTER_MODEL_URL: "file:///etc/passwd" }],
  ["a user in the address", { ...MODEL, ANTIPHON_ROUTER_MODEL_URL: "http://a:b@127.0.0.1/v1" }],
  ["a file that is not there", { ...MODEL, ANTIPHON_ROUTER_MODEL_KEY_FILE: join(folder, "none") }],
  ["an empty file", { ...MODEL, ANTIPHON_ROUTER_MODEL_KEY_FILE: keyFile("") }],
  ["a file of two lines", { ...MODEL, ANTIPHON_ROUTER_MODEL_KEY_FILE: keyFile("a\nb") }],
])("a setting that cannot be used is refused by its name: %s", (_, env) => {
  expect(() => readRouterConfig(env)).toThrow(/ANTIPHON_ROUTER_/);
});
