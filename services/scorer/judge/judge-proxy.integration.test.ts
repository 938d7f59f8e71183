import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { parseNoProxy } from '#runtime/egress/no-proxy.ts'
import { startConnectProxy, type ConnectProxy } from '#tests/support/connect-proxy.ts'
import { startMockJudge, type MockJudge } from '#tests/support/mock-judge.ts'
import { createOpenAiModel } from './ask-openai.ts'

let judge: MockJudge
let proxy: ConnectProxy
beforeEach(async () => {
  judge = await startMockJudge()
  proxy = await startConnectProxy({ leads: new Map([['judge.test:80', Number(new URL(judge.url).port)]]) })
})
afterEach(async () => {
  await proxy.stop()
  await judge.stop()
})

const ask = (baseUrl: string) => {
  const model = createOpenAiModel({
    ...{ apiKey: 'k', baseUrl, model: 'm', timeoutMs: 60_000, azureApiVersion: undefined, markKey: null },
    egress: { UPSTREAM_PROXY_URL: proxy.url, NO_PROXY: parseNoProxy([]) },
  })
  const user = 'BEGIN\n{"request":"","answer":""}'
  return model(
    { messages: [{ role: 'user', content: user }], answerTokens: 10 },
    new AbortController().signal,
  )
}

test('the judge is asked through the proxy', async () => {
  expect(await ask('http://judge.test/v1')).toMatchObject({ promptTokens: 900, completionTokens: 60 })
  expect([proxy.targets, judge.asked()]).toEqual([['judge.test:80'], 1])
})

test('one on this machine is asked directly', async () => {
  expect(await ask(judge.url)).toMatchObject({ promptTokens: 900 })
  expect(proxy.targets).toEqual([])
})

test('a proxy that refuses is named as such', async () => {
  proxy.refuseWith(403)
  await expect(ask('http://judge.test/v1')).rejects.toThrow(
    'the judge is unreachable: the egress proxy answered 403',
  )
})
