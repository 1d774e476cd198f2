// What `antiphon dev` was asked for.
export interface DevOptions {
  /** Directory of the store, the logs and the lock. */
  readonly dir: string;
  /** 0 picks a free port. */
  readonly natsPort: number;
  readonly port: number;
  readonly associates: number;
  /** The sandbox provider. Null: as configured. */
  readonly sandbox: string | null;
  /**
   * Port at which the first service serves metrics; the others use the ports after it. 0 picks free ones, which are in
   * the logs. Null: no metrics.
   */
  readonly metricsPort: number | null;
  readonly readyWithinMs: number;
  /** Every stack names lines of the sources, not only the logged ones: for people who change them. Costs 5 to 10 MB a service. */
  readonly mapsEveryStack: boolean;
  /** With the agent packs that the page lists; of two packs with one name the first counts. */
  readonly packFolders: readonly string[];
}
