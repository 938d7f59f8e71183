import type { OwaspCategory } from '#schemas/verdicts.ts'

/** A prompt with its answer from another tool's report. */
export interface RecordedEntry {
  /** The other tool's name of the probe. */
  probe: string
  category: OwaspCategory
  turns: readonly { role: 'system' | 'user' | 'assistant'; text: string }[]
  /** Null without an answer. */
  output: string | null
  /** Other fields of the report, kept for the export. */
  origin: Readonly<Record<string, unknown>>
}

export interface EntryProblem {
  line: number
  reason: string
}

export type ParsedEntries =
  { ok: true; entries: readonly RecordedEntry[] } | { ok: false; problems: readonly EntryProblem[] }
