import { describe, expect, test } from '@jest/globals'
import { makeRedteamMark } from '#schemas/redteam-mark.ts'
import { chatBody, chatPath, idOf, useGateway } from '#tests/support/gateway-fixture.ts'

const world = useGateway()

describe('the mark of a red team', () => {
  const secret = 'a-secret-of-the-operator'

  test('keeps one call from being recorded; forged, used or without a secret it changes nothing', async () => {
    const another = await world.startAnother({ REDTEAM_MARK_SECRET: secret })
    try {
      const marked = makeRedteamMark(secret, chatBody, Date.now())
      const send = async (mark: string, through = another) =>
        idOf(await world.post(chatPath, { headers: { 'x-service-redteam-mark': mark } }, through)) ?? ''
      const attack = await send(marked)
      const lines = world.upstream.requests[0]?.lines.join('\n')
      const recorded = [
        await send(marked),
        await send(makeRedteamMark('somebody-elses-secret', chatBody, Date.now())),
        await send(makeRedteamMark(secret, `${chatBody} `, Date.now())),
        await send(makeRedteamMark(secret, chatBody, Date.now() - 3_600_000)),
        await send('v1'),
        await send(makeRedteamMark(secret, chatBody, Date.now()), world.gateway),
      ]
      for (const id of recorded) expect(await world.recordOf(id)).toMatchObject({ source: 'gateway' })
      expect(world.receiver.taken.filter(({ id }) => id === attack)).toEqual([])
      expect(lines).not.toMatch(/x-service/i)
      const counts = await another.metrics.registry.getSingleMetricAsString(
        'sluice_gateway_redteam_marks_total',
      )
      expect(counts.match(/\{outcome=.*/g)).toEqual([
        ...['{outcome="genuine"} 1', '{outcome="forged"} 3', '{outcome="expired"} 1'],
        ...['{outcome="used"} 1', '{outcome="no_secret"} 0'],
      ])
    } finally {
      await another.stop()
    }
  })

  test('is looked for on a body that is too long to be kept whole', async () => {
    const another = await world.startAnother({ REDTEAM_MARK_SECRET: secret, CAPTURE_MAX_BYTES: '65536' })
    try {
      const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(400_000) }] })
      const headers = { 'x-service-redteam-mark': makeRedteamMark(secret, body, Date.now()) }
      const attack = idOf(await world.post(chatPath, { body, headers }, another))
      await world.recordOf(idOf(await world.post(chatPath, { body }, another)))
      expect(world.receiver.taken.filter(({ id }) => id === attack)).toEqual([])
    } finally {
      await another.stop()
    }
  })
})
