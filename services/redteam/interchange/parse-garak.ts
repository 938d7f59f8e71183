import { z } from 'zod'
import { categoryOfTag } from '#schemas/owasp-editions.ts'
import { categoryOfGarak } from './categories.ts'
import type { EntryProblem, ParsedEntries, RecordedEntry } from './recorded-entry.ts'

const text = z.union([z.string(), z.object({ text: z.string().nullable() })])
const turn = z.object({ role: z.enum(['system', 'user', 'assistant']), content: text })
const attemptSchema = z.looseObject({
  uuid: z.string(),
  seq: z.number().int(),
  status: z.number().int(),
  probe_classname: z.string().min(1).max(200),
  // Before garak 0.10, prompts and outputs were text.
  prompt: z.union([z.string(), z.object({ turns: z.array(turn).min(1) })]),
  outputs: z.array(z.union([text, z.null()])),
  detector_results: z.record(z.string(), z.array(z.unknown())).default({}),
  goal: z.string().nullish(),
  notes: z.looseObject({ tags: z.array(z.string()).optional() }).nullish(),
})
type Attempt = z.output<typeof attemptSchema>

/**
 * Reads garak's report.jsonl. Of an attempt before and after its detectors, the later line counts; each
 * output is an entry. Several lines of an attempt in one status have an output each, as in our reports.
 */
export function parseGarak(report: string): ParsedEntries {
  const problems: EntryProblem[] = []
  const attempts = new Map<string, Attempt[]>()
  report.split('\n').forEach((json, index) => {
    if (json.trim() === '') return
    const value = parseJson(json)
    if (value === undefined) problems.push({ line: index + 1, reason: 'is not JSON' })
    if (typeof value !== 'object' || value === null || !('entry_type' in value)) return
    if (value.entry_type !== 'attempt') return
    const attempt = attemptSchema.safeParse(value)
    if (!attempt.success) {
      const [issue] = attempt.error.issues
      problems.push({ line: index + 1, reason: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}` })
      return
    }
    // Aggregated reports give all attempts of a run one uuid.
    const name = `${attempt.data.uuid} ${attempt.data.probe_classname} ${attempt.data.seq}`
    const known = attempts.get(name)
    const knownStatus = known?.[0]?.status ?? -Infinity
    if (knownStatus < attempt.data.status) attempts.set(name, [attempt.data])
    else if (knownStatus === attempt.data.status) known?.push(attempt.data)
  })
  if (problems.length > 0) return { ok: false, problems }
  if (attempts.size === 0) return { ok: false, problems: [{ line: 1, reason: 'there is no attempt in it' }] }
  return { ok: true, entries: [...attempts.values()].flat().flatMap(entriesOf) }
}

function entriesOf(attempt: Attempt): RecordedEntry[] {
  const { uuid, seq, status, probe_classname, prompt, outputs, detector_results, goal, notes } = attempt
  const tagged = notes?.tags?.map(categoryOfTag).find((category) => category !== undefined)
  const turns =
    typeof prompt === 'string'
      ? [{ role: 'user' as const, text: prompt }]
      : prompt.turns.map(({ role, content }) => ({ role, text: textOf(content) ?? '' }))
  return (outputs.length === 0 ? [null] : outputs).map((output, index) => ({
    probe: probe_classname,
    category: tagged ?? categoryOfGarak(probe_classname),
    turns,
    output: textOf(output),
    origin: {
      ...{ uuid, seq, status, probe_classname, goal: goal ?? null },
      detector_results: Object.fromEntries(
        Object.entries(detector_results).map(([name, results]) => [name, results.slice(index, index + 1)]),
      ),
    },
  }))
}

function textOf(content: z.output<typeof text> | null): string | null {
  return typeof content === 'string' || content === null ? content : content.text
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined // Told with its line.
  }
}
