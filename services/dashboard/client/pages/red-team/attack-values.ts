import type { Input } from '../../api/call-api.ts'
import type { Transformation } from './red-team-texts.ts'

type Order = Input<'POST /api/redteam-runs'>['body']

/** The form's fields. */
export interface AttackValues {
  agent: string
  kind: 'chat' | 'http'
  url: string
  model: string
  /** One `Name: value` a line. */
  headers: string
  template: string
  answer: string
  probes: string[]
  transformations: Transformation[]
  limit: number | ''
  concurrency: number | ''
  budgetUsd: number | ''
  seed: string
}

export const emptyAttack: AttackValues = {
  agent: '',
  kind: 'chat',
  url: '',
  model: '',
  headers: 'Authorization: Bearer {{key}}',
  template: '{"message": "{{prompt}}", "conversation": "{{session}}"}',
  answer: '/answer',
  probes: [],
  transformations: ['plain'],
  limit: 200,
  concurrency: 4,
  budgetUsd: '',
  seed: '',
}

/** The headers of the form. Undefined: a line is no header. */
export function headersOf(text: string): Record<string, string> | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const pairs = lines.map((line) => /^([A-Za-z0-9-]{1,60}):\s*(\S.*)$/.exec(line.trim()))
  if (pairs.includes(null)) return undefined
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']))
}

/** The order of a run. `isTrial`: of one attack, to see that the target answers. */
export function orderOf(projectId: string, values: AttackValues, isTrial: boolean): Order {
  const { agent, probes, transformations, limit, concurrency, budgetUsd, seed } = values
  return {
    project_id: projectId,
    agent_name: agent,
    target: targetOf(values),
    options: {
      probes,
      transformations: isTrial ? transformations.slice(0, 1) : transformations,
      ...(isTrial ? { limit: 1 } : limit === '' ? {} : { limit }),
      ...(concurrency === '' ? {} : { concurrency }),
    },
    ...(budgetUsd === '' ? {} : { budget_usd: budgetUsd }),
    ...(seed === '' ? {} : { seed }),
  }
}

function targetOf({ kind, url, model, headers, template, answer }: AttackValues): Order['target'] {
  if (kind === 'chat') return { kind, url, ...(model === '' ? {} : { model }) }
  return { kind, url, headers: headersOf(headers) ?? {}, body: template, answer }
}
