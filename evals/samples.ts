import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { builtInScorers } from '#schemas/verdicts.ts'
import { readCall, type Body, type Call } from '#detectors/call-text.ts'

/** One labelled call; evals/datasets/README.md describes the format. */
const sampleSchema = z.object({
  id: z.string().min(1),
  set: z.string().min(1),
  scorer: z.enum(builtInScorers),
  label: z.union([z.literal(0), z.literal(1)]),
  prompt: z.string().default(''),
  response: z.string(),
  context: z.string().default(''),
  system: z.string().default(''),
  /** What it is an example of. */
  kind: z.string().optional(),
  /** A tool that the answer calls, with `response` as its command. */
  tool: z.string().optional(),
  /** ISO 639-1, where a set has several. */
  language: z.string().optional(),
  spans: z.array(z.object({ type: z.string(), start: z.number(), end: z.number() })).default([]),
})
export type Sample = z.output<typeof sampleSchema>

export const halves = ['train', 'report', 'all'] as const
export type Half = (typeof halves)[number]

/** Every line of every `*.jsonl` of a folder. Throws an Error that names file and line of a mistake. */
export function readSamples(directory: string): Sample[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .flatMap((name) => readFile(path.join(directory, name)))
}

function readFile(file: string): Sample[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return []
    const parsed = sampleSchema.safeParse(parseLine(line))
    if (!parsed.success) throw new Error(`${file}:${index + 1}: ${z.prettifyError(parsed.error)}`)
    return [parsed.data]
  })
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null // The schema then says that an object was expected, with file and line.
  }
}

/** Half of all samples by a hash of the id: the same everywhere, without random numbers. */
export function isIn(half: Half, id: string): boolean {
  const first = createHash('sha256').update(id).digest().readUInt8(0)
  return half === 'all' || (first % 2 === 0) === (half === 'train')
}

/** The call of a sample: chat completions, with supplied text as a tool message. */
export function callOf({ system, context, prompt, response, tool }: Sample): Call {
  const message = (role: string, content: string) => (content === '' ? [] : [{ role, content }])
  const messages = [...message('system', system), ...message('tool', context), ...message('user', prompt)]
  const said = { role: 'assistant', content: response }
  const called = {
    role: 'assistant',
    content: null,
    tool_calls: [
      {
        id: 'call_1',
        type: 'function',
        function: { name: tool, arguments: JSON.stringify({ command: response }) },
      },
    ],
  }
  const answer = {
    choices: [{ index: 0, message: tool === undefined ? said : called, finish_reason: 'stop' }],
  }
  return readCall(bodyOf({ messages }), response === '' ? null : bodyOf(answer))
}

function bodyOf(value: unknown): Body {
  return { json: JSON.stringify(value), value }
}
