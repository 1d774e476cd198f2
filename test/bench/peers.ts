/**
 * Measures ours beside BullMQ, pg-boss, DBOS and Restate, interleaved in one run: the same payload, the same disk, fsync before
 * an acknowledgement (BullMQ also with everysec), 128 jobs at a time. It also measures the limits of disk and server:
 * one fsync per message, and bare atomic batches that a bare consumer acknowledges.
 *
 * Not measured: several machines, replicas, long jobs, large payloads, and the work that peers do not do for a job:
 * ours is verified, chained, signed and kept with its evidence.
 */
import { cpus } from "node:os";
import { measureBounds } from "../load/bounds.ts";
import { dbos, restate } from "./peers/engines.ts";
import { find, rateOf, type Contender, type Found, type Kind } from "./peers/contender.ts";
import { installPackages } from "./peers/install.ts";
import { ours } from "./peers/ours.ts";
import { bullMq, pgBoss } from "./peers/queues.ts";
import { postgresServer, type Server } from "./peers/servers.ts";

const ROUNDS = 3;
const CONCURRENCY = 128;
/** A round of one contender and kind takes about this long. */
const ROUND_MS = 3000;
const WARMUP = 1024;
/** Bytes of the seven records of a no-op run. */
const RECORD_BYTES = [1100, 1600, 1500, 500, 1400, 900, 900];

interface Row {
  readonly contender: Contender;
  readonly rates: Record<Kind, number[]>;
}

export async function run(): Promise<void> {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  const missing = await installPackages().then(
    () => null,
    (error: unknown) => `npm could not install the peers: ${String(error).split("\n", 1)[0]}`,
  );
  if (missing !== null) console.log(missing);
  const { contender, bus } = await ours();
  const servers: Server[] = [];
  let postgres: Awaited<ReturnType<typeof postgresServer>> | null = null;
  const database = async (name: string): Promise<string> => {
    if (postgres === null) servers.push((postgres = await postgresServer()));
    return postgres.url(name);
  };
  const found: Found[] = [{ kind: "ready", contender }];
  found.push(await find("BullMQ, AOF always", () => bullMq("always")));
  found.push(await find("BullMQ, AOF everysec", () => bullMq("everysec")));
  found.push(await find("pg-boss", async () => pgBoss(await database("pgboss"))));
  found.push(await find("DBOS", async () => dbos(await database("dbos"))));
  found.push(await find("Restate", restate));
  try {
    let rows = found.flatMap((one): Row[] =>
      one.kind === "ready" ? [{ contender: one.contender, rates: { job: [], flow: [] } }] : [],
    );
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const row of rows) {
        const fault = await measure(row, round).then(
          () => null,
          (error: unknown) => String(error),
        );
        if (fault === null) continue;
        if (row.contender === contender) throw new Error(`our own round failed: ${fault}`);
        rows = rows.filter((other) => other !== row);
        found.push({ kind: "unavailable", name: row.contender.name, reason: fault });
      }
    }
    const bounds = await measureBounds(bus, RECORD_BYTES);
    print(rows, found);
    console.log(
      `\nthe server's own limits, same bytes, as jobs of 7 records: ${n(bounds.singles / 7)}/s with one fsync per record, ` +
        `${n(bounds.batches / 7)}/s in bare batches, ${n(bounds.batchesConsumed / 7)}/s in batches and consumed`,
    );
  } finally {
    for (const one of found) if (one.kind === "ready") await one.contender.stop();
    for (const server of servers) await server.stop();
  }
}

/** Round 0 warms up and determines the number of jobs per round. */
const sizes = new Map<string, number>();

async function measure({ contender, rates }: Row, round: number): Promise<void> {
  for (const kind of ["job", "flow"] as const) {
    const key = `${contender.name} ${kind}`;
    const total = round === 0 ? WARMUP : (sizes.get(key) ?? WARMUP);
    const rate = await rateOf(contender, kind, total, CONCURRENCY);
    sizes.set(key, Math.max(CONCURRENCY, Math.round((rate * ROUND_MS) / 1000)));
    process.stderr.write(`  round ${round}: ${key} ${n(rate)}/s\n`);
    if (round > 0) rates[kind].push(rate);
  }
}

const n = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: 0 });
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

function print(rows: readonly Row[], found: readonly Found[]): void {
  const own = rows[0]?.rates ?? { job: [], flow: [] };
  console.log(
    `\n${CONCURRENCY} at a time, ${ROUNDS} interleaved rounds of about ${ROUND_MS / 1000} s (median, range), ${cpus().length} cores, Node ${process.version}\n`,
  );
  console.log(
    `${"".padEnd(34)}${"jobs/s".padStart(9)}${"ours /".padStart(9)}  ${"range".padEnd(16)}${"flows/s".padStart(9)}${"ours /".padStart(9)}  range`,
  );
  for (const { contender, rates } of rows) {
    const cells = (["job", "flow"] as const).map((kind) => {
      const value = median(rates[kind]);
      const range = `${n(Math.min(...rates[kind]))}-${n(Math.max(...rates[kind]))}`;
      return `${n(value).padStart(9)}${`${(median(own[kind]) / value).toFixed(2)}x`.padStart(9)}  ${range.padEnd(16)}`;
    });
    console.log(contender.name.padEnd(34) + cells.join(""));
  }
  for (const one of found)
    if (one.kind === "unavailable") console.log(`${one.name.padEnd(34)} UNAVAILABLE: ${one.reason}`);
  console.log("");
  for (const { contender } of rows) console.log(`${contender.name}: ${contender.setting}`);
}
