import { createOwnerCounts } from '#runtime/owner-counts.ts'

/**
 * Places that projects share. A project may take one while it has fewer than are left, so that one alone gets half of them, two get a
 * third each, and one that comes anew always finds some.
 */
export class SharedPermits {
  readonly #limit: number
  readonly #byProject = createOwnerCounts()

  constructor(limit: number) {
    this.#limit = Math.max(1, limit)
  }

  get taken(): number {
    return this.#byProject.total
  }

  /** Below 0 when endpoints that have places have turned into such as share these. */
  get left(): number {
    return this.#limit - this.taken
  }

  hasFor(projectId: string): boolean {
    return this.leadOf(projectId) > 0
  }

  /** How many more are left than the project has. Each place that it takes costs two of it, each of another's one. */
  leadOf(projectId: string): number {
    return this.left - this.#byProject.of(projectId)
  }

  count(projectId: string, by: number): void {
    this.#byProject.add(projectId, by)
  }
}
