/**
 * Set up before each file of a worker that goes from file to file: what belongs to the whole process is as the file before
 * found it. A file that leaves something changed fails by itself, and not the one after it.
 */
import { afterAll, expect } from "vitest";

const SIGNALS = ["uncaughtException", "unhandledRejection", "warning", "SIGINT", "SIGTERM"] as const;

const heard = (): object =>
  Object.fromEntries(SIGNALS.map((signal) => [signal, process.listenerCount(signal)]));
const surroundings = (): object => ({ env: { ...process.env }, cwd: process.cwd(), listeners: heard() });

const found = surroundings();

afterAll(() => {
  expect(surroundings(), "the file left the process of the tests as it found it").toEqual(found);
});
