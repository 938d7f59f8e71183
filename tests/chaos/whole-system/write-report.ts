import { cpus, totalmem } from 'node:os'
import type { FaultRecord } from './faults/carry-out.ts'
import type { ChaosResult } from './run-chaos.ts'

export interface RunFacts {
  seed: number
  minutes: number
  callsPerSecond: number
  /** ISO 8601. */
  startedAt: string
  /** Of the code and of what it ran on. */
  versions: string
  /** Repeats the run. */
  command: string
}

/** Of what is wrong so many are named. */
const named = 10

/** Whether every invariant held. */
export function isSound({ findings }: ChaosResult): boolean {
  return findings.every(({ wrong }) => wrong.length === 0)
}

/** The report of a run, in Markdown. */
export function writeReport(result: ChaosResult, facts: RunFacts): string {
  const { findings, faults, leftOut, calls, lost, delays, restMs, restarts } = result
  const slowest = faults.toSorted((a, b) => recoveryOf(b) - recoveryOf(a))[0]
  const kinds = [...Map.groupBy(faults, ({ kind }) => kind)].sort(([a], [b]) => (a < b ? -1 : 1))
  return [
    `# Seed ${facts.seed}, ${facts.minutes} minutes: ${isSound(result) ? 'every invariant held' : 'NOT WELL'}`,
    '',
    `\`${facts.command}\`, begun ${facts.startedAt}, ${facts.versions}, ` +
      `${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB. ${facts.callsPerSecond} calls a second.`,
    '',
    `Calls by way and what clients know of them: ${listOf(calls)}. Gateways count ${lost} as lost, whose disks were full.`,
    `From a call to its row ${waitOf(delays.stored)}; to its last score ${waitOf(delays.scored)}. ` +
      `Everything had come to rest ${seconds(restMs)} after the last answer.`,
    slowest === undefined
      ? 'There was no fault.'
      : `The slowest recovery took ${seconds(recoveryOf(slowest))}: ${slowest.kind} ${slowest.target}. Processes started again: ${listOf(restarts)}.`,
    '',
    '| invariant | looked at | wrong |',
    '|---|---:|---:|',
    ...findings.map(({ invariant, checked, wrong }) => `| ${invariant} | ${checked} | ${wrong.length} |`),
    '',
    ...findings.flatMap(({ invariant, wrong }) =>
      wrong.length === 0 ? [] : [`**${invariant}**`, ...wrong.slice(0, named).map((each) => `- ${each}`), ''],
    ),
    `${faults.length} faults of ${kinds.length} kinds; ${leftOut} more were left out, because what they would have struck had not recovered in time.`,
    '',
    '| fault | times | longest | slowest recovery |',
    '|---|---:|---:|---:|',
    ...kinds.map(([kind, all]) => {
      const longest = Math.max(...all.map(({ beganMs, endedMs }) => endedMs - beganMs))
      return `| ${kind} | ${all.length} | ${seconds(longest)} | ${seconds(Math.max(...all.map(recoveryOf)))} |`
    }),
    '',
    '| at | fault | lasted | recovered after |',
    '|---:|---|---:|---:|',
    ...faults.map((fault) => {
      const { kind, target, beganMs, endedMs } = fault
      return `| ${seconds(beganMs)} | ${kind} ${target} | ${seconds(endedMs - beganMs)} | ${seconds(recoveryOf(fault))} |`
    }),
    '',
  ].join('\n')
}

function recoveryOf({ endedMs, recoveredMs }: FaultRecord): number {
  return recoveredMs - endedMs
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

function waitOf({ p50, p99, max }: { p50: number; p99: number; max: number }): string {
  return `${seconds(p50)} (p50), ${seconds(p99)} (p99), ${seconds(max)} at most`
}

function listOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([what, count]) => `${what} ${count}`)
    .join(', ')
}
