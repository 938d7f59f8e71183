import { isMap, isSeq, LineCounter, parseDocument, type Node } from 'yaml'
import { offsetAt } from '#capture/record/yaml-offset.ts'
import { probesOfPromptfoo } from '../interchange/parse-promptfoo.ts'
import { fileDefaultsSchema, probeSchema, type Probe } from './probe.ts'

/** A mistake in a file of probes. `line` counts from 1. */
export interface ProbeProblem {
  line: number
  reason: string
}

export type ParsedProbes =
  { ok: true; probes: readonly Probe[] } | { ok: false; problems: readonly ProbeProblem[] }

/**
 * Reads a file of probes, ours or promptfoo's redteam.yaml. One bad probe refuses the whole file: a run with
 * half of it would look complete.
 */
export function parseProbes(text: string): ParsedProbes {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const lineOf = (offset: number | undefined) => lines.linePos(offset ?? 0).line
  if (document.errors.length > 0)
    return refuse(document.errors.map(({ pos, message }) => ({ line: lineOf(pos[0]), reason: message })))
  const { contents } = document
  const tests: unknown = isMap(contents) ? contents.get('tests', true) : undefined
  if (isSeq<Node>(tests)) {
    const { probes, problems } = probesOfPromptfoo(tests.toJS(document) as unknown[])
    const told = problems.map(({ index, reason }) => ({
      line: lineOf(tests.items[index]?.range?.[0]),
      reason,
    }))
    return told.length > 0 ? refuse(told) : { ok: true, probes }
  }
  const list: unknown = isMap(contents) ? contents.get('probes', true) : undefined
  if (!isMap(contents) || !isSeq<Node>(list))
    return refuse([{ line: 1, reason: 'expected an object with a list `probes`' }])
  // The library bounds the count of aliases, so it refuses a file that unfolds without end.
  const defaults = fileDefaultsSchema.safeParse(contents.toJS(document))
  if (!defaults.success)
    return refuse(issuesOf(defaults.error.issues, (path) => lineOf(offsetAt(contents, path))))
  const common = Object.fromEntries(Object.entries(defaults.data).filter(([name]) => name !== 'probes'))
  const problems: ProbeProblem[] = []
  const probes: Probe[] = []
  const lineOfId = new Map<string, number>()
  for (const item of list.items) {
    const line = lineOf(item.range?.[0])
    const own: unknown = item.toJS(document)
    const probe = probeSchema.safeParse(typeof own === 'object' ? { ...common, ...own } : own)
    if (!probe.success) {
      problems.push(...issuesOf(probe.error.issues, (path) => lineOf(offsetAt(item, path))))
      continue
    }
    const first = lineOfId.get(probe.data.id)
    if (first !== undefined) problems.push({ line, reason: `id: ${probe.data.id} is taken by line ${first}` })
    lineOfId.set(probe.data.id, line)
    probes.push(probe.data)
  }
  return problems.length > 0 ? refuse(problems) : { ok: true, probes }
}

interface Issue {
  path: PropertyKey[]
  message: string
}

function issuesOf(issues: readonly Issue[], lineAt: (path: PropertyKey[]) => number): ProbeProblem[] {
  return issues.map(({ path, message }) => ({
    line: lineAt(path),
    reason: path.length === 0 ? message : `${path.join('.')}: ${message}`,
  }))
}

function refuse(problems: readonly ProbeProblem[]): ParsedProbes {
  return { ok: false, problems }
}
