import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { changeMeanwhile } from '#tests/support/change-meanwhile.ts'
import { signInPerson } from '#tests/support/sign-in-people.ts'
import { operatorSecret, startApi, type RunningApi } from '#tests/support/start-api.ts'
import {
  adminPassword,
  startDashboard,
  type RunningDashboard,
  type TestBrowser,
} from '#tests/support/start-dashboard.ts'

let api: RunningApi
let dashboard: RunningDashboard
let other: RunningDashboard
let admin: TestBrowser

beforeAll(async () => {
  api = await startApi()
  // Tests set a browser's address by the header of a proxy.
  dashboard = await startDashboard(api.baseUrl, { TRUSTED_PROXIES: 'loopback' })
  other = await startDashboard(api.baseUrl)
  admin = dashboard.browser()
  expect((await admin.signIn('admin', adminPassword)).status).toBe(200)
})
afterAll(async () => {
  await other.stop()
  await dashboard.stop()
  await api.stop()
})

let made = 0
/** A person who has not signed in yet. */
async function createPerson(role = 'viewer') {
  const login = `person-${++made}`
  const password = `the password of ${login}`
  const { status, json } = await admin.send('POST', '/bff/api/people', {
    body: { login, name: login, role, password },
  })
  expect(status).toBe(201)
  return { id: String(json['id']), login, password }
}

async function signedIn(person: { login: string; password: string }): Promise<TestBrowser> {
  const browser = dashboard.browser()
  expect((await browser.signIn(person.login, person.password)).status).toBe(200)
  return browser
}

const statusOf = async (browser: TestBrowser) => (await browser.send('GET', '/bff/me')).status

describe('signing in', () => {
  test('gives a cookie that no script reads and no other site sends, and says who one is', async () => {
    const answer = await dashboard.browser().signIn('Admin', adminPassword)
    expect(answer.json).toMatchObject({ login: 'admin', role: 'admin', sees_every_project: true })
    const [cookie = ''] = answer.headers.getSetCookie()
    expect(cookie).toMatch(/^sluice=s%3A[\w%.-]+; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/)
    expect(answer.text + cookie).not.toContain(operatorSecret)
  })

  test('gives a new token each time, whatever cookie the browser had, and ends the login that it had', async () => {
    const person = await createPerson()
    const browser = await signedIn(person)
    const first = browser.cookie()
    await browser.signIn(person.login, person.password)
    expect(browser.cookie()).not.toBe(first)
    expect([await statusOf(dashboard.browser(first)), await statusOf(browser)]).toEqual([401, 200])
  })

  test('takes no cookie that was not signed here', async () => {
    const [name = '', value = ''] = admin.cookie().split('=')
    const unsigned = decodeURIComponent(value).replace(/^s:/, '').split('.')[0] ?? ''
    for (const forged of [unsigned, `s%3A${unsigned}.AAAA`, value.replace(/.$/, 'x')]) {
      expect([forged, await statusOf(dashboard.browser(`${name}=${forged}`))]).toEqual([forged, 401])
    }
  })

  test('is refused to anyone who is disabled or given another password while theirs is looked at, and so is changing it', async () => {
    const who = {
      issuer: 'https://id.example.com',
      subject: 's',
      login: 'carol',
      name: 'Carol',
      role: 'viewer',
    }
    const post = (path: string, body: unknown) => api.call('POST', path, { operator: true, body })
    const byProvider = () => post('/internal/people/sign-in-by-provider', { ...who, login_is_verified: true })
    const carol = String((await byProvider()).json['person_id'])
    const person = await signInPerson(api, 'viewer')
    const { id, login, password } = person
    const byPassword = () => post('/internal/people/sign-in', { login, password })
    const change = { current_password: password, new_password: 'chosen by the thief' }
    const byThief = () => person.call('POST', '/api/me/password', { body: change })
    const [disabled, renewed] = ['disabled_at = now()', `password_hash = 'another'`]
    expect(await changeMeanwhile(api.pool, carol, disabled, byProvider)).toEqual([403, 'PERSON_DISABLED'])
    expect(await changeMeanwhile(api.pool, id, renewed, byThief)).toEqual([403, 'PASSWORD_WRONG'])
    await post(`/api/people/${id}/password`, { password })
    expect(await changeMeanwhile(api.pool, id, disabled, byPassword)).toEqual([401, 'SIGN_IN_REFUSED'])
    await admin.send('PATCH', `/bff/api/people/${id}`, { body: { disabled: false } })
    expect(await changeMeanwhile(api.pool, id, renewed, byPassword)).toEqual([401, 'SIGN_IN_REFUSED'])
    const logins = await api.call('GET', `/api/people/${id}/logins`, { operator: true })
    expect(logins.json['total']).toBe(0)
  })

  test('says the same of a wrong password, of nobody, and of anyone who is disabled', async () => {
    const person = await createPerson()
    await admin.send('PATCH', `/bff/api/people/${person.id}`, { body: { disabled: true } })
    const answers = await Promise.all([
      dashboard.browser().signIn('admin', 'not the password'),
      dashboard.browser().signIn('nobody at all', 'not the password'),
      dashboard.browser().signIn(person.login, person.password),
    ])
    for (const { status, text } of answers) {
      expect([status, text]).toEqual([401, answers[0].text])
    }
    const unstorable = await dashboard.browser().signIn('\u0000', 'not the password')
    expect([unstorable.status, unstorable.json['code']]).toEqual([422, 'INVALID_INPUT'])
  })

  test('is slowed down by failures, for the person at that address, though many try at once', async () => {
    const person = await createPerson()
    const from = (address: string, password: string) =>
      dashboard.browser().send('POST', '/bff/login', {
        body: { name: person.login, password },
        headers: { 'x-forwarded-for': address },
      })
    // Frozen, however long hashing takes: the delay would be over after a second.
    jest.spyOn(Date, 'now').mockReturnValue(Date.now())
    const guesses = await Promise.all(
      Array.from({ length: 12 }, () => from('198.51.100.1', 'a guess')),
    ).finally(() => jest.restoreAllMocks())
    const outcomes = guesses.map(({ status }) => status)
    // Four are free, the fifth starts the delay.
    expect(outcomes.filter((status) => status === 401)).toHaveLength(5)
    expect(outcomes.filter((status) => status === 429)).toHaveLength(7)
    const throttled = guesses.find(({ status }) => status === 429)
    expect(Number(throttled?.headers.get('retry-after'))).toBeGreaterThan(0)
    // During the delay even the right password fails; other addresses are not affected.
    await api.pool.query(
      `update login_throttles set blocked_until = now() + interval '1 hour' where blocked_until > to_timestamp(0)`,
    )
    expect((await from('198.51.100.1', person.password)).status).toBe(429)
    expect((await from('198.51.100.2', person.password)).status).toBe(200)
    await api.pool.query(`update login_throttles set blocked_until = now() - interval '1 second'`)
    expect((await from('198.51.100.1', person.password)).status).toBe(200)
    // The counter has been reset.
    for (let guess = 0; guess < 4; guess++) expect((await from('198.51.100.1', 'a guess')).status).toBe(401)
    expect((await from('198.51.100.1', person.password)).status).toBe(200)
  })
})

describe('a login ends everywhere at once', () => {
  test.each([
    ['signing out', (browser: TestBrowser) => browser.send('POST', '/bff/logout'), 204],
    [
      'being disabled',
      (_browser: TestBrowser, id: string) =>
        admin.send('PATCH', `/bff/api/people/${id}`, { body: { disabled: true } }),
      200,
    ],
    [
      'an administrator who ends it',
      (_browser: TestBrowser, id: string) => admin.send('DELETE', `/bff/api/people/${id}/logins`),
      204,
    ],
    [
      'a password that is reset',
      (_browser: TestBrowser, id: string) =>
        admin.send('POST', `/bff/api/people/${id}/password`, { body: {} }),
      200,
    ],
  ])('by %s', async (_name, end, status) => {
    const person = await createPerson()
    const browser = await signedIn(person)
    const elsewhere = other.browser(browser.cookie())
    expect(await statusOf(elsewhere)).toBe(200)
    expect((await end(browser, person.id)).status).toBe(status)
    expect(await statusOf(elsewhere)).toBe(401)
    const answer = await elsewhere.send('GET', '/bff/api/requests')
    // The cookie is left alone: when this answer arrives, the browser may already have its next session's.
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([401, []])
  })

  test('by time: without a request for too long, and in any case', async () => {
    const browser = await signedIn(await createPerson())
    const latest = `where id = (select id from logins order by created_at desc, id desc limit 1)`
    await api.pool.query(`update logins set last_seen_at = now() - interval '719 minutes' ${latest}`)
    expect(await statusOf(browser)).toBe(200)
    await api.pool.query(`update logins set last_seen_at = now() - interval '721 minutes' ${latest}`)
    expect(await statusOf(browser)).toBe(401)
    const again = await signedIn(await createPerson())
    await api.pool.query(`update logins set ends_at = now() ${latest}`)
    expect(await statusOf(again)).toBe(401)
  })

  test("of one's other browsers when one changes one's password", async () => {
    const person = await createPerson()
    const [one, two] = [await signedIn(person), await signedIn(person)]
    const change = (current_password: string, new_password: string) =>
      one.send('POST', '/bff/api/me/password', { body: { current_password, new_password } })
    expect((await change('not it', 'another good password')).json['code']).toBe('PASSWORD_WRONG')
    expect((await change(person.password, 'short')).json['detail']).toContain('new_password')
    expect((await change(person.password, 'another good password')).status).toBe(204)
    expect([await statusOf(one), await statusOf(two)]).toEqual([200, 401])
    await signedIn({ ...person, password: 'another good password' })
  })

  test('a role that is taken away counts from the next request on', async () => {
    const person = await createPerson('admin')
    const browser = await signedIn(person)
    const status = async () => (await browser.send('GET', '/bff/api/people')).status
    expect(await status()).toBe(200)
    await admin.send('PATCH', `/bff/api/people/${person.id}`, { body: { role: 'viewer' } })
    expect(await status()).toBe(403)
  })
})

describe('another site', () => {
  test.each([
    ['without our header', {}],
    ['from another origin', { 'x-sluice-dashboard': '1', origin: 'https://evil.example' }],
    ['from a page without an origin', { 'x-sluice-dashboard': '1', origin: 'null' }],
    ['from a neighbour', { 'x-sluice-dashboard': '1', 'sec-fetch-site': 'same-site' }],
  ])('changes nothing %s', async (_name, headers) => {
    const before = await admin.send('GET', '/bff/api/people')
    for (const path of ['/bff/api/people', '/bff/login', '/bff/logout']) {
      const response = await fetch(dashboard.baseUrl + path, {
        method: 'POST',
        headers: {
          cookie: admin.cookie(),
          'content-type': 'text/plain',
          ...(headers as Record<string, string>),
        },
        body: JSON.stringify({ login: 'evil', name: 'evil', role: 'admin' }),
      })
      const { code } = (await response.json()) as { code: string }
      expect([path, response.status, code]).toEqual([path, 403, 'CROSS_SITE_REFUSED'])
    }
    expect((await admin.send('GET', '/bff/api/people')).json['total']).toBe(before.json['total'])
  })

  test('is told nothing, and our own address may be asked from', async () => {
    const ask = (headers: Record<string, string>) => admin.send('GET', '/bff/me', { headers })
    expect((await ask({ origin: 'https://evil.example' })).status).toBe(403)
    const own = await ask({ origin: dashboard.baseUrl, 'sec-fetch-site': 'same-origin' })
    expect([own.status, own.headers.get('access-control-allow-origin')]).toEqual([200, null])
  })
})

test('the first administrator is made once, no matter who starts first, and a password that was made is printed once', async () => {
  expect(dashboard.printed).toEqual([])
  await api.pool.query('truncate people cascade')
  const [one, two] = await Promise.all(
    [0, 0].map(() => startDashboard(api.baseUrl, { DASHBOARD_ADMIN_PASSWORD: '' })),
  )
  const printed = [...(one?.printed ?? []), ...(two?.printed ?? [])]
  expect(printed).toHaveLength(1)
  const password = /is admin with the password (\S+)/.exec(printed.join())?.[1] ?? ''
  expect((await dashboard.browser().signIn('admin', password)).status).toBe(200)
  await one?.stop()
  await two?.stop()
  // The login's owner stays, and nobody gets a password that is not theirs.
  await api.pool.query(`update people set role = 'viewer'`)
  const three = await startDashboard(api.baseUrl, { DASHBOARD_ADMIN_PASSWORD: '' })
  expect(three.printed).toEqual([])
  await three.stop()
})
