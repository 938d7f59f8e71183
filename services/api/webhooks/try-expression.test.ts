import { expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { newId } from '#schemas/ids.ts'
import { tryExpression } from './try-expression.ts'

const sealer = createSealer([])
const toolCall: RaisedEvent = {
  id: newId('event'),
  event: 'threat_detected',
  project_id: newId('project'),
  created_at: Date.now(),
  data: Buffer.from(JSON.stringify({ severity: 'high', arguments: { text: 'a'.repeat(65_000) } })),
  content: null,
  content_id: null,
  webhook_id: null,
}

test('expressions that cost fail, and let others have a turn meanwhile', async () => {
  let turns = 0
  let next = setImmediate(function count() {
    turns++
    next = setImmediate(count)
  })
  const events = Array.from({ length: 20 }, () => toolCall)
  const costly = Array(60).fill("data.arguments.text.contains('ab')").join(' || ').slice(0, 1_990)
  const expression = costly.slice(0, costly.lastIndexOf(' || '))
  const { error, tried } = await tryExpression(expression, events, sealer)
  clearImmediate(next)
  expect(error).toBeNull()
  expect(tried.map(({ outcome }) => outcome)).toEqual(events.map(() => 'failed'))
  expect(tried[0]?.message).toContain('reads too much text')
  expect(turns).toBeGreaterThan(0)
})

test('as many events are tried as the expressions of a project may cost on one', async () => {
  const expression = `data.arguments.text == 'a' || ${Array(14).fill("data.arguments.text.contains('ab')").join(' || ')}`
  const { tried } = await tryExpression(expression, Array(100).fill(toolCall), sealer)
  expect(new Set(tried.map(({ outcome }) => outcome))).toEqual(new Set(['held_back']))
  expect(tried.length).toBeGreaterThan(40)
  expect(tried.length).toBeLessThan(60)
})
