/**
 * A condition ` and …` on the days of a joined table's partition column, or nothing. Postgres does not derive
 * it from the join and would plan and lock every day (2,001 calls of 60 days: 27 ms, restricted to their two
 * days 10).
 */
export type WithinDays = (timeColumn: string) => string
export const everyDay: WithinDays = () => ''

/**
 * Conditions of one statement on project data, and their values. `$1` is the project (ProjectDatabase), so
 * these start at `$2`.
 */
export class Conditions {
  readonly #texts: string[] = []
  readonly #values: unknown[] = []

  /** The placeholder of `value`. */
  bind(value: unknown): string {
    this.#values.push(value)
    return `$${this.#values.length + 1}`
  }

  add(text: string): void {
    this.#texts.push(text)
  }

  /** `<expression> = value`, unless the value is undefined. */
  equal(expression: string, value: unknown): void {
    if (value !== undefined && value !== null) this.add(`${expression} = ${this.bind(value)}`)
  }

  /** `<expression> is distinct from value`, unless the value is undefined. */
  differ(expression: string, value: unknown): void {
    if (value !== undefined) this.add(`${expression} is distinct from ${this.bind(value)}`)
  }

  /** From `startMs` and before `endMs`, in Unix milliseconds. */
  within(expression: string, startMs: number | undefined, endMs: number | undefined): void {
    if (startMs !== undefined) this.add(`${expression} >= ${this.bind(new Date(startMs))}`)
    if (endMs !== undefined) this.add(`${expression} < ${this.bind(new Date(endMs))}`)
  }

  /** `(… or …)`: within one of these ranges of Unix milliseconds. */
  withinAny(expression: string, ranges: readonly { startMs: number; endMs: number }[]): string {
    const each = ranges.map(
      ({ startMs, endMs }) =>
        `${expression} >= ${this.bind(new Date(startMs))} and ${expression} < ${this.bind(new Date(endMs))}`,
    )
    return `(${each.join(' or ')})`
  }

  /** The same range for columns of joined tables. */
  daysWithin(startMs: number | undefined, endMs: number | undefined): WithinDays {
    return (column) =>
      [
        startMs === undefined ? '' : ` and ${column} >= ${this.bind(new Date(startMs))}`,
        endMs === undefined ? '' : ` and ${column} < ${this.bind(new Date(endMs))}`,
      ].join('')
  }

  /** ` and …` for each condition, to follow `:scope()`. */
  get text(): string {
    return this.#texts.map((text) => ` and ${text}`).join('')
  }

  get values(): readonly unknown[] {
    return this.#values
  }

  /** A copy, to which further conditions can be added. */
  copy(): Conditions {
    const copy = new Conditions()
    copy.#texts.push(...this.#texts)
    copy.#values.push(...this.#values)
    return copy
  }
}
