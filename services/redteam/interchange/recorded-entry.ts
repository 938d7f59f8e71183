import type { OwaspCategory } from '#schemas/verdicts.ts'

/** One prompt with its answer from another tool's report. */
export interface RecordedEntry {
  /** Of the probe, as that tool names it. */
  probe: string
  category: OwaspCategory
  turns: readonly { role: 'system' | 'user' | 'assistant'; text: string }[]
  /** Null: it got none. */
  output: string | null
  /** What the report says of it besides, kept for the way back. */
  origin: Readonly<Record<string, unknown>>
}

export interface EntryProblem {
  line: number
  reason: string
}

export type ParsedEntries =
  { ok: true; entries: readonly RecordedEntry[] } | { ok: false; problems: readonly EntryProblem[] }
