import type { ProjectScorerDefinition } from '#schemas/project-scorer.ts'

/** Scorers of a project, as it defines them. */
export const words = (...keywords: string[]): ProjectScorerDefinition => ({
  kind: 'keyword_list',
  keywords,
  match_on: 'both',
})

export const criterion = (sentence: string): ProjectScorerDefinition => ({
  kind: 'criterion',
  criterion: sentence,
  unsafe_examples: ['You get your money back.'],
  safe_examples: [],
  looks_at: ['request', 'answer'],
  sees: [],
})
