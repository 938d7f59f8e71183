import { expect, test } from '@jest/globals'
import { batchesOf, maxBatch } from './batches-of.ts'

test('each finding is in one batch of its own project, and none is larger than the API takes', () => {
  const findings = Array.from({ length: 2 * maxBatch + 1 }, (_, index) => ({
    id: `fnd_${index}`,
    project_id: index === 7 ? 'prj_2' : 'prj_1',
  }))
  const batches = batchesOf(findings)
  expect(batches.map(({ projectId, ids }) => [projectId, ids.length])).toEqual([
    ['prj_1', maxBatch],
    ['prj_1', maxBatch],
    ['prj_2', 1],
  ])
  expect(new Set(batches.flatMap(({ ids }) => ids)).size).toBe(findings.length)
})
