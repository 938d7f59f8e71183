import type { Work } from './measure-work.ts'

/** An idle broker takes 2 % of a core. A working part gets more, even on a busy machine. */
const minCpuShare = 0.04

export interface Patience {
  /** Whether the process has done nothing for too long. */
  isOver(work: Work, nowMs: number): boolean
}

/**
 * How long a process may take to start: as long as it works, so that neither a busy machine nor a long
 * recovery ends it. It works while its log grows (`logCounts`) or it uses CPU time.
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
