/** For whoever is on call: which services answer, what waits in the queues, which agents there are, which messages could not be worked off, and requeueing them. */
import { useState, type ReactElement } from "react";
import { post } from "../api/gateway.ts";
import { Action } from "../screen/action.tsx";
import { harmless } from "../screen/harmless.ts";
import { Notice } from "../screen/notice.tsx";
import { usePolled } from "../screen/polled.ts";
import { routeOf } from "../screen/route.ts";
import { AgentList } from "./agent-list.tsx";
import { QueueList } from "./queue-list.tsx";

export function OperationsPage(): ReactElement {
  const services = usePolled("/services", { expect: 6 }, 10_000);
  const letters = usePolled("/dead-letters", {}, 5_000);
  return (
    <>
      <h1>Operations</h1>
      <section className="card" aria-label="Services">
        <h2>Services that answer</h2>
        {services.refusal !== null && <Notice refusal={services.refusal} />}
        <table>
          <thead>
            <tr>
              <th scope="col">Service</th>
              <th scope="col">Instance</th>
              <th scope="col">Version</th>
            </tr>
          </thead>
          <tbody>
            {services.data?.services.map(({ name, id, version }) => (
              <tr key={id}>
                <th scope="row">{harmless(name)}</th>
                <td>
                  <code>{id}</code>
                </td>
                <td>{harmless(version)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <QueueList />
      <AgentList
        associates={services.data?.services.filter(({ name }) => name === "associate").length ?? null}
      />
      <section className="card" aria-label="Sessions">
        <h2>Sessions</h2>
        <SessionList />
        <SessionForm />
      </section>
      <section className="card" aria-label="Dead letters">
        <h2>Dead letters</h2>
        {letters.refusal !== null && <Notice refusal={letters.refusal} />}
        {letters.data?.letters.length === 0 && <p className="quiet">None. Every message was worked off.</p>}
        <ul className="checks">
          {letters.data?.letters.map((letter) => (
            <li key={letter.id}>
              <code>{letter.id}</code>{" "}
              {letter.runId !== null && <a href={`#/runs/${letter.runId}`}>{letter.runId}</a>}{" "}
              <span className="quiet">
                {letter.consumer}, {letter.deliveries} deliveries:
              </span>{" "}
              {harmless(letter.detail)} <code>{letter.code}</code>{" "}
              <Action
                perform={async () => {
                  await post("/dead-letters/{id}/requeue", { id: letter.id }, undefined);
                  letters.again();
                }}
              >
                Requeue
              </Action>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

/** The newest sessions of repositories. */
function SessionList(): ReactElement {
  const { data, refusal } = usePolled("/sessions", { limit: 20 }, 10_000);
  return (
    <>
      {refusal !== null && <Notice refusal={refusal} />}
      {data?.sessions.length === 0 && <p className="quiet">No session of a repository is kept.</p>}
      <ul className="checks">
        {data?.sessions.map(({ sessionId, repo, openedAt, status, commands, waiting }) => (
          <li key={sessionId}>
            <a href={`#/sessions/${sessionId}`}>{sessionId}</a> <strong>{harmless(status)}</strong>{" "}
            {harmless(repo)}{" "}
            <span className="quiet">
              {openedAt.slice(0, 16).replace("T", " ")}, {commands} {commands === 1 ? "command" : "commands"}
              {waiting > 0 && `, ${waiting} ${waiting === 1 ? "waits" : "wait"} for approval`}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Opens a session that is further down than the list. */
function SessionForm(): ReactElement {
  const [id, setId] = useState("");
  const place = `#/sessions/${id.trim()}`;
  const isId = routeOf(place).page === "session";
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault();
        if (isId) window.location.hash = place;
      }}
    >
      <label>
        Id
        <input value={id} placeholder="ses_..." onChange={(event) => setId(event.target.value)} />
      </label>
      <button type="submit" disabled={!isId}>
        Open
      </button>
    </form>
  );
}
