import type { OwaspCategory } from './verdicts.ts'

/**
 * The OWASP Top 10 for LLM applications of 2023 (version 1.1), by which other tools tag, in the categories of
 * 2025. Overreliance became misinformation, denial of service unbounded consumption. Insecure plugins are a
 * way to excessive agency. Theft of a model is under unbounded consumption in 2025.
 */
const edition2025Of = {
  llm01: 'LLM01',
  llm02: 'LLM05',
  llm03: 'LLM04',
  llm04: 'LLM10',
  llm05: 'LLM03',
  llm06: 'LLM02',
  llm07: 'LLM06',
  llm08: 'LLM06',
  llm09: 'LLM09',
  llm10: 'LLM10',
} as const satisfies Record<string, OwaspCategory>

/** Categories new in 2025, under the nearest of 2023. */
const edition2023Of: Readonly<Record<OwaspCategory, string>> = {
  LLM01: 'llm01',
  LLM02: 'llm06',
  LLM03: 'llm05',
  LLM04: 'llm03',
  LLM05: 'llm02',
  LLM06: 'llm08',
  LLM07: 'llm06',
  LLM08: 'llm01',
  LLM09: 'llm09',
  LLM10: 'llm04',
}

/** The category of a tag like `owasp:llm06`; undefined for other tags. */
export function categoryOfTag(tag: string): OwaspCategory | undefined {
  const [, number] = /^owasp:(llm\d\d)$/i.exec(tag) ?? []
  return number === undefined ? undefined : edition2025Of[number.toLowerCase() as keyof typeof edition2025Of]
}

/** The tag of 2023 for a category, as other tools write it. */
export function tagOfCategory(category: OwaspCategory): string {
  return `owasp:${edition2023Of[category]}`
}
