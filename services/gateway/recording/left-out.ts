/** Why a call that was forwarded is not recorded. */
export const leftOutReasons = ['key_capture_none'] as const
export type LeftOutReason = (typeof leftOutReasons)[number]

/** By project, then by reason: running numbers since the start. */
export type LeftOutCounts = Readonly<Record<string, Readonly<Partial<Record<LeftOutReason, number>>>>>

/** Counts calls that are not recorded, so that none is missing without a number and a reason. */
export interface LeftOut {
  count(projectId: string | undefined, reason: LeftOutReason): void
  counts(): LeftOutCounts
}

/** Further projects are counted together, as ``. */
const maxProjects = 1_000

export function createLeftOut(onCount: (reason: LeftOutReason) => void): LeftOut {
  const counts = new Map<string, Partial<Record<LeftOutReason, number>>>()
  return {
    count(projectId = '', reason) {
      onCount(reason)
      const name = counts.has(projectId) || counts.size < maxProjects ? projectId : ''
      const ofProject = counts.get(name) ?? {}
      ofProject[reason] = (ofProject[reason] ?? 0) + 1
      counts.set(name, ofProject)
    },
    counts: () => Object.fromEntries(counts),
  }
}
