import type { Work } from './measure-work.ts'

/** An idle broker takes 2 % of a core. A part that works gets more of one even where many others do. */
const minCpuShare = 0.04

export interface Patience {
  /** Whether the process has done nothing for too long. */
  isOver(work: Work, nowMs: number): boolean
}

/**
 * How long a process may take to start: as long as it works, so that a busy machine or a long recovery does
 * not end it. It works while its log grows (`logCounts`) or it takes processor time.
 */
export function createPatience(patienceMs: number, logCounts: boolean): Patience {
  let last: { work: Work; atMs: number } | undefined
  const hasWorked = (before: Work, now: Work) =>
    now.cpuMs - before.cpuMs >= minCpuShare * patienceMs || (logCounts && now.logBytes !== before.logBytes)
  return {
    isOver: (work, nowMs) => {
      if (last === undefined || hasWorked(last.work, work)) last = { work, atMs: nowMs }
      return nowMs - last.atMs >= patienceMs
    },
  }
}
