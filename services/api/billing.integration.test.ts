import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import Stripe from 'stripe'
import { idToUuid } from '#schemas/ids.ts'
import { startMockPaymentProvider, type MockPaymentProvider } from '#tests/support/mock-payment-provider.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

const secret = 'whsec_for_tests'
/** Of the period that was paid for: begun this month and shorter than one, whenever this runs. */
const startSecond = Math.floor(Date.now() / 1_000)
const endSecond = startSecond + 20 * 86_400
const isoOf = (second: number) => new Date(second * 1_000).toISOString()
let api: RunningApi
let provider: MockPaymentProvider
let serial = 0
/** Of a project that none of what is told is about. */
let bystander: () => Promise<unknown>
let untouched: unknown

beforeAll(async () => {
  provider = await startMockPaymentProvider()
  api = await startApi({
    STRIPE_API_KEY: 'sk_test_123',
    STRIPE_API_BASE: provider.url,
    STRIPE_PRICES: 'pro:price_pro,team:price_team',
    PAYMENT_WEBHOOK_SECRET: secret,
  })
  const id = idToUuid((await api.createProject()).projectId)
  bystander = async () =>
    (await api.pool.query<object>('select * from subscriptions where project_id = $1', [id])).rows[0]
  untouched = await bystander()
})

afterAll(async () => {
  await api.stop()
  await provider.stop()
})

const subscription = (projectId: string, given: Record<string, unknown> = {}, price = 'price_pro') => ({
  object: 'subscription',
  id: `sub_${projectId}`,
  customer: `cus_${projectId}`,
  status: 'active',
  billing_cycle_anchor: startSecond,
  metadata: { project_id: projectId },
  items: {
    data: [
      {
        price: { id: price },
        current_period_start: startSecond,
        current_period_end: endSecond,
      },
    ],
  },
  ...given,
})

const event = (type: string, created: number, object: unknown, id = `evt_${++serial}`) => ({
  id,
  object: 'event',
  type,
  created,
  data: { object },
})

const nowS = () => Math.floor(Date.now() / 1000)

async function post(payload: unknown, { signedWith = secret, at = nowS(), tampered = false } = {}) {
  const body = JSON.stringify(payload)
  const signature = Stripe.webhooks.generateTestHeaderString({
    payload: body,
    secret: signedWith,
    timestamp: at,
  })
  return api.call('POST', '/webhook/payment', {
    headers: { 'stripe-signature': signature },
    body: tampered ? body.replace('active', 'trialing') : body,
  })
}

const subscriptionOf = async (key: string) =>
  (await api.call('GET', '/api/billing/subscription', { key })).json

describe('what the payment provider posts', () => {
  test('is taken only with its signature over these very bytes, at most five minutes old', async () => {
    const { projectId, key } = await api.createProject()
    const payload = event('customer.subscription.created', nowS(), subscription(projectId))
    const refused = [
      await post(payload, { signedWith: 'whsec_other' }),
      await post(payload, { at: nowS() - 301 }),
      await post(payload, { tampered: true }),
      await api.call('POST', '/webhook/payment', { body: payload }),
      await api.call('POST', '/webhook/payment', {
        body: payload,
        headers: { 'stripe-signature': 't=1,v1=00' },
      }),
    ]
    for (const { status, json } of refused)
      expect([status, json['code']]).toEqual([400, 'PAYMENT_SIGNATURE_INVALID'])
    expect(await subscriptionOf(key)).toMatchObject({ tier: 'free' })
    expect((await post(payload, { at: nowS() - 200 })).json).toEqual({ received: true, outcome: 'changed' })
    expect(await subscriptionOf(key)).toMatchObject({ tier: 'pro', limit: 500_000, status: 'active' })
  })

  test('changes tier, period and status, once, whatever the order', async () => {
    const { projectId, key } = await api.createProject()
    await api.call('POST', '/internal/log', { key, body: { request_body: {} } })
    const at = nowS()
    const created = event(
      'customer.subscription.created',
      at,
      subscription(projectId, { status: 'incomplete' }),
    )
    const updated = event('customer.subscription.updated', at + 1, subscription(projectId))
    const upgraded = event('customer.subscription.updated', at + 5, subscription(projectId, {}, 'price_team'))
    for (const payload of [updated, created, upgraded, updated, upgraded, created]) await post(payload)
    expect(await subscriptionOf(key)).toMatchObject({
      tier: 'team',
      status: 'active',
      requests_this_period: 1,
      period_start: isoOf(startSecond),
      period_reset_at: isoOf(endSecond),
    })
    const failed = event('invoice.payment_failed', at + 6, {
      parent: { subscription_details: { subscription: `sub_${projectId}` } },
    })
    await post(failed)
    expect(await subscriptionOf(key)).toMatchObject({ tier: 'team', status: 'past_due' })
    await post(event('customer.subscription.updated', at + 7, subscription(projectId, {}, 'price_team')))
    await post(failed)
    expect(await subscriptionOf(key)).toMatchObject({ tier: 'team', status: 'active' })
    const deleted = event(
      'customer.subscription.deleted',
      at + 9,
      subscription(projectId, { status: 'canceled' }),
    )
    await post(deleted)
    await post(upgraded)
    expect(await subscriptionOf(key)).toMatchObject({
      tier: 'free',
      status: 'canceled',
      requests_this_period: 1,
    })
  })

  test.each(['before', 'after'])(
    'loses neither the end nor an upgrade that are told %s a later failed payment',
    async (when) => {
      for (const [type, state, after] of [
        ['deleted', { status: 'canceled' }, { tier: 'free', status: 'canceled' }],
        ['updated', {}, { tier: 'team', status: when === 'before' ? 'past_due' : 'active' }],
      ] as const) {
        const { projectId, key } = await api.createProject()
        const at = nowS()
        await post(event('customer.subscription.created', at, subscription(projectId)))
        const changed = subscription(projectId, state, 'price_team')
        const told = event(`customer.subscription.${type}`, at + 1, changed)
        const failed = event('invoice.payment_failed', at + 2, { subscription: changed.id })
        for (const payload of when === 'before' ? [told, failed] : [failed, told]) await post(payload)
        expect(await subscriptionOf(key)).toMatchObject(after)
      }
    },
  )

  test('starts the count anew with a period that follows the one before', async () => {
    const { projectId, key } = await api.createProject()
    await api.call('POST', '/internal/log', { key, body: { request_body: {} } })
    await api.pool.query(
      `update subscriptions set period_reset_at = $2, quota_alerted = true, warning_alerted = true, cost_alerted = true
       where project_id = $1`,
      [idToUuid(projectId), isoOf(startSecond)],
    )
    await post(event('customer.subscription.updated', nowS(), subscription(projectId)))
    expect(await subscriptionOf(key)).toMatchObject({ tier: 'pro', requests_this_period: 0 })
    const alerted =
      'select from subscriptions where project_id = $1 and (quota_alerted or warning_alerted or cost_alerted)'
    expect((await api.pool.query(alerted, [idToUuid(projectId)])).rowCount).toBe(0)
  })

  test('is settled by asking where two events of one second disagree', async () => {
    const { projectId, key } = await api.createProject()
    const at = nowS()
    await post(event('customer.subscription.updated', at, subscription(projectId)))
    provider.subscriptions.set(`sub_${projectId}`, subscription(projectId, {}, 'price_team'))
    await post(event('customer.subscription.updated', at, subscription(projectId)))
    expect(await subscriptionOf(key)).toMatchObject({ tier: 'team' })
  })

  test('changes nothing when it is of nobody here, of another kind, or of the wrong form', async () => {
    const stranger = subscription('prj_01h455vb4pex5vsknk084sn02q')
    expect((await post(event('customer.subscription.updated', nowS(), stranger))).json['outcome']).toBe(
      'unknown_project',
    )
    expect((await post(event('customer.created', nowS(), {}))).json['outcome']).toBe('ignored')
    const malformed = await post(
      event('customer.subscription.updated', nowS(), { id: 'sub_x', metadata: { __proto__: 1 } }),
    )
    expect([malformed.status, malformed.json['code']]).toEqual([422, 'INVALID_INPUT'])
    const { projectId } = await api.createProject()
    const unsold = await post(
      event('customer.subscription.updated', nowS(), subscription(projectId, {}, 'price_x')),
    )
    expect([unsold.status, unsold.json['code']]).toEqual([503, 'PAYMENT_PRICE_UNKNOWN'])
    expect(unsold.json['detail']).toContain('price_x')
  })
})

describe('checkout and portal', () => {
  const pages = { success_url: 'https://app.example/done', cancel_url: 'https://app.example/back' }

  test('lead to the provider, with the project where its events will name it', async () => {
    const { projectId, key } = await api.createProject()
    const portal = () =>
      api.call('POST', '/api/billing/portal', { key, body: { return_url: 'https://app.example' } })
    expect([(await portal()).status, (await portal()).json['code']]).toEqual([409, 'NO_PAYMENT_CUSTOMER'])
    const checkout = await api.call('POST', '/api/billing/checkout', {
      key,
      body: { tier: 'team', ...pages },
    })
    expect([checkout.status, checkout.json]).toEqual([
      200,
      { id: 'checkout_1', url: 'https://pay.example/checkout' },
    ])
    expect(provider.asked.at(-1)).toMatchObject({
      authorization: 'Bearer sk_test_123',
      form: {
        mode: 'subscription',
        client_reference_id: projectId,
        'subscription_data[metadata][project_id]': projectId,
        'line_items[0][price]': 'price_team',
        ...pages,
      },
    })
    await post(
      event('checkout.session.completed', nowS(), { client_reference_id: projectId, customer: 'cus_9' }),
    )
    expect((await portal()).json).toEqual({ url: 'https://pay.example/portal' })
    expect(provider.asked.at(-1)?.form).toEqual({ customer: 'cus_9', return_url: 'https://app.example' })
    await post(event('customer.subscription.created', nowS(), subscription(projectId)))
    const other = { client_reference_id: projectId, customer: 'cus_other' }
    const told = await post(event('checkout.session.completed', nowS(), other))
    expect(told.json['outcome']).toBe('ignored')
    const again = await api.call('POST', '/api/billing/checkout', { key, body: { tier: 'team', ...pages } })
    expect([again.status, again.json['code']]).toEqual([409, 'SUBSCRIPTION_EXISTS'])
    // Nor is a second one sold to whoever owes for the first.
    await api.pool.query("update subscriptions set status = 'past_due' where project_id = $1", [
      idToUuid(projectId),
    ])
    const owing = await api.call('POST', '/api/billing/checkout', { key, body: { tier: 'team', ...pages } })
    expect([owing.status, owing.json['code']]).toEqual([409, 'SUBSCRIPTION_EXISTS'])
  })

  test('say what is wrong: a tier that is not sold, an address that is none, a provider that refuses or is away', async () => {
    const { key } = await api.createProject()
    const ask = (body: object) =>
      api.call('POST', '/api/billing/checkout', { key, body: { tier: 'pro', ...pages, ...body } })
    expect((await ask({ tier: 'enterprise' })).json['detail']).toContain('STRIPE_PRICES')
    expect((await ask({ success_url: 'javascript:alert(1)' })).json['detail']).toContain('success_url')
    try {
      provider.failWith(400)
      expect([(await ask({})).status, (await ask({})).json['code']]).toEqual([502, 'PAYMENT_REFUSED'])
      provider.failWith(500)
      expect((await ask({})).json['code']).toBe('PAYMENT_UNAVAILABLE')
    } finally {
      provider.failWith(null)
    }
  })
})

test('what was told of others has changed nothing of a project', async () => {
  expect(await bystander()).toEqual(untouched)
})
