import { z } from 'zod'

/** Labels of stored scores. Events and log lines say `fail` for `unsafe` (specification 2.3). */
export const scoreLabels = ['safe', 'unsafe', 'unscored'] as const
export type ScoreLabel = (typeof scoreLabels)[number]

export const severities = ['medium', 'high', 'critical'] as const
export type Severity = (typeof severities)[number]
export const severitySchema = z.enum(severities)

/** How a score was decided. */
export const scoreMethods = ['detector', 'judge', 'custom'] as const
export type ScoreMethod = (typeof scoreMethods)[number]

export const builtInScorers = [
  'content_safety',
  'pii_detection',
  'jailbreak_detection',
  'system_prompt_leakage',
  'supply_chain',
  'excessive_agency',
  'hallucination',
  'data_poisoning',
  'vector_weakness',
  'unbounded_consumption',
] as const
export type BuiltInScorer = (typeof builtInScorers)[number]

/** The form of a custom scorer's name. */
export const customScorerName = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,99}$/u

/** OWASP Top 10 for LLM applications, 2025 edition: category → title. */
export const owaspDescriptions = {
  LLM01: 'Prompt Injection',
  LLM02: 'Sensitive Information Disclosure',
  LLM03: 'Supply Chain',
  LLM04: 'Data and Model Poisoning',
  LLM05: 'Improper Output Handling',
  LLM06: 'Excessive Agency',
  LLM07: 'System Prompt Leakage',
  LLM08: 'Vector and Embedding Weaknesses',
  LLM09: 'Misinformation',
  LLM10: 'Unbounded Consumption',
} as const
export type OwaspCategory = keyof typeof owaspDescriptions

export const owaspCategoryOf: Readonly<Record<BuiltInScorer, OwaspCategory>> = {
  jailbreak_detection: 'LLM01',
  pii_detection: 'LLM02',
  supply_chain: 'LLM03',
  data_poisoning: 'LLM04',
  content_safety: 'LLM05',
  excessive_agency: 'LLM06',
  system_prompt_leakage: 'LLM07',
  vector_weakness: 'LLM08',
  hallucination: 'LLM09',
  unbounded_consumption: 'LLM10',
}

/** Title of an OWASP category; null for a custom scorer that names none. */
export function describeOwasp(category: string | null): string | null {
  return category !== null && category in owaspDescriptions
    ? owaspDescriptions[category as OwaspCategory]
    : null
}
