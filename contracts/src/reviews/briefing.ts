/**
 * Makes a brief of what connectors answered, and holds an agent's brief against it. Pure.
 *
 * An agent may remember an entry wrongly or make one up, so only its choice, its order and its notes count: title and state
 * are taken from the connector's answer, and an entry that is not in it is dropped.
 */
import type { SkillResult } from "../seeds/skill-result.ts";
import type { Brief, BriefedEntry, BriefEntry, BriefMaterial, BriefOutput } from "./brief.ts";
import { inlineMarkdown, markdownText } from "./markdown-text.ts";

export function briefOutputOf({ summary, entries }: Brief, material: BriefMaterial): BriefOutput {
  const known = new Map(material.entries.map((entry) => [entry.source, entry]));
  const shown = new Set<string>();
  const output: BriefOutput = { summary, entries: [], dropped: [] };
  for (const { source, note } of entries) {
    const entry = known.get(source);
    if (entry === undefined) output.dropped.push(source);
    else if (!shown.has(source)) output.entries.push(briefed(entry, note));
    shown.add(source);
  }
  return output;
}

function briefed({ source, project, title, status, assignee }: BriefEntry, note?: string): BriefedEntry {
  const held = assignee === undefined ? {} : { assignee };
  return { source, project, title, status, ...held, ...(note === undefined ? {} : { note }) };
}

/** The brief that needs no agent: every entry, by project. */
export function plainBrief(material: BriefMaterial): Brief {
  const { entries, topics, omitted } = material;
  const count = (name: string, one: string): string => {
    const { length } = entries.filter(({ connector }) => connector === name);
    return `${length} ${length === 1 ? one : `${one}s`}`;
  };
  const kinds = { "work-items": "work item", "pull-requests": "pull request" } as const;
  const counted = material.connectors.map((name) => count(name, kinds[name])).join(" and ");
  const about = topics.length === 0 ? "" : ` about ${topics.join(", ")}`;
  const left = omitted === 0 ? "" : `; ${omitted} more are left out`;
  const where = `${material.projects.length} ${material.projects.length === 1 ? "project" : "projects"}`;
  return {
    summary: `${counted} in ${where}${about}${left}`.slice(0, 4096),
    entries: entries.map(({ source }) => ({ source })),
  };
}

export function briefSentence({ entries, dropped }: BriefOutput): string {
  const listed = `a brief of ${entries.length} ${entries.length === 1 ? "entry" : "entries"}`;
  return dropped.length === 0 ? listed : `${listed}; ${dropped.length} dropped that no connector answered`;
}

/** The result of the skill `brief` (seed 001). */
export function briefResult(
  output: BriefOutput,
  material: BriefMaterial,
  about: { runId: string; taskId: string; commit: string },
): SkillResult {
  const { goal, topics, projects, connectors, readAt } = material;
  const input = { task_id: about.taskId, commit: about.commit, goal, topics, projects, connectors, readAt };
  return { skill: "brief", run_id: about.runId, pairs: [{ input, output }] };
}

/** The brief for people. All texts are data, so they hold no markup of their own. */
export function briefMarkdown({ summary, entries }: BriefOutput, { goal, readAt }: BriefMaterial): string {
  const parts = [`# ${inlineMarkdown(goal)}`, markdownText(summary), `Read at ${readAt}.`];
  for (const project of new Set(entries.map((entry) => entry.project))) {
    parts.push(`## ${inlineMarkdown(project)}`);
    parts.push(
      entries
        .filter((entry) => entry.project === project)
        .map(line)
        .join("\n"),
    );
  }
  return `${parts.join("\n\n")}\n`;
}

function line({ source, title, status, assignee, note }: BriefedEntry): string {
  const who = assignee === undefined ? "" : `, ${inlineMarkdown(assignee)}`;
  const says = note === undefined ? "" : `: ${inlineMarkdown(note)}`;
  return `- ${inlineMarkdown(source)} **${inlineMarkdown(title)}** (${inlineMarkdown(status)}${who})${says}`;
}
