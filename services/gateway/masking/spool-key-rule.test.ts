import { expect, jest, test } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import { createSpoolKeyRule } from './spool-key-rule.ts'

const log = createLog('gateway-test', 'silent')
const caller = { projectId: 'prj_1', isEphemeral: false }
const settings = { ...caller, tier: 'team', masks: true } as const
const masks = { settings: () => settings }
const record = Buffer.from('{"id":"req_1","request_body":{"prompt":"jane.roe@acme.org"}}')

test('with SPOOL_KEY nothing is done', () => {
  const rule = createSpoolKeyRule(true, { own: masks, metrics: { masked: jest.fn() }, log })
  expect([rule.keep, rule.problem()]).toEqual([undefined, null])
})

test('without it, only calls of projects that mask are written without bodies, and it is a problem', () => {
  const masked = jest.fn()
  const rule = createSpoolKeyRule(false, { own: undefined, metrics: { masked }, log })
  expect(rule.keep?.(record, caller)).toBe(record)
  expect(rule.problem()).toBeNull()
  const kept = rule.keep?.(record, { ...caller, masks: true }).toString() ?? ''
  expect(kept).not.toContain('jane')
  expect(JSON.parse(kept)).toMatchObject({
    id: 'req_1',
    request_body: { truncated: true, not_masked: 'no_spool_key' },
    masked: [],
  })
  expect(masked.mock.calls).toEqual([['dropped']])
  expect(rule.problem()).toContain('SPOOL_KEY')
})

test("that the gateway's own project masks is a problem before its first call", () => {
  const rule = createSpoolKeyRule(false, { own: masks, metrics: { masked: jest.fn() }, log })
  expect(rule.problem()).toContain('SPOOL_KEY')
})
