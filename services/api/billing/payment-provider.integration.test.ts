import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import Stripe from 'stripe'
import { freePorts } from '#infra/embedded/free-port.ts'
import { until } from '#tests/support/until.ts'
import { createPaymentProvider } from './payment-provider.ts'

// Runs against Stripe's own description of its API, where Go has installed stripe-mock.
const stripeMock = path.join(import.meta.dirname, '..', '..', '..', '.cache', 'stripe-mock')
const install = 'GOBIN=$PWD/.cache go install github.com/stripe/stripe-mock@latest'

describe('against stripe-mock', () => {
  if (!existsSync(stripeMock)) {
    process.stderr.write(`skipped: there is no .cache/stripe-mock; to have this test run: ${install}\n`)
    test.skip(`what we ask is what Stripe's API describes (needs ${install})`, () => undefined)
    return
  }
  let mock: ChildProcess
  let baseUrl: string

  beforeAll(async () => {
    const [port = 0] = await freePorts(1)
    baseUrl = `http://127.0.0.1:${port}`
    mock = spawn(stripeMock, ['-http-addr', `127.0.0.1:${port}`, '-https-addr', '127.0.0.1:0'], {
      stdio: 'ignore',
    })
    await until(async () => (await fetch(baseUrl).catch(() => undefined)) !== undefined)
  })

  afterAll(() => {
    mock.kill()
  })

  test("what we ask is what Stripe's API describes, and its subscription can be read", async () => {
    const stripe = createPaymentProvider({ apiKey: 'sk_test_123', baseUrl })
    const projectId = 'prj_01h455vb4pex5vsknk084sn02q'
    const session = await stripe.createCheckout({
      projectId,
      price: 'price_1',
      customerId: 'cus_1',
      successUrl: 'https://app.example/done',
      cancelUrl: 'https://app.example/back',
    })
    expect(session.id).toMatch(/^cs_/)
    // The list is made up.
    const listed = await new Stripe('sk_test_123', {
      host: '127.0.0.1',
      port: new URL(baseUrl).port,
      protocol: 'http',
    }).subscriptions.list({ customer: 'cus_1' })
    const change = await stripe.createPriceChange({
      projectId,
      customerId: 'cus_1',
      subscriptionId: listed.data[0]?.id ?? null,
      price: 'price_2',
      isOfTier: () => false,
      successUrl: 'https://app.example/done',
      cancelUrl: 'https://app.example/back',
    })
    expect(change?.url).toMatch(/^https:/)
    expect((await stripe.createPortal('cus_1', 'https://app.example')).url).toMatch(/^https:/)
    const read = await stripe.findSubscription('sub_1')
    expect(read).toMatchObject({
      subscriptionId: 'sub_1',
      status: expect.any(String) as unknown,
    })
    expect(read.prices).toHaveLength(1)
    expect(read.periodStartMs).toBeGreaterThan(0)
  })
})
