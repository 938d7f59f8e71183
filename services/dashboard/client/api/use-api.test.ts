import { expect, test } from '@jest/globals'
import type { Item, Page } from './call-api.ts'
import { isFollowed } from './use-api.ts'

type Runs = 'GET /api/score-runs'
const listOf = (count: number, status: Item<Runs>['status']) => ({
  pages: Array.from({ length: count }, () => ({ items: [{ status }] }) as Page<Runs>),
  pageParams: [],
})
const isQueued = ({ status }: Item<Runs>) => status === 'queued'

test('a list is followed while something in it is under way and it is no more than four pages', () => {
  const followed = [0, 1, 4, 5].map((count) => isFollowed<Runs>(listOf(count, 'queued'), isQueued))
  expect(followed).toEqual([false, true, true, false])
  expect(isFollowed<Runs>(listOf(1, 'done'), isQueued)).toBe(false)
  expect(isFollowed<Runs>(undefined, isQueued)).toBe(false)
})
