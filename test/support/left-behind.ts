/**
 * Set up before each file of a worker that goes from file to file: what belongs to the whole process is as the file before
 * found it. A file that leaves something changed fails by itself, and not the one after it.
 */
import { afterAll, expect } from "vitest";

const EVENTS = ["uncaughtException", "unhandledRejection", "warning", "SIGINT", "SIGTERM"] as const;

const found = { env: { ...process.env }, cwd: process.cwd(), listeners: listeners() };

function listeners(): Record<string, number> {
  return Object.fromEntries(EVENTS.map((event) => [event, process.listenerCount(event)]));
}

/** The names alone; a variable may hold a secret. */
function changedVariables(): string[] {
  const names = new Set([...Object.keys(found.env), ...Object.keys(process.env)]);
  return [...names].filter((name) => found.env[name] !== process.env[name]);
}

afterAll(() => {
  expect(changedVariables(), "variables of the process that the file left changed").toEqual([]);
  expect(process.cwd()).toBe(found.cwd);
  expect(listeners(), "listeners that the file left on the process").toEqual(found.listeners);
});
