/** The queues: what waits and what is under way, by the service that works it off, and what is held back. */
import type { ReactElement } from "react";
import { harmless } from "../screen/harmless.ts";
import { Notice } from "../screen/notice.tsx";
import { usePolled } from "../screen/polled.ts";

export function QueueList(): ReactElement {
  const { data, refusal } = usePolled("/queues", {}, 5_000);
  return (
    <section className="card" aria-label="Queues">
      <h2>Queues</h2>
      {refusal !== null && <Notice refusal={refusal} />}
      {data !== null && (
        <>
          <p>
            {data.openRuns} {data.openRuns === 1 ? "open run" : "open runs"}
          </p>
          <table className="numbers">
            <thead>
              <tr>
                <th scope="col">Consumer</th>
                <th scope="col">Waiting</th>
                <th scope="col">In flight</th>
                <th scope="col">Delivered again</th>
              </tr>
            </thead>
            <tbody>
              {data.consumers.map(({ name, waiting, inFlight, redelivered }) => (
                <tr key={name}>
                  <th scope="row">{harmless(name)}</th>
                  <td>{waiting}</td>
                  <td>{inFlight}</td>
                  <td>{redelivered}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <h3>Held back, so that tenants take turns</h3>
          {data.directors === 0 && <p className="quiet">No Director answers.</p>}
          {data.directors > 0 && data.held.length === 0 && <p className="quiet">Nothing.</p>}
          <ul className="checks">
            {data.held.map(({ tenant, priority, attempts }) => (
              <li key={`${tenant} ${priority}`}>
                <strong>{harmless(tenant)}</strong> {priority}: {attempts}{" "}
                {attempts === 1 ? "attempt" : "attempts"}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
