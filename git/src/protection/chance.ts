/**
 * Sources of chance in a text: what makes a check end differently on the same files. Pure. They decide only how often a
 * passing check is tried again, never its verdict.
 */
export type Chance = "random numbers" | "timing";

const SOURCES: readonly (readonly [what: Chance, form: RegExp])[] = [
  [
    "random numbers",
    /\b(random\w*|rand(int|n|om|range|Int|Bytes)?|shuffle[ds]?|choice|uuid4?|nanoid|mt_rand|SecureRandom|faker|hypothesis|fast-?check|quickcheck)\b|\$RANDOM|\/dev\/u?random|\bshuf\b/,
  ],
  [
    "timing",
    /\b(Date\.now|performance\.now|new Date\(\)|hrtime|time\.(time|monotonic|perf_counter|Now)|datetime\.now|Instant::now|System\.(currentTimeMillis|nanoTime)|clock_gettime|gettimeofday|LocalDate(Time)?\.now|Time\.now|microtime)\b/,
  ],
  [
    "timing",
    /\b(setTimeout|setInterval|setImmediate|sleep|usleep|nanosleep|Thread\.sleep|wait_for|waitFor|Promise\.race|select\.select)\b/,
  ],
  [
    "timing",
    /\b(threading|multiprocessing|concurrent\.futures|asyncio|pthread_create|std::thread|tokio|Thread|goroutine|worker_threads|sync\.WaitGroup)\b|\bgo func\b/,
  ],
  ["timing", /\b(listen\(0|createServer|socketserver|http\.server|TcpListener|net\.Listen|ServerSocket)/],
];

/** The source of chance that a text names, random numbers first. Null: none. */
export function chanceIn(text: string): Chance | null {
  return SOURCES.find(([, form]) => form.test(text))?.[0] ?? null;
}

export function strongerChance(one: Chance | null, other: Chance | null): Chance | null {
  return one === "random numbers" ? one : (other ?? one);
}
