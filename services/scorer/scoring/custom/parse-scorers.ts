import { createHash } from 'node:crypto'
import { RE2JS } from 're2js'
import { isSeq, LineCounter, parseDocument, type Node } from 'yaml'
import type { z } from 'zod'
import { offsetAt } from '#capture/record/yaml-offset.ts'
import type { OwaspCategory } from '#schemas/verdicts.ts'
import { entrySchema, type CustomScorer, type ScorerEntry } from './custom-scorer.ts'
import { foldCase, splitsLetter } from './fold-case.ts'
import type { Searchable, WholeText } from './searchable.ts'

/** A problem in a custom scorers file. `line` counts from 1. */
export interface ScorerProblem {
  line: number
  reason: string
}

export type ParsedScorers =
  { ok: true; scorers: readonly CustomScorer[] } | { ok: false; problems: readonly ScorerProblem[] }

const maxHitsOfTerm = 10
/** Searching a text for a keyword takes a twentieth of the time that one instruction of RE2 does. */
const keywordsOfStep = 20

/** Parses scorers.yaml (specification 2.7). One bad entry rejects the file: half a set looks complete. */
export function parseScorers(yaml: string): ParsedScorers {
  const lines = new LineCounter()
  const document = parseDocument(yaml, { lineCounter: lines, prettyErrors: false })
  const lineOf = (offset: number | undefined) => lines.linePos(offset ?? 0).line
  if (document.errors.length > 0) {
    return refuse(document.errors.map(({ pos, message }) => ({ line: lineOf(pos[0]), reason: message })))
  }
  const root = document.contents
  if (root === null) return { ok: true, scorers: [] }
  if (!isSeq<Node>(root))
    return refuse([{ line: lineOf(root.range[0]), reason: 'expected a list of scorers' }])
  const problems: ScorerProblem[] = []
  const scorers = new Map<string, CustomScorer>()
  for (const item of root.items) {
    const lineAt = (path: readonly PropertyKey[]) => lineOf(offsetAt(item, path))
    const entry = entrySchema.safeParse(item.toJS(document))
    if (!entry.success) {
      problems.push(
        ...entry.error.issues.map((issue) => ({ line: lineAt(issue.path), reason: describe(issue) })),
      )
      continue
    }
    const made = makeScorer(entry.data)
    if (!made.ok) problems.push({ line: lineAt(made.path), reason: `${made.path.join('.')}: ${made.reason}` })
    else if (scorers.has(made.scorer.name)) {
      problems.push({ line: lineAt(['name']), reason: `name: "${made.scorer.name}" is a duplicate` })
    } else scorers.set(made.scorer.name, made.scorer)
  }
  return problems.length > 0 ? refuse(problems) : { ok: true, scorers: [...scorers.values()] }
}

function refuse(problems: readonly ScorerProblem[]): ParsedScorers {
  return { ok: false, problems }
}

function describe({ path, message }: z.core.$ZodIssue): string {
  return path.length === 0 ? message : `${path.join('.')}: ${message}`
}

type Made = { ok: true; scorer: CustomScorer } | { ok: false; path: readonly PropertyKey[]; reason: string }

/** Compiles an entry. Fails on a pattern that RE2 does not accept. */
export function makeScorer(entry: ScorerEntry): Made {
  const finders: Finder[] = []
  let steps = 0
  if (entry.type === 'keyword_list') {
    steps = entry.keywords.length / keywordsOfStep
    finders.push(...entry.keywords.map(findKeyword))
  } else {
    for (const [index, source] of entry.patterns.entries()) {
      try {
        const pattern = RE2JS.compile(source)
        steps += pattern.programSize()
        finders.push(findPattern(pattern, index))
      } catch (error) {
        return { ok: false, path: ['patterns', index], reason: (error as Error).message }
      }
    }
  }
  return {
    ok: true,
    scorer: {
      entry,
      name: entry.name,
      severity: entry.severity,
      description: entry.description,
      owaspCategory: (entry.owasp_category ?? null) as OwaspCategory | null,
      matchOn: entry.match_on,
      projects: entry.projects === undefined ? null : new Set(entry.projects),
      version: `custom-${createHash('sha256').update(JSON.stringify(entry)).digest('hex').slice(0, 12)}`,
      isOfProject: false,
      steps,
      find: (text) => finders.flatMap((find) => find(text)),
    },
  }
}

type Finder = (text: Searchable) => ReturnType<CustomScorer['find']>

function findKeyword(keyword: string, index: number): Finder {
  const wanted = foldCase(keyword).text
  return (searchable) => {
    const { text, originOf } = searchable.folded()
    // A match at the end of the piece is complete in the next one, including a following accent.
    const isCut = searchable.offset + searchable.text.length < searchable.whole.text.length
    const hits: ReturnType<Finder> = []
    for (let at = text.indexOf(wanted); at >= 0 && hits.length < maxHitsOfTerm;) {
      const end = at + wanted.length
      if (!splitsLetter(text, end) && !(isCut && end === text.length)) {
        hits.push({
          kind: `keyword ${index + 1}`,
          start: originOf(at),
          end: originOf(end),
        })
      }
      at = text.indexOf(wanted, end)
    }
    return hits
  }
}

/** RE2 takes linear time, whatever pattern a customer writes. */
function findPattern(pattern: RE2JS, index: number): Finder {
  return (searchable) => {
    const { text, whole, offset } = searchable
    const hits: ReturnType<Finder> = []
    const matcher = pattern.matcher(text)
    while (hits.length < maxHitsOfTerm && matcher.find()) {
      const [start, end] = [matcher.start(), matcher.end()]
      const atCut = (start === 0 && offset > 0) || (end === text.length && offset + end < whole.text.length)
      if (atCut && !(isInWhole(pattern, whole) && holdsWithMargin(pattern, searchable, start, end))) continue
      hits.push({ kind: `pattern ${index + 1}`, start, end })
    }
    return hits
  }
}

/**
 * Whether the text matches anywhere. Without a position RE2 takes a tenth of the time, unless it has too many
 * states. Cached for all pieces.
 */
function isInWhole(pattern: RE2JS, whole: WholeText): boolean {
  const matches = (whole.matches ??= new Map<RE2JS, boolean>())
  const isIn = matches.get(pattern) ?? pattern.test(whole.text)
  matches.set(pattern, isIn)
  return isIn
}

const marginUnits = 4_096

/** Whether a match holds with more text around it: `^`, `$` and `\b` take a piece's edges for the text's. */
function holdsWithMargin(
  pattern: RE2JS,
  { text, whole, offset }: Searchable,
  start: number,
  end: number,
): boolean {
  const from = Math.max(0, offset - marginUnits)
  const matcher = pattern.matcher(whole.text.slice(from, offset + text.length + marginUnits))
  const before = offset - from
  while (matcher.find() && matcher.start() <= before + start) {
    if (matcher.end() >= before + end) return true
  }
  return false
}
