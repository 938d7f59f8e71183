import type { Finding } from './finding-texts.ts'

/** The API takes so many of one project at once. */
export const maxBatch = 100

/** Findings by project, in batches that the API takes. */
export function batchesOf(
  findings: readonly Pick<Finding, 'id' | 'project_id'>[],
): { projectId: string; ids: string[] }[] {
  const byProject = Map.groupBy(findings, ({ project_id }) => project_id)
  return [...byProject].flatMap(([projectId, all]) =>
    Array.from({ length: Math.ceil(all.length / maxBatch) }, (_, index) => ({
      projectId,
      ids: all.slice(index * maxBatch, (index + 1) * maxBatch).map(({ id }) => id),
    })),
  )
}
