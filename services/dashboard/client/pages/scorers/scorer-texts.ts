import type { Answer, Item } from '../../api/call-api.ts'

export type ListedScorer = Item<'GET /api/scorers'>
export type ProjectScorer = Answer<'GET /api/scorers/{id}'>
export type Preview = Answer<'GET /api/scorers/previews/{id}'>
export type Definition = ProjectScorer['definition']
export type Kind = Definition['kind']

export const kindNames: Readonly<Record<ListedScorer['kind'], string>> = {
  built_in: 'Built in',
  file: 'Of the installation',
  keyword_list: 'Keywords',
  regex: 'Patterns',
  criterion: 'Criterion',
}

/** `Built in · pii-3, judge gpt-4o/2`: the kind and the versions of new scores. */
export function describeVersions({
  kind,
  version,
  judge_version: judge,
}: Pick<ListedScorer, 'kind' | 'version' | 'judge_version'>): string {
  const versions = [version, judge === null ? null : `judge ${judge}`].filter((each) => each !== null)
  return [kindNames[kind], ...(versions.length === 0 ? [] : [versions.join(', ')])].join(' · ')
}

/** Why a scorer decides nothing. */
export const blockedTexts: Readonly<Record<NonNullable<ListedScorer['blocked_by']>, string>> = {
  off: 'Off',
  tier: 'Not in the tier',
  name_in_file: 'Name taken by the installation',
  no_judge: 'Needs a judge',
}

export const stoppedTexts: Readonly<
  Record<NonNullable<NonNullable<Preview['report']>['stopped_by']>, string>
> = {
  time: 'The time was up before all calls were looked at.',
  budget: 'The budget of the judge is spent.',
  judge: 'The judge does not answer.',
}

/** The form's fields. Lists are one entry a line. */
export interface ScorerValues {
  name: string
  kind: Kind
  description: string
  severity: ProjectScorer['severity']
  terms: string
  matchOn: Extract<Definition, { kind: 'regex' }>['match_on']
  criterion: string
  unsafe: string
  safe: string
}

export function valuesOf(scorer: ProjectScorer | undefined): ScorerValues {
  const { definition } = scorer ?? {}
  const terms =
    definition?.kind === 'keyword_list'
      ? definition.keywords
      : definition?.kind === 'regex'
        ? definition.patterns
        : []
  const words = definition?.kind === 'criterion' ? definition : undefined
  return {
    name: scorer?.name ?? '',
    kind: definition?.kind ?? 'keyword_list',
    description: scorer?.description ?? '',
    severity: scorer?.severity ?? 'high',
    terms: terms.join('\n'),
    matchOn: definition !== undefined && 'match_on' in definition ? definition.match_on : 'both',
    criterion: words?.criterion ?? '',
    unsafe: words?.unsafe_examples?.join('\n') ?? '',
    safe: words?.safe_examples?.join('\n') ?? '',
  }
}

/** `before`: fields that the form does not show stay as they are. */
export function definitionOf(values: ScorerValues, before: Definition | undefined): Definition {
  const { kind, terms, matchOn: match_on } = values
  if (kind === 'keyword_list') return { kind, keywords: linesOf(terms), match_on }
  if (kind === 'regex') return { kind, patterns: linesOf(terms), match_on }
  const known = before?.kind === 'criterion' ? before : undefined
  return {
    kind,
    criterion: values.criterion.trim(),
    unsafe_examples: linesOf(values.unsafe),
    safe_examples: linesOf(values.safe),
    looks_at: known?.looks_at ?? ['request', 'answer'],
    sees: known?.sees ?? [],
  }
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '')
}

/** The field of the form that an error of the API is about. */
export function fieldOfPath(path: string): keyof ScorerValues | undefined {
  if (path === 'name' || path === 'description' || path === 'severity') return path
  if (path.startsWith('definition.unsafe_examples')) return 'unsafe'
  if (path.startsWith('definition.safe_examples')) return 'safe'
  if (path.startsWith('definition.criterion')) return 'criterion'
  return path.startsWith('definition') ? 'terms' : undefined
}
