import { expect, test } from '@jest/globals'
import OpenAI from 'openai'
import { newId } from '#schemas/ids.ts'
import { chatPath, idOf, useGateway } from '#tests/support/gateway-fixture.ts'
import { sized } from '#tests/support/raw-upstream.ts'
import { proxyKey } from '#tests/support/start-gateway.ts'

const world = useGateway()
const json = ['Content-Type: application/json']

test("an official client's retry is a call of its own, also in another process", async () => {
  const other = await world.startAnother({})
  const attempts: string[] = []
  const ids: (string | null)[] = []
  const client = new OpenAI({
    apiKey: proxyKey,
    baseURL: `${world.gateway.url}/v1`,
    maxRetries: 1,
    fetch: async (_url, init) => {
      const through = attempts.length === 0 ? world.gateway : other
      attempts.push(through.url)
      const response = await fetch(through.url + chatPath, init)
      ids.push(idOf(response))
      return response
    },
  })
  world.upstream.answer((socket, request) => {
    const isFirst = attempts.length === 1
    const body = isFirst ? '{"error":{"message":"busy"}}' : '{"object":"chat.completion","choices":[]}'
    sized(isFirst ? '500 Busy' : '200 OK', json, body)(socket, request)
  })
  const id = newId('request')
  await client.chat.completions.create(
    { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
    { headers: { 'X-Service-Request-Id': id } },
  )
  expect(ids[0]).toBe(id)
  expect(ids[1]).not.toBe(id)
  expect(await world.recordOf(id)).toMatchObject({ status_code: 500 })
  expect(await world.recordOf(ids[1] ?? null)).toMatchObject({ status_code: 200 })
  await other.stop()
})
