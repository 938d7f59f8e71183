import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startApi, type Answer, type RunningApi } from '#tests/support/start-api.ts'
import { startDashboard, type RunningDashboard, type TestBrowser } from '#tests/support/start-dashboard.ts'
import {
  startOpenidProvider,
  testClient,
  type TestAccount,
  type TestOpenidProvider,
} from '#tests/support/openid-test-provider.ts'
import {
  createOpenidProvider,
  type OpenidOptions,
  type Role,
  type VerifiedIdentity,
} from './openid-provider.ts'

/** The public address; tests use the port. */
const dashboardUrl = 'https://sluice.example.com'

let api: RunningApi
let provider: TestOpenidProvider
let dashboard: RunningDashboard

beforeAll(async () => {
  provider = await startOpenidProvider(`${dashboardUrl}/bff/oidc/callback`)
  api = await startApi()
  dashboard = await startDashboard(api.baseUrl, {
    DASHBOARD_URL: dashboardUrl,
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: testClient.id,
    OIDC_CLIENT_SECRET: testClient.secret,
    OIDC_SCOPES: 'openid profile email groups',
    OIDC_LABEL: 'Example',
    OIDC_GROUP_ROLES: 'safety=analyst,everybody=viewer,root=admin',
  })
})
afterAll(async () => {
  await dashboard.stop()
  await api.stop()
  await provider.stop()
})

const account = (sub: string, claims: object = {}): TestAccount => ({
  sub,
  email: `${sub}@example.com`,
  email_verified: true,
  name: `Name of ${sub}`,
  groups: ['everybody'],
  ...claims,
})

/** Goes through the provider, up to its redirect back. */
async function comeBack(
  browser: TestBrowser,
  who: TestAccount,
  returnTo = '/requests?model=a',
): Promise<string> {
  provider.signsIn(who)
  const query = new URLSearchParams({ return_to: returnTo })
  const begun = await browser.send('GET', `/bff/oidc/start?${query.toString()}`)
  return walk(String(begun.headers.get('location')), provider.issuer)
}

/** Follows the provider's redirects like a browser; the path of the last one. */
async function walk(begun: string, issuer: string): Promise<string> {
  let address = begun
  const jar: string[] = []
  while (address.startsWith(issuer)) {
    const answer = await fetch(address, { redirect: 'manual', headers: { cookie: jar.join('; ') } })
    jar.push(...answer.headers.getSetCookie().map((line) => line.split(';', 1)[0] ?? ''))
    address = new URL(String(answer.headers.get('location')), issuer).href
  }
  expect(address.startsWith(`${dashboardUrl}/bff/oidc/callback?`)).toBe(true)
  return address.slice(dashboardUrl.length)
}

/** A request as from another site. */
const finish = (browser: TestBrowser, path: string): Promise<Answer> =>
  browser.send('GET', path, { headers: { 'sec-fetch-site': 'cross-site' } })

async function signIn(browser: TestBrowser, who: TestAccount, returnTo?: string): Promise<string> {
  const answer = await finish(browser, await comeBack(browser, who, returnTo))
  expect(answer.status).toBe(303)
  return String(answer.headers.get('location'))
}

test('people come by single sign-on, are made with the role of their groups, and go where they wanted', async () => {
  const browser = dashboard.browser()
  const ways = await browser.send('GET', '/bff/login')
  expect(ways.json).toEqual({ password: true, oidc: { label: 'Example' } })
  expect(await signIn(browser, account('ada', { groups: ['everybody', 'safety'] }))).toBe('/requests?model=a')
  const me = await browser.send('GET', '/bff/me')
  expect(me.json).toMatchObject({
    login: 'ada@example.com',
    name: 'Name of ada',
    role: 'analyst',
    projects: [],
    project_count: 0,
  })
  expect(browser.cookie()).toMatch(/^__Host-sluice=s%3A[^;]+$/)
})

test('are the same the next time, by who they are at the provider and not by what they are called', async () => {
  const [first, second] = [dashboard.browser(), dashboard.browser()]
  await signIn(first, account('grace', { groups: ['root'] }))
  const { json } = await first.send('GET', '/bff/me')
  await signIn(second, account('grace', { email: 'grace.h@example.com' }))
  const again = await second.send('GET', '/bff/me')
  expect([again.json['id'], again.json['login'], again.json['role']]).toEqual([
    json['id'],
    'grace@example.com',
    'viewer',
  ])
  // The groups' current role also applies to the older login.
  expect((await first.send('GET', '/bff/me')).json['role']).toBe('viewer')
})

test('may have an apostrophe in their address and a name that is cut within a character', async () => {
  const browser = dashboard.browser()
  const name = `${'n'.repeat(199)}\u{1F600}`
  await signIn(browser, account("o'brien", { name }))
  expect((await browser.send('GET', '/bff/me')).json).toMatchObject({
    login: "o'brien@example.com",
    name: `${'n'.repeat(199)}\uFFFD`,
  })
})

test('are made once, though they come for the first time in two windows at once', async () => {
  const [one, two] = [dashboard.browser(), dashboard.browser()]
  const paths = [await comeBack(one, account('twice')), await comeBack(two, account('twice'))] as const
  const answers = await Promise.all([finish(one, paths[0]), finish(two, paths[1])])
  expect(answers.map(({ headers }) => headers.get('location'))).toEqual([
    '/requests?model=a',
    '/requests?model=a',
  ])
  const ids = await Promise.all(
    [one, two].map(async (browser) => (await browser.send('GET', '/bff/me')).json['id']),
  )
  expect(ids[0]).toBe(ids[1])
})

test("anyone who has somebody's login is not them; who was made for single sign-on is, once the provider has verified it", async () => {
  const make = (login: string, password: string | null) =>
    api.call('POST', '/api/people', {
      operator: true,
      body: { login, name: login, role: 'viewer', password },
    })
  await make('linus@example.com', 'a password of their own')
  expect(await signIn(dashboard.browser(), account('linus'))).toBe('/?sign_in_error=LOGIN_TAKEN')
  const made = await make('barbara@example.com', null)
  const unverified = account('barbara', { email_verified: false })
  expect(await signIn(dashboard.browser(), unverified)).toBe('/?sign_in_error=LOGIN_TAKEN')
  const browser = dashboard.browser()
  expect(await signIn(browser, account('barbara'))).toBe('/requests?model=a')
  expect((await browser.send('GET', '/bff/me')).json['id']).toBe(made.json['id'])
  await api.call('PATCH', `/api/people/${String(made.json['id'])}`, {
    operator: true,
    body: { disabled: true },
  })
  expect(await signIn(dashboard.browser(), account('barbara'))).toBe('/?sign_in_error=PERSON_DISABLED')
})

test.each([
  ['without a group that has a role', account('mallory', { groups: ['others'] }), 'OIDC_NO_ROLE'],
  ['without a login', account('mallory', { email: undefined }), 'OIDC_CLAIM_MISSING'],
])('nobody comes in %s', async (_name, who, code) => {
  const browser = dashboard.browser()
  expect(await signIn(browser, who)).toBe(`/?sign_in_error=${code}`)
  expect((await browser.send('GET', '/bff/me')).status).toBe(401)
})

test('an answer counts once, for the browser that asked, and as it came', async () => {
  const [victim, attacker] = [dashboard.browser(), dashboard.browser()]
  const path = await comeBack(attacker, account('eve'))
  // Another person's callback, in a browser without a transaction and in one with its own.
  expect((await finish(victim, path)).headers.get('location')).toBe('/?sign_in_error=OIDC_NOT_BEGUN')
  await comeBack(victim, account('alice'))
  expect((await finish(victim, path)).headers.get('location')).toBe('/?sign_in_error=OIDC_REFUSED')
  const forged = path.replace(/code=[^&]+/, 'code=another')
  expect((await finish(attacker, forged)).headers.get('location')).toBe('/?sign_in_error=OIDC_REFUSED')
  expect((await finish(attacker, path)).headers.get('location')).toBe('/?sign_in_error=OIDC_NOT_BEGUN')
  for (const browser of [victim, attacker]) expect((await browser.send('GET', '/bff/me')).status).toBe(401)
})

test.each([
  '//elsewhere.example',
  '/\\elsewhere.example',
  'https://elsewhere.example/',
  '/..//elsewhere.example',
  '/\t/elsewhere.example',
])('nobody is sent elsewhere by %j', async (returnTo) => {
  expect(await signIn(dashboard.browser(), account('ada'), returnTo)).toBe('/')
})

describe('a provider', () => {
  const callbackUrl = `${dashboardUrl}/bff/oidc/callback`
  const options = {
    clientId: testClient.id,
    clientSecret: testClient.secret,
    scopes: 'openid email',
    loginClaim: 'email',
    groupsClaim: 'groups',
    roles: new Map<string, Role>(),
    defaultRole: 'viewer' as const,
    callbackUrl,
  }
  /** Comes back from `issuer`, runs `then`, and lets the dashboard call the provider. */
  async function vouch(
    issuer: string,
    changes: Partial<OpenidOptions> = {},
    then: () => Promise<void> = () => Promise.resolve(),
  ): Promise<VerifiedIdentity> {
    const client = createOpenidProvider({ issuer, ...options, ...changes })
    const { url, transaction } = await client.begin('/')
    const path = await walk(url, issuer)
    await then()
    return client.finish(new URL(path, dashboardUrl), transaction)
  }

  test.each(['client_secret_basic', 'client_secret_post'] as const)(
    'may take the secret by %s alone',
    async (method) => {
      const own = await startOpenidProvider(callbackUrl, method)
      try {
        own.signsIn(account('ada'))
        // Without groups, a text claim gives the role, such as Google's `hd`, the organisation's domain.
        const byText = { groupsClaim: 'email', roles: new Map([['ada@example.com', 'admin']] as const) }
        expect(await vouch(own.issuer, byText)).toMatchObject({ login: 'ada@example.com', role: 'admin' })
      } finally {
        await own.stop()
      }
    },
  )

  test('that goes away while somebody signs in is away, and refuses nobody', async () => {
    const own = await startOpenidProvider(callbackUrl)
    own.signsIn(account('ada'))
    await expect(vouch(own.issuer, {}, () => own.stop())).rejects.toMatchObject({
      code: 'OIDC_UNAVAILABLE',
      status: 503,
    })
  })

  test('says why it takes a secret for wrong, and the log has it', async () => {
    provider.signsIn(account('ada'))
    const refused = vouch(provider.issuer, { clientSecret: 'changed there' })
    await expect(refused).rejects.toMatchObject({
      code: 'OIDC_REFUSED',
      cause: { message: expect.stringMatching(/^the provider answers 401: invalid_client client auth/) },
    })
  })
})
