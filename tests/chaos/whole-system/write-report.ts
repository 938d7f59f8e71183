import { cpus, totalmem } from 'node:os'
import type { FaultRecord } from './faults/carry-out.ts'
import type { ChaosResult } from './run-chaos.ts'

export interface RunFacts {
  seed: number
  minutes: number
  callsPerSecond: number
  /** ISO 8601. */
  startedAt: string
  /** Versions of the code and its environment. */
  versions: string
  /** The command that repeats the run. */
  command: string
}

/** Maximum of violations that are listed. */
const named = 10
/** Of an hour's 370 faults, only those with the slowest recovery are listed. */
const listed = 40

/** Whether every invariant held. */
export function isSound({ findings }: ChaosResult): boolean {
  return findings.every(({ wrong }) => wrong.length === 0)
}

/** The report of a run, in Markdown. */
export function writeReport(result: ChaosResult, facts: RunFacts): string {
  const { findings, faults, leftOut, calls, lost, delays, restMs, restarts } = result
  const slowest = faults.toSorted((a, b) => recoveryOf(b) - recoveryOf(a))
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
    slowest[0] === undefined
      ? 'There was no fault.'
      : `The slowest recovery took ${seconds(recoveryOf(slowest[0]))}: ${slowest[0].kind} ${slowest[0].target}. Processes started again: ${listOf(restarts)}.`,
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
    '| fault | times | longest | recovery (median) | slowest recovery |',
    '|---|---:|---:|---:|---:|',
    ...kinds.map(([kind, all]) => {
      const longest = Math.max(...all.map(({ beganMs, endedMs }) => endedMs - beganMs))
      const recoveries = all.map(recoveryOf).sort((a, b) => a - b)
      const [median = 0, last = 0] = [recoveries[all.length >> 1], recoveries.at(-1)]
      return `| ${kind} | ${all.length} | ${seconds(longest)} | ${seconds(median)} | ${seconds(last)} |`
    }),
    '',
    faults.length > listed ? `The ${listed} of which the recovery took longest:` : 'All of them:',
    '',
    '| at | fault | lasted | recovered after |',
    '|---:|---|---:|---:|',
    ...byTime(slowest.slice(0, listed)).map((fault) => {
      const { kind, target, beganMs, endedMs } = fault
      return `| ${seconds(beganMs)} | ${kind} ${target} | ${seconds(endedMs - beganMs)} | ${seconds(recoveryOf(fault))} |`
    }),
    '',
  ].join('\n')
}

function byTime(faults: readonly FaultRecord[]): FaultRecord[] {
  return faults.toSorted((a, b) => a.beganMs - b.beganMs)
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
