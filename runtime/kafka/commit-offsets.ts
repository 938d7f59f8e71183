import type { Offsets } from 'kafkajs'
import { messageOf } from '../errors.ts'
import { createGroupCommit } from '../group-commit.ts'
import { toTopicOffsets, type Assigned, type CommitPosition } from './assignment.ts'
import { AssignmentLost, isKafkaTrouble, isRebalance, rejoinNeeded } from './group-errors.ts'

interface CommitterOptions {
  isCurrent: (assigned: Assigned) => boolean
  send: (offsets: Offsets) => Promise<void>
  onTrouble: (error: unknown, attempt: number) => void
  sleep: (ms: number) => Promise<void>
}

const maxAttempts = 6

/**
 * Commits offsets, and retries for a few seconds when the connection fails. Partitions that commit at once
 * share a request. Rejects with AssignmentLost or a rebalance error (isRebalance) when the partitions belong
 * to another member.
 */
export function createCommitter(
  options: CommitterOptions,
): (positions: readonly CommitPosition[]) => Promise<unknown> {
  return createGroupCommit<readonly CommitPosition[], undefined>({
    run: (calls) => commitAll(calls, options),
    isOfOne: () => false,
    weightOf: () => 1,
    maxWeight: Infinity,
  })
}

/** For each call whose partitions are lost the error; the others are committed. */
async function commitAll(
  calls: readonly (readonly CommitPosition[])[],
  { isCurrent, send, onTrouble, sleep }: CommitterOptions,
): Promise<(AssignmentLost | undefined)[]> {
  const lostAmong = (positions: readonly CommitPosition[]) => {
    const lost = positions.find(({ assigned }) => !isCurrent(assigned))?.assigned
    return lost && new AssignmentLost(lost.topic, lost.partition)
  }
  for (let attempt = 1; ; attempt++) {
    const lost = calls.map(lostAmong)
    const kept = calls.flatMap((positions, index) => (lost[index] === undefined ? positions : []))
    if (kept.length === 0) return lost
    try {
      await send({ topics: toTopicOffsets(kept) })
      return lost
    } catch (error) {
      if (isRebalance(error) || !isKafkaTrouble(error)) throw error
      onTrouble(error, attempt)
      if (attempt === maxAttempts) throw rejoinNeeded(`offsets could not be committed: ${messageOf(error)}`)
      await sleep(100 * 2 ** attempt)
    }
  }
}
