import { tableOf } from '../../support/documented-page.ts'
import type { Difference } from './compare.ts'
import { declared, differences } from './differences.ts'
import { doors } from './doors.ts'

/** Columns of the page, each with the compared fields that it stands for. */
const columns: Readonly<Record<string, readonly Difference['field'][]>> = {
  'words asked': ['instructions', 'messages', 'tool_results'],
  answer: ['answer'],
  'tool calls': ['tool_calls', 'tool_names'],
  'tools offered': ['tools'],
  images: ['images'],
  thoughts: ['thoughts'],
  tokens: ['prompt_tokens', 'completion_tokens'],
  cached: ['cached_tokens'],
  'of thoughts': ['reasoning_tokens'],
  cost: ['cost_usd'],
  status: ['status_code'],
  'error text': ['error'],
  'why it ended': ['finish_reason'],
  'first token': ['first_token'],
  parameters: ['temperature'],
}
const reasons = [...new Set(differences.map(({ reason }) => reason))]

/** What every door carries, for docs/opentelemetry.md: `yes`, or the number of the reason. */
export function describeDoors(): string {
  const rows = doors.map((door) => [
    door.title,
    ...Object.values(columns).map((fields) => {
      const found = declared(door).filter((one) => one.fields.some((field) => fields.includes(field)))
      const numbers = new Set(found.map(({ reason }) => reasons.indexOf(reason) + 1))
      return numbers.size === 0 ? 'yes' : [...numbers].sort((a, b) => a - b).join(', ')
    }),
  ])
  const list = reasons.map((reason, at) => `${at + 1}. ${reason}`)
  return `${tableOf(['way in', ...Object.keys(columns)], rows)}\n\n${list.join('\n')}`
}
