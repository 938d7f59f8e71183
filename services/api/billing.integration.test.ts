import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { idToUuid } from '#schemas/ids.ts'
import {
  endSecond,
  event,
  nowS,
  postPaymentEvent,
  startSecond,
  subscription,
  type SigningOptions,
} from '#tests/support/payment-events.ts'
import { startMockPaymentProvider, type MockPaymentProvider } from '#tests/support/mock-payment-provider.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

const secret = 'whsec_for_tests'
const isoOf = (second: number) => new Date(second * 1_000).toISOString()
let api: RunningApi
let provider: MockPaymentProvider
/** A project that no event concerns. */
let bystander: () => Promise<unknown>
let untouched: unknown

beforeAll(async () => {
  provider = await startMockPaymentProvider()
  api = await startApi({
    STRIPE_API_KEY: 'sk_test_123',
    STRIPE_API_BASE: provider.url,
    STRIPE_PRICES: 'pro:price_pro,team:price_team,pro:price_old',
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

const post = (payload: unknown, given: SigningOptions = {}) => postPaymentEvent(api, secret, payload, given)

/** An event of a project's subscription. */
const said = (kind: string, at: number, ...of: Parameters<typeof subscription>) =>
  event(`customer.subscription.${kind}`, at, subscription(...of))

const subscriptionOf = async (key: string) =>
  (await api.call('GET', '/api/billing/subscription', { key })).json

describe('what the payment provider posts', () => {
  test('is taken only with its signature over these very bytes, at most five minutes old', async () => {
    const { projectId, key } = await api.createProject()
    const payload = said('created', nowS(), projectId)
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
    const created = said('created', at, projectId, { status: 'incomplete' })
    const updated = said('updated', at + 1, projectId)
    const upgraded = said('updated', at + 5, projectId, {}, 'price_team')
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
    await post(said('updated', at + 7, projectId, {}, 'price_team'))
    await post(failed)
    expect(await subscriptionOf(key)).toMatchObject({ tier: 'team', status: 'active' })
    await post(said('deleted', at + 9, projectId, { status: 'canceled' }))
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
        await post(said('created', at, projectId))
        const changed = subscription(projectId, state, 'price_team')
        const told = event(`customer.subscription.${type}`, at + 1, changed)
        const failed = event('invoice.payment_failed', at + 2, { subscription: changed.id })
        for (const payload of when === 'before' ? [told, failed] : [failed, told]) await post(payload)
        expect(await subscriptionOf(key)).toMatchObject(after)
      }
    },
  )

  const flags = ['quota_alerted', 'warning_alerted', 'cost_alerted']
  const alertAll = (projectId: string, resetS: number) =>
    api.pool.query(
      `update subscriptions set period_reset_at = $2, ${flags.map((flag) => `${flag} = true`).join()} where project_id = $1`,
      [idToUuid(projectId), isoOf(resetS)],
    )
  const alertedOf = async (projectId: string) => {
    const sql = `select ${flags.join()} from subscriptions where project_id = $1`
    const { rows } = await api.pool.query<Record<string, boolean>>(sql, [idToUuid(projectId)])
    return flags.map((flag) => rows[0]?.[flag])
  }

  test('restarts the count with a period that follows the one before', async () => {
    const { projectId, key } = await api.createProject()
    await api.call('POST', '/internal/log', { key, body: { request_body: {} } })
    await alertAll(projectId, startSecond)
    await post(said('updated', nowS(), projectId))
    expect(await subscriptionOf(key)).toMatchObject({ tier: 'pro', requests_this_period: 0 })
    expect(await alertedOf(projectId)).toEqual([false, false, false])
  })

  test('forgets that the limit of the tier before was reported, and of the same tier does not', async () => {
    const { projectId } = await api.createProject()
    const at = nowS()
    await post(said('created', at, projectId))
    await alertAll(projectId, endSecond)
    await post(said('updated', at + 1, projectId))
    expect(await alertedOf(projectId)).toEqual([true, true, true])
    await post(said('updated', at + 2, projectId, {}, 'price_team'))
    expect(await alertedOf(projectId)).toEqual([false, false, true])
  })

  test('is settled by asking where two events of one second disagree', async () => {
    const { projectId, key } = await api.createProject()
    const at = nowS()
    await post(said('updated', at, projectId))
    provider.subscriptions.set(`sub_${projectId}`, subscription(projectId, {}, 'price_team'))
    await post(said('updated', at, projectId))
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
    const unsold = await post(said('updated', nowS(), projectId, {}, 'price_x'))
    expect([unsold.status, unsold.json['code']]).toEqual([503, 'PAYMENT_PRICE_UNKNOWN'])
    expect(unsold.json['detail']).toContain('price_x')
  })
})

describe('checkout and portal', () => {
  const pages = { success_url: 'https://app.example/done', cancel_url: 'https://app.example/back' }
  const ask = (key: string, tier: string, other = {}) =>
    api.call('POST', '/api/billing/checkout', { key, body: { tier, ...pages, ...other } })

  test('lead to the provider, with the project where its events will name it', async () => {
    const { projectId, key } = await api.createProject()
    const portal = () =>
      api.call('POST', '/api/billing/portal', { key, body: { return_url: 'https://app.example' } })
    expect([(await portal()).status, (await portal()).json['code']]).toEqual([409, 'NO_PAYMENT_CUSTOMER'])
    const checkout = await ask(key, 'team')
    expect([checkout.status, checkout.json]).toEqual([
      200,
      { id: expect.stringMatching(/^checkout_/), url: 'https://pay.example/checkout' },
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
    await post(said('created', nowS(), projectId))
    const other = { client_reference_id: projectId, customer: 'cus_other' }
    const told = await post(event('checkout.session.completed', nowS(), other))
    expect(told.json['outcome']).toBe('ignored')
  })

  test('never sell a second subscription: another tier is a change of the first, what is paid for is refused', async () => {
    const { projectId, key } = await api.createProject()
    await post(said('created', nowS(), projectId))
    // A tier that an operator sets is not paid for. `price_old` was sold for pro before `price_pro`.
    await api.call('PATCH', `/api/projects/${projectId}`, { operator: true, body: { tier: 'team' } })
    for (const [status, price] of Object.entries({ active: 'price_pro', past_due: 'price_old' })) {
      provider.subscriptions.set(`sub_${projectId}`, subscription(projectId, { status }, price))
      const set = 'update subscriptions set status = $2 where project_id = $1'
      await api.pool.query(set, [idToUuid(projectId), status])
      expect((await ask(key, 'pro')).json).toMatchObject({ code: 'SUBSCRIPTION_EXISTS' })
      expect((await ask(key, 'team')).json).toEqual({ id: 'portal_1', url: 'https://pay.example/portal' })
      const change = 'flow_data[subscription_update_confirm]'
      expect(provider.asked.at(-1)?.form).toMatchObject({
        customer: `cus_${projectId}`,
        [`${change}[subscription]`]: `sub_${projectId}`,
        [`${change}[items][0][id]`]: `si_${projectId}`,
        [`${change}[items][0][price]`]: 'price_team',
        'flow_data[after_completion][redirect][return_url]': pages.success_url,
      })
    }
    const ended = subscription(projectId, { status: 'canceled' })
    provider.subscriptions.set(ended.id, ended)
    const customerOf = () => provider.asked.at(-1)?.form['customer']
    const checkedOut = async () => [(await ask(key, 'pro')).json['url'], customerOf()]
    expect(await checkedOut()).toEqual(['https://pay.example/checkout', ended.customer])
    await post(event('customer.subscription.deleted', nowS() + 1, ended))
    // The customer has a newer subscription that no event named yet: a third would be paid beside it.
    const next = subscription(projectId, { id: `next_${projectId}` })
    provider.subscriptions.set(next.id, next)
    expect((await ask(key, 'pro')).json).toMatchObject({ code: 'SUBSCRIPTION_EXISTS' })
    provider.deletedCustomers.add(ended.customer)
    expect(await checkedOut()).toEqual(['https://pay.example/checkout', undefined])
  })

  test('say what is wrong: a tier that is not sold, an address that is none, a provider that refuses or is away', async () => {
    const { key } = await api.createProject()
    const script = { success_url: 'javascript:alert(1)' }
    expect((await ask(key, 'enterprise')).json['detail']).toContain('STRIPE_PRICES')
    expect((await ask(key, 'pro', script)).json['detail']).toContain('success_url')
    try {
      provider.failWith(400)
      expect([(await ask(key, 'pro')).status, (await ask(key, 'pro')).json['code']]).toEqual([
        502,
        'PAYMENT_REFUSED',
      ])
      provider.failWith(500)
      expect((await ask(key, 'pro')).json['code']).toBe('PAYMENT_UNAVAILABLE')
    } finally {
      provider.failWith(null)
    }
  })
})

test('what was reported of others has changed nothing of a project', async () => {
  expect(await bystander()).toEqual(untouched)
})
