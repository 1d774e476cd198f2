// What the gateway asks about the deployment itself: its processes, its queues, and what Directors hold back.
import { subjects } from "@antiphon/contracts";
import type { AdmissionReply } from "@antiphon/contracts";
import { ROLES } from "@antiphon/contracts/roles";
import { askAll, consumerCounts, countDeadLetters, countOpenRuns, rollCall } from "@antiphon/runtime";
import type { Bus } from "@antiphon/runtime";
import type { Backend } from "../ports.ts";
import { soon } from "../http/deadline.ts";
import type { StorageWatch } from "./storage-watch.ts";

const ROLL_CALL_MS = 300;

type Admission = Extract<AdmissionReply, { ok: true }>;

export function operationsBackend(
  bus: Bus,
  storage: StorageWatch,
): Pick<Backend, "admit" | "storageProblem" | "queueCounts" | "admissions" | "rollCall"> {
  return {
    admit: () => storage.admit(),
    storageProblem: () => storage.problem(),
    async queueCounts() {
      const counted = Promise.all([consumerCounts(bus), countOpenRuns(bus), countDeadLetters(bus)]);
      const [consumers, openRuns, deadLetters] = await soon(counted);
      return { consumers, openRuns, deadLetters };
    },
    async admissions() {
      const replies = await askAll<Admission>(bus, subjects.directorAdmission, ROLL_CALL_MS);
      return replies.map(({ held }) => held);
    },
    rollCall: (expect) => rollCall(bus, ROLES, expect, ROLL_CALL_MS),
  };
}
