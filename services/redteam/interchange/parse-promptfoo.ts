import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Probe } from '../probes/probe.ts'
import { categoryOfPromptfoo, judgesOf } from './categories.ts'
import type { ParsedEntries } from './recorded-entry.ts'

const metadataSchema = z.looseObject({ pluginId: z.string().optional(), goal: z.string().nullish() })
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

/** The test cases of promptfoo's redteam.yaml as probes. `tests` is the list under that name. */
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
    return { ok: false, problems: [{ line: 1, reason: 'is not JSON' }] }
  }
  const report = reportSchema.safeParse(value)
  if (!report.success)
    return { ok: false, problems: [{ line: 1, reason: 'expected an object with results.results' }] }
  const results = report.data.results.results.map((result) => resultSchema.safeParse(result))
  const bad = results.findIndex(({ success }) => !success)
  if (bad >= 0) return { ok: false, problems: [{ line: 1, reason: `results.results.${bad} is no result` }] }
  const entries = results.flatMap(({ data }) => {
    const said = data?.prompt?.raw ?? saidIn(data?.vars ?? {})
    if (data === undefined || said === undefined) return []
    const plugin = data.metadata?.pluginId ?? data.testCase?.metadata?.pluginId ?? 'unknown'
    const output = data.response?.output
    return [
      {
        probe: plugin,
        category: categoryOfPromptfoo(plugin),
        turns: [{ role: 'user' as const, text: said }],
        output:
          output === undefined || output === null
            ? null
            : typeof output === 'string'
              ? output
              : JSON.stringify(output),
        origin: { promptfoo_id: data.id ?? null, promptfoo_success: data.success ?? null },
      },
    ]
  })
  return { ok: true, entries }
}

/** What a test case says: its `prompt`, or the one variable that is text. */
function saidIn(vars: Readonly<Record<string, unknown>>): string | undefined {
  const said = vars['prompt'] ?? Object.values(vars).find((value) => typeof value === 'string')
  return typeof said === 'string' && said !== '' ? said : undefined
}
