import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { idToUuid } from '#schemas/ids.ts'
import { subscription } from '#tests/support/payment-events.ts'
import { startMockPaymentProvider, type MockPaymentProvider } from '#tests/support/mock-payment-provider.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

let api: RunningApi
let provider: MockPaymentProvider

beforeAll(async () => {
  provider = await startMockPaymentProvider()
  api = await startApi({
    STRIPE_API_KEY: 'sk_test_123',
    STRIPE_API_BASE: provider.url,
    STRIPE_PRICES: 'pro:price_pro,team:price_team',
    PAYMENT_WEBHOOK_SECRET: 'whsec_for_tests',
  })
})

afterAll(async () => {
  await api.stop()
  await provider.stop()
})

const checkOut = async (key: string, tier = 'pro') => {
  const pages = { success_url: 'https://app.example/done', cancel_url: 'https://app.example/back' }
  const { status, json } = await api.call('POST', '/api/billing/checkout', { key, body: { tier, ...pages } })
  return { status, code: json['code'], id: String(json['id']) }
}
const statusesOf = (...ids: string[]) => ids.map((id) => provider.checkouts.get(id)?.status)

test('of a project one checkout can be paid: the page before it is closed, and no other project’s', async () => {
  const [own, others] = [await api.createProject(), await api.createProject()]
  const other = await checkOut(others.key)
  const ids = [
    (await checkOut(own.key)).id,
    (await checkOut(own.key, 'team')).id,
    (await checkOut(own.key)).id,
  ]
  expect(statusesOf(...ids, other.id)).toEqual(['expired', 'expired', 'open', 'open'])
})

test('what was paid is known before its event comes: nothing is sold twice', async () => {
  const { projectId, key } = await api.createProject()
  const { id } = await checkOut(key)
  const paid = subscription(projectId)
  provider.checkouts.set(id, { status: 'complete', customer: paid.customer })
  provider.subscriptions.set(paid.id, paid)
  expect(await checkOut(key)).toMatchObject({ status: 409, code: 'SUBSCRIPTION_EXISTS' })
  expect(await checkOut(key, 'team')).toMatchObject({ status: 200, id: 'portal_1' })
  // It ended without an event.
  provider.subscriptions.set(paid.id, subscription(projectId, { status: 'canceled' }))
  const next = await checkOut(key)
  expect(statusesOf(id, next.id)).toEqual(['complete', 'open'])
})

test('anyone who pays now is asked first: a checkout of another customer, whose subscription is over, sells no second one', async () => {
  const { projectId, key } = await api.createProject()
  const { id } = await checkOut(key)
  provider.checkouts.set(id, { status: 'complete', customer: 'cus_before' })
  const current = subscription(projectId, { id: `sub_2_${projectId}`, customer: `cus_2_${projectId}` })
  provider.subscriptions.set(current.id, current)
  await api.pool.query(
    'update subscriptions set payment_customer_id = $2, payment_subscription_id = $3 where project_id = $1',
    [idToUuid(projectId), current.customer, current.id],
  )
  expect(await checkOut(key, 'team')).toMatchObject({ status: 200, id: 'portal_1' })
})

test('a page that is past, or that the provider knows no more, is in nobody’s way', async () => {
  const { key } = await api.createProject()
  const past = await checkOut(key)
  provider.checkouts.set(past.id, { status: 'expired', customer: null })
  const gone = await checkOut(key)
  provider.checkouts.delete(gone.id)
  const next = await checkOut(key)
  expect(statusesOf(past.id, gone.id, next.id)).toEqual(['expired', undefined, 'open'])
})

test('of checkouts that are begun at the same moment one can be paid', async () => {
  const { projectId, key } = await api.createProject()
  const begun = await Promise.all(Array.from({ length: 8 }, () => checkOut(key)))
  const refused = begun.filter(({ status }) => status !== 200)
  expect(refused.every(({ code }) => code === 'CHECKOUT_UNDER_WAY')).toBe(true)
  const forms = provider.asked.filter(({ form }) => form['client_reference_id'] === projectId)
  expect(forms.length).toBe(8)
  const ids = begun.filter(({ status }) => status === 200).map(({ id }) => id)
  expect(statusesOf(...ids).filter((status) => status === 'open')).toHaveLength(1)
})

test('where the provider does not answer, the page before it stays the one that is known', async () => {
  const { key } = await api.createProject()
  const { id } = await checkOut(key)
  try {
    provider.failWith(500)
    expect(await checkOut(key)).toMatchObject({ status: 503, code: 'PAYMENT_UNAVAILABLE' })
  } finally {
    provider.failWith(null)
  }
  const next = await checkOut(key)
  expect(statusesOf(id, next.id)).toEqual(['expired', 'open'])
})
