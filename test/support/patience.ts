/**
 * Deadlines of tests end what hangs. CI shares its machine with others and may be several times slower than a quiet one, so it
 * waits longer.
 */
const FACTOR = process.env["CI"] === "true" ? 3 : 1;

/** A deadline that is enough on a quiet machine, as it is here. */
export const patient = (ms: number): number => ms * FACTOR;
