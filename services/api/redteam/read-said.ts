import { z } from 'zod'
import { parseJson } from '#capture/json.ts'
import { PermanentError } from '#runtime/errors.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { sealedIdentity, type SealedPart } from '#schemas/sealed-bytes.ts'
import type { AttemptWithBodies } from '../stores/redteam-attempts.ts'
import type { SaidInAttempt } from './garak-lines.ts'

const requestSchema = z.object({
  messages: z.array(z.looseObject({ role: z.string(), content: z.string().nullish() })),
})
const responseSchema = z.object({
  choices: z.array(
    z.looseObject({
      message: z.looseObject({ content: z.string().nullish(), tool_calls: z.unknown().optional() }),
    }),
  ),
})

/**
 * The texts of an attempt, from its call's bodies; null where these are erased, never kept or cannot be
 * opened.
 */
export function readSaid(
  { attempt, bodies }: AttemptWithBodies,
  projectId: string,
  sealer: Sealer,
): SaidInAttempt | null {
  if (bodies === null) return null
  const requestId = attempt.found_in ?? attempt.request_id
  const open = (part: SealedPart, sealed: typeof bodies.request): unknown => {
    if (sealed === null) return null
    try {
      return parseJson(sealer.open(sealed, sealedIdentity(projectId, requestId, part)).toString('utf8'))
    } catch (error) {
      // A partial report is better than none.
      if (error instanceof PermanentError) return null
      throw error
    }
  }
  const request = requestSchema.safeParse(open('request_body', bodies.request))
  const response = responseSchema.safeParse(open('response_body', bodies.response))
  if (!request.success) return null
  const message = response.data?.choices[0]?.message
  const called =
    message?.tool_calls === undefined || message.tool_calls === null ? '' : JSON.stringify(message.tool_calls)
  return {
    turns: request.data.messages.map(({ role, content }) => ({ role, text: content ?? '' })),
    output:
      message === undefined ? null : [message.content ?? '', called].filter((text) => text !== '').join('\n'),
  }
}
