import { expect, test } from '@jest/globals'
import { suppressionsOf, type SuppressibleScore, type SuppressionRule } from './suppression.ts'

const nowMs = 1_000_000
const [one, other] = [Buffer.alloc(16, 1), Buffer.alloc(16, 2)]
const rule = (changes: Partial<SuppressionRule> = {}): SuppressionRule => ({
  ...{ id: 'sup_1', scorer_name: 'pii_detection', kind: null, agent_name: null, tool_name: null },
  ...{ has_value: false, value_hash: null, max_severity: 'high', expires_at: null, ...changes },
})
const ofValue = (hash: Buffer, id = 'sup_1') => rule({ id, has_value: true, value_hash: hash })
const found = (hash: Buffer | null = one, kind = 'phone', tool: string | null = null) => ({
  kind,
  tool,
  hash,
})
const score = (changes: Partial<SuppressibleScore> = {}): SuppressibleScore => ({
  ...{ scorer_name: 'pii_detection', severity: 'high', agent_name: 'support', tool_name: null },
  ...{ found_values: [found()], found_more: false, ...changes },
})

test.each<[name: string, rules: SuppressionRule[], score: SuppressibleScore, covering: string[]]>([
  ['the whole scorer', [rule()], score({ found_values: null, found_more: null }), ['sup_1']],
  ['another scorer', [rule({ scorer_name: 'jailbreak_detection' })], score(), []],
  ['a severity above', [rule()], score({ severity: 'critical' }), []],
  ['the severity itself', [rule({ max_severity: 'critical' })], score({ severity: 'critical' }), ['sup_1']],
  ['no severity', [rule({ max_severity: 'critical' })], score({ severity: null }), []],
  ['the agent', [rule({ agent_name: 'support' })], score(), ['sup_1']],
  ['another agent', [rule({ agent_name: 'sales' })], score(), []],
  ['an agent, of a call without one', [rule({ agent_name: 'support' })], score({ agent_name: null }), []],
  ['expired now', [rule({ expires_at: new Date(nowMs) })], score(), []],
  ['not yet expired', [rule({ expires_at: new Date(nowMs + 1) })], score(), ['sup_1']],
  ['the kind', [rule({ kind: 'phone' })], score(), ['sup_1']],
  ['another kind', [rule({ kind: 'email' })], score(), []],
  ['a kind, of a score without a span', [rule({ kind: 'phone' })], score({ found_values: [] }), []],
  ['the value', [ofValue(one)], score(), ['sup_1']],
  ['another value', [ofValue(other)], score(), []],
  ['a value that was not hashed', [ofValue(one)], score({ found_values: [found(null)] }), []],
  ['a forgotten value', [rule({ has_value: true })], score({ found_values: [found(null)] }), []],
  ['the value beside another', [ofValue(one)], score({ found_values: [found(), found(other)] }), []],
  [
    'both values',
    [ofValue(other, 'sup_2'), ofValue(one)],
    score({ found_values: [found(), found(other)] }),
    ['sup_1', 'sup_2'],
  ],
  ['the value, where there is more', [ofValue(one)], score({ found_more: true }), []],
  ['the value, of a record that does not say', [ofValue(one)], score({ found_more: null }), []],
  ['the kind, where there is more', [rule({ kind: 'phone' })], score({ found_more: true }), []],
  [
    "the call's tool, where there is more",
    [rule({ tool_name: 't' })],
    score({ tool_name: 't', found_more: true }),
    ['sup_1'],
  ],
  [
    'the tool of the value',
    [rule({ tool_name: 't' })],
    score({ found_values: [found(one, 'x', 't')] }),
    ['sup_1'],
  ],
  ['another tool', [rule({ tool_name: 't' })], score({ found_values: [found(one, 'x', 'u')] }), []],
  [
    'kind of one rule and tool of another',
    [rule({ kind: 'x' }), rule({ id: 'sup_2', tool_name: 't' })],
    score({ found_values: [found(one, 'x', 'u'), found(other, 'y', 't')] }),
    ['sup_1', 'sup_2'],
  ],
  [
    'kind and tool of different values',
    [rule({ kind: 'x', tool_name: 't' })],
    score({ found_values: [found(one, 'x', 'u'), found(one, 'y', 't')] }),
    [],
  ],
])('%s', (_name, rules, given, covering) => {
  expect(suppressionsOf(rules, given, nowMs).map(({ id }) => id)).toEqual(covering)
})
