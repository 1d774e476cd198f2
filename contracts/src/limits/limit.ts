/** One entry of the table of limits. */
export type Limit = readonly [value: number, unit: string, reason: string, atTheBound: string];

export const KiB = 1024;
export const MiB = 1024 * KiB;
