import type { CallReading, CallVerdict } from '#schemas/call-reading.ts'

/** What clients see of a request's reading. */
export interface ReadingFields {
  verdict: CallVerdict | null
  coverage: { decided: number; applicable: number; total: number } | null
  unread_scorers: readonly string[]
}

/** The columns of request_verdicts that have it; null: no score yet, or not derived yet. */
export interface ReadingColumns {
  verdict: CallVerdict | null
  decided_count: number | null
  applicable_count: number | null
  unread_scorers: string[] | null
}

export const readingColumns = ['verdict', 'decided_count', 'applicable_count', 'unread_scorers'] as const

/** The row with the fields in the place of its columns. `score_count` is the total. */
export function withReading<R extends ReadingColumns & { score_count: number }>({
  decided_count,
  applicable_count,
  ...row
}: R): Omit<R, keyof ReadingColumns> & ReadingFields {
  const { verdict, unread_scorers, score_count: total } = row
  const coverage =
    verdict === null ? null : { decided: decided_count ?? 0, applicable: applicable_count ?? 0, total }
  return { ...row, coverage, unread_scorers: unread_scorers ?? [] } as Omit<R, keyof ReadingColumns> &
    ReadingFields
}

export function fieldsOfReading(
  { verdict, decided, applicable, unreadScorers }: CallReading,
  total: number,
): ReadingFields {
  return { verdict, coverage: { decided, applicable, total }, unread_scorers: unreadScorers }
}
