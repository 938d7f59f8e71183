import { createOwnerCounts } from '#runtime/owner-counts.ts'

/**
 * Permits that projects share. A project may take one while it holds fewer than are left: one project alone
 * gets half of them, two get a third each, and a new one always finds some.
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

  /** Below 0 after endpoints with permits in use have moved to this share. */
  get left(): number {
    return this.#limit - this.taken
  }

  hasFor(projectId: string): boolean {
    return this.leadOf(projectId) > 0
  }

  /**
   * How many more are left than the project holds. Each of its permits lowers it by two, any other by one.
   */
  leadOf(projectId: string): number {
    return this.left - this.#byProject.of(projectId)
  }

  count(projectId: string, by: number): void {
    this.#byProject.add(projectId, by)
  }
}
