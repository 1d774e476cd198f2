import type { ReactElement } from "react";
import { Status } from "../screen/status.tsx";
import { usePolled } from "../screen/polled.ts";
import { otherRacers } from "./racers.ts";

/** The runs of a race begin together, so the others are among the newest of a page. */
const PAGE = 1_000;
const PACE = { seen: 10_000, unseen: 120_000 } as const;

interface RaceProps {
  readonly race: string;
  readonly runId: string;
}

/** Says that a run is part of a race, and leads to its other runs. */
export function Race({ race, runId }: RaceProps): ReactElement {
  const { data } = usePolled("/runs", { limit: PAGE }, PACE);
  const others = otherRacers(data?.runs ?? [], race, runId);
  return (
    <p className="quiet race">
      Part of a race, of which one run lands.
      {others.map((run) => (
        <a key={run.runId} href={`#/runs/${run.runId}`}>
          <Status status={run.status} paused={run.paused} /> {run.runId}
        </a>
      ))}
    </p>
  );
}
