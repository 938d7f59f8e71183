import { z } from 'zod'
import { until } from '../../support/until.ts'
import { runProgram } from '../engine/run-program.ts'
import { textOf } from '../platform-part.ts'
import type { Compose } from './compose-tool.ts'

/** The commands that first-project prints. */
export interface PrintedCalls {
  call: string
  look: string
}

export async function printedCalls(compose: Compose): Promise<PrintedCalls> {
  const text = await compose(['logs', '--no-log-prefix', 'first-project'])
  const [call, look] = (text.match(/curl (?:[^\n]*\\\n)*[^\n]*/g) ?? []) as (string | undefined)[]
  if (call === undefined || look === undefined) throw new Error(`there are not two curls in: ${text}`)
  return { call, look }
}

/** Runs the command as printed. */
export async function callModel({ call }: PrintedCalls): Promise<void> {
  const answer = await runProgram('bash', [
    '-c',
    call.replace('Hello from Sluice', 'My card is 4111 1111 1111 1111.'),
  ])
  if (!answer.includes('"chat.completion"')) throw new Error(answer)
}

const page = z.object({ data: z.array(z.object({ id: z.string() })) })
const stored = z.object({
  safety_scores: z.array(z.object({ scorer_name: z.string(), score_label: z.string() })).default([]),
})

/** Waits until the call that `look` lists is scored as unsafe. */
export async function awaitScores({ look }: PrintedCalls): Promise<void> {
  const [, base, key = ''] = /'([^']+)\?limit=1' -H 'X-Service-Key: ([^']+)'/.exec(look) ?? []
  let found = ''
  await until(
    async () => {
      found = await runProgram('bash', ['-c', look])
      const id = page.parse(JSON.parse(found)).data[0]?.id
      if (id === undefined) return false
      found = await textOf(`${base}/${id}`, { headers: { 'x-service-key': key } })
      const { safety_scores: scores } = stored.parse(JSON.parse(found))
      return scores.some((one) => one.scorer_name === 'pii_detection' && one.score_label === 'unsafe')
    },
    300_000,
    () => found,
  )
}
