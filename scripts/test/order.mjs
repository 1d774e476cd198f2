/**
 * The order in which test files start, from the seconds that they took when they were last measured (`test/seconds.json`).
 * Each project's longest file starts first, so that none runs on alone at the end. Projects take turns by their share of
 * the seconds: an end-to-end test mostly waits, and an integration test beside it uses the processor meanwhile.
 */

/** Of a file that was not measured: early enough that a long one does not run on alone at the end. */
const UNKNOWN_SECONDS = 60;

/**
 * @template File
 * @param {readonly File[]} files
 * @param {{ seconds: (file: File) => number | undefined, project: (file: File) => string }} facts
 * @returns {File[]}
 */
export function inOrder(files, { seconds, project }) {
  const length = (/** @type {File} */ file) => seconds(file) ?? UNKNOWN_SECONDS;
  const queues = [...new Set(files.map(project))].map((name) => {
    const own = files.filter((file) => project(file) === name).toSorted((a, b) => length(b) - length(a));
    return { own, sum: own.reduce((sum, file) => sum + length(file), 0), begun: 0 };
  });
  /** @type {File[]} */
  const ordered = [];
  while (ordered.length < files.length) {
    const [next] = queues
      .filter(({ own }) => own.length > 0)
      .toSorted((a, b) => a.begun / a.sum - b.begun / b.sum);
    const file = next?.own.shift();
    if (next === undefined || file === undefined) break;
    next.begun += length(file);
    ordered.push(file);
  }
  return ordered;
}

/**
 * The seconds of each file in a report of vitest, for `test/seconds.json`. Short files are there too, because one that is not counts as new.
 *
 * @param {{ testResults: readonly { name: string, startTime: number, endTime: number }[] }} report
 * @param {string} root
 * @param {ReadonlySet<string>} listed the files of `test/tiers.ts`: unit tests need no order
 * @returns {Record<string, number>}
 */
export function measured({ testResults }, root, listed) {
  const taken = testResults
    .map(
      ({ name, startTime, endTime }) =>
        /** @type {const} */ ([
          name.slice(root.length + 1),
          Math.max(1, Math.round((endTime - startTime) / 1000)),
        ]),
    )
    .filter(([name]) => listed.has(name));
  return Object.fromEntries(taken.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
