import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Probe } from '../probes/probe.ts'
import { categoryOfPromptfoo, judgesOf } from './categories.ts'
import type { ParsedEntries, RecordedEntry } from './recorded-entry.ts'

const metadataSchema = z.looseObject({ pluginId: z.string().max(200).optional(), goal: z.string().nullish() })
const testSchema = z.looseObject({
  vars: z.record(z.string(), z.unknown()),
  metadata: metadataSchema.optional(),
})
const resultSchema = z.looseObject({
  id: z.string().optional(),
  prompt: z.looseObject({ raw: z.string() }).optional(),
  vars: z.record(z.string(), z.unknown()).default({}),
  response: z.looseObject({ output: z.unknown() }).nullish(),
  success: z.boolean().optional(),
  metadata: metadataSchema.nullish(),
  testCase: z.looseObject({ metadata: metadataSchema.nullish() }).nullish(),
})
const reportSchema = z.looseObject({ results: z.looseObject({ results: z.array(z.unknown()) }) })

/** Converts the test cases of promptfoo's redteam.yaml (`tests`) to probes. */
export function probesOfPromptfoo(tests: readonly unknown[]): {
  probes: Probe[]
  problems: { index: number; reason: string }[]
} {
  const problems: { index: number; reason: string }[] = []
  const probes = tests.flatMap((value, index): Probe[] => {
    const test = testSchema.safeParse(value)
    const said = test.success ? saidIn(test.data.vars) : undefined
    if (!test.success || said === undefined) {
      problems.push({ index, reason: 'needs vars with the text of a prompt' })
      return []
    }
    const plugin = test.data.metadata?.pluginId ?? 'unknown'
    const category = categoryOfPromptfoo(plugin)
    const digest = createHash('sha256').update(`${index}:${said}`).digest('hex').slice(0, 10)
    const name = plugin
      .toLowerCase()
      .replace(/[^a-z0-9._-]/g, '-')
      .slice(0, 50)
    return [
      {
        id: `promptfoo.${name}.${digest}`,
        category,
        ...judgesOf(category),
        source: 'promptfoo',
        licence: 'of the file it is from',
        goal: test.data.metadata?.goal?.slice(0, 500),
        turns: [said],
      },
    ]
  })
  return { probes, problems }
}

/** Reads promptfoo's results (JSON): prompts with their answers. */
export function parsePromptfooResults(json: string): ParsedEntries {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return refuse('is not JSON')
  }
  const report = reportSchema.safeParse(value)
  if (!report.success) return refuse('expected an object with results.results')
  const results = report.data.results.results.map((result) => resultSchema.safeParse(result))
  const entries: RecordedEntry[] = []
  for (const [index, { data }] of results.entries()) {
    if (data === undefined) return refuse(`results.results.${index} is no result`)
    const said = data.prompt?.raw ?? saidIn(data.vars)
    // Refused, because leaving it out would make the counts wrong silently.
    if (said === undefined) return refuse(`results.results.${index} has no prompt`)
    const plugin = data.metadata?.pluginId ?? data.testCase?.metadata?.pluginId ?? 'unknown'
    entries.push({
      probe: plugin,
      category: categoryOfPromptfoo(plugin),
      turns: [{ role: 'user' as const, text: said }],
      output: outputOf(data.response?.output),
      origin: { promptfoo_id: data.id ?? null, promptfoo_success: data.success ?? null },
    })
  }
  return entries.length === 0 ? refuse('there is no result in it') : { ok: true, entries }
}

function refuse(reason: string): ParsedEntries {
  return { ok: false, problems: [{ line: 1, reason }] }
}

function outputOf(output: unknown): string | null {
  if (output === undefined || output === null) return null
  return typeof output === 'string' ? output : JSON.stringify(output)
}

/** The prompt of a test case: `prompt`, or its only text variable. */
function saidIn(vars: Readonly<Record<string, unknown>>): string | undefined {
  const said = vars['prompt'] ?? Object.values(vars).find((value) => typeof value === 'string')
  return typeof said === 'string' && said !== '' ? said : undefined
}
