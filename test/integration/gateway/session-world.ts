/** A client of one session: sends commands and waits for their ends, over a real gateway and a real Director. */
import { validate } from "@antiphon/contracts";
import type { CommandName, SessionEvent } from "@antiphon/contracts";
import { expect } from "vitest";
import type { World } from "./gateway-world.ts";

export interface SessionClient {
  readonly id: string;
  /** Of the session; null: the deployment has none. */
  readonly token: string | null;
  /** The events that answer a command, its end included. */
  run(command: CommandName, payload?: object, id?: string): Promise<SessionEvent[]>;
  /** Outcome, code and message of a command's end. */
  end(
    command: CommandName,
    payload?: object,
  ): Promise<{ outcome: string; errorCode?: string; message: string }>;
  events(): Promise<SessionEvent[]>;
}

let issued = 0;

export const bearer = (token: string | null) =>
  token === null ? {} : { headers: { authorization: `Bearer ${token}` } };

/** `repo`: added to the payload of each command that has one. `owner`: the token of the person who opens it. */
export async function openClient(
  world: World,
  repo: { name: string; path: string },
  more: object = {},
  owner: string | null = null,
): Promise<SessionClient> {
  const opened = await world.call("POST", "/sessions", { body: { repo, ...more }, ...bearer(owner) });
  expect([opened.status, opened.text]).toEqual([201, opened.text]);
  const id = String(opened.body.sessionId);
  const token = owner === null ? null : String(opened.body.token);
  const events = async (): Promise<SessionEvent[]> => {
    const { body } = await world.call("GET", `/sessions/${id}/events`, bearer(token));
    const found = body.events as SessionEvent[];
    for (const event of found) expect(validate("SessionEvent", event)).toMatchObject({ ok: true });
    return found;
  };
  const isOfRepo = (command: CommandName): boolean =>
    !/Ticket|Comment|SetAssignee|Query|Upload|Request/.test(command);
  const run: SessionClient["run"] = async (command, payload = {}, commandId = `C-${(issued += 1)}`) => {
    const body = {
      ...{ command, commandId, correlation: { sessionId: id } },
      payload: isOfRepo(command) ? { repo, ...payload } : payload,
    };
    const sent = await world.call("POST", `/sessions/${id}/commands`, { body, ...bearer(token) });
    expect([sent.status, sent.text]).toEqual([202, sent.text]);
    for (;;) {
      const own = (await events()).filter((one) => one.correlation.commandId === commandId);
      if (own.some(({ event }) => event === "CommandCompleted" || event === "CommandRejected")) return own;
    }
  };
  return {
    ...{ id, token, run, events },
    async end(command, payload) {
      const last = (await run(command, payload)).at(-1);
      expect(last?.event).toBe("CommandCompleted");
      return last?.payload as Awaited<ReturnType<SessionClient["end"]>>;
    },
  };
}
