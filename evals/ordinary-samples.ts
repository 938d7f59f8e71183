import { readCall } from '#detectors/call-text.ts'
import type { OrdinaryCall } from './ordinary-traffic.ts'
import type { Sample } from './samples.ts'

/** Names of the sets that `ordinarySamples` makes. */
export const ordinaryAsked = 'ordinary, asked'
export const ordinaryAnswered = 'ordinary, answered'

/** What people and models say in ordinary calls, as innocent samples: each text once. */
export function ordinarySamples(calls: readonly OrdinaryCall[]): Sample[] {
  const innocent = calls.filter(({ may }) => !may.includes('content_safety'))
  return innocent.flatMap(({ id, request, response }) => {
    const body = (value: object) => ({ json: JSON.stringify(value), value })
    const { texts } = readCall(body(request), response === null ? null : body(response))
    return texts.flatMap(({ part, speaker, text }, at) => {
      const isAsked = part === 'request_body' && speaker === 'user'
      const isAnswered = part === 'response_body' && speaker === 'assistant'
      if (!isAsked && !isAnswered) return []
      return [
        {
          id: `${id}-${at}`,
          set: isAsked ? ordinaryAsked : ordinaryAnswered,
          scorer: 'content_safety' as const,
          label: 0 as const,
          prompt: isAsked ? text : '',
          response: isAsked ? '' : text,
          context: '',
          system: '',
          spans: [],
        },
      ]
    })
  })
}
