import type { CommitPosition } from './assignment.ts'
import { AssignmentLost, isRebalance } from './group-errors.ts'
import type { GroupMember } from './group-member.ts'
import type { PartitionWork } from './partition-work.ts'

interface ProgressCommitsOptions<T> {
  member: () => GroupMember
  works: () => Iterable<PartitionWork<T>>
  /** Whether commits are suspended. */
  isHeld: () => boolean
  onCommitted: () => void
}

/** Commits the progress of a parallel consumer's partitions, one commit at a time. */
export class ProgressCommits<T> {
  readonly #options: ProgressCommitsOptions<T>
  #committing: Promise<void> | null = null
  #again = false

  constructor(options: ProgressCommitsOptions<T>) {
    this.#options = options
  }

  /** Resolves when no commit is under way. */
  async settled(): Promise<void> {
    await this.#committing
  }

  /** Commits the progress of every partition. A call during a commit causes one more. */
  commit(): Promise<void> {
    this.#again = true
    this.#committing ??= this.#commitWhileAsked().finally(() => (this.#committing = null))
    return this.#committing
  }

  /** The last commit of this member: clears the mark of every partition that has no work under way. */
  async commitRest(): Promise<void> {
    await this.#commitAll((work) => (work.touched ? work.rest() : null))
  }

  async #commitWhileAsked(): Promise<void> {
    while (this.#again && !this.#options.isHeld()) {
      this.#again = false
      await this.#commitAll((work) => work.progress())
      this.#options.onCommitted()
    }
  }

  async #commitAll(positionOf: (work: PartitionWork<T>) => CommitPosition | null): Promise<void> {
    const member = this.#options.member()
    const changed = [...this.#options.works()].flatMap((work) => {
      const position = member.isCurrent(work.assigned) ? positionOf(work) : null
      return position === null ? [] : [{ work, position }]
    })
    if (changed.length === 0) return
    try {
      await member.commit(changed.map(({ position }) => position))
      for (const { work, position } of changed) work.committed(position)
    } catch (error) {
      // kafkajs's next heartbeat handles a rebalance; uncommitted work is repeated.
      if (!isRebalance(error) && !(error instanceof AssignmentLost)) member.fail(error)
    }
  }
}
