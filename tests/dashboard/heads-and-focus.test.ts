import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import {
  hostileText,
  startDashboardSite,
  type DashboardSite,
  type VisitedPage,
} from '#tests/support/dashboard-site.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { signInPerson } from '#tests/support/sign-in-people.ts'
import { until } from '#tests/support/until.ts'
import { goTo, shown } from './task-fixture.ts'

// Only ends what hangs.
jest.setTimeout(300_000)

let site: DashboardSite
let admin: VisitedPage

beforeAll(async () => {
  site = await startDashboardSite()
  admin = await site.signIn()
}, 600_000)
afterAll(() => site.stop())

/** The request's time. */
const requestTitle = /\d:\d\d/

test('a page that says only what is wrong has a heading, the name of its tab, and says who may see it', async () => {
  const other = await site.api.createProject()
  const viewer = await signInPerson(site.api, 'viewer', [other.projectId])
  const { page, context } = await site.signIn(viewer.login, viewer.password)
  for (const [path, title, words] of [
    ['/settings/keys', 'API keys', /Only an administrator can see this page, and you are a viewer/],
    ['/runs', 'Red team', /You do not have access to its project/],
    [`/requests/${site.requestId}`, 'Request', /belong to a project that you cannot see/],
    ['/sessions/nobody', 'Session', /You do not have access to its project/],
    ['/nowhere', 'Page not found', /Home/],
  ] as const) {
    await page.goto(`${path}?project=${site.projectId}`)
    await shown(page, title)
    await page.getByRole('main').getByText(words).first().waitFor()
    expect([await page.title(), await page.getByRole('heading', { level: 1 }).count()]).toEqual([
      `${title} · Sluice`,
      1,
    ])
  }
  await context.close()
})

test('the tab of a call and of a session says which', async () => {
  const { page } = admin
  await goTo(admin.page, `/requests/${site.requestId}`, requestTitle)
  expect(await page.title()).toMatch(/^Request of .*\d:\d\d.* · Sluice$/)
  const session = hostileText.slice(0, 100)
  await goTo(
    admin.page,
    `/sessions/${encodeURIComponent(session)}?project=${site.projectId}`,
    /window.__ran=1/,
  )
  expect(await page.title()).toBe(`Session ${session} · Sluice`)
  await page.getByRole('link', { name: 'Tools' }).click()
  await shown(page, 'Tools')
  expect(await page.title()).toBe('Tools · Sluice')
})

test('a call says what its caller named and what is a fact, and each of its verdicts leads to the like and to what people said', async () => {
  const { page } = admin
  await page.setViewportSize({ width: 390, height: 844 })
  await goTo(admin.page, `/requests/${site.requestId}`, requestTitle)
  const names = await page.getByRole('table', { name: 'Facts' }).getByRole('rowheader').allInnerTexts()
  expect(names.slice(names.indexOf('Metadata'))).toEqual(['Metadata', 'note', 'Model'])
  await page.getByRole('button', { name: 'Scores' }).click()
  expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Scores')
  await page.setViewportSize({ width: 1280, height: 720 })
  const card = page.getByRole('region', { name: 'jailbreak_detection' })
  await card.getByRole('link', { name: 'jailbreak_detection' }).click()
  await shown(page, 'Requests')
  expect(page.url()).toMatch(/scorer_name=jailbreak_detection&label=unsafe&/)
  await page.goBack()
  await card.getByRole('link', { name: 'Reviews of this scorer' }).click()
  await shown(page, 'Reviews')
  expect(page.url()).toMatch(/scorer_name=jailbreak_detection/)
})

test('who was led to evidence far below judges it there', async () => {
  const { page } = admin
  const messages = Array.from({ length: 80 }, (_, index) => ({ role: 'user', content: `turn ${index}` }))
  const found = { part: 'request_body', pointer: '/messages/79/content', start: 0, end: 4, kind: 'override' }
  const score = { scorer: 'jailbreak_detection', value: 5, label: 'unsafe', severity: 'critical' } as const
  const id = await seedRequest(site.api.pool, createSealer([]), {
    projectId: site.projectId,
    requestBody: JSON.stringify({ messages }),
    scores: [{ ...score, evidence: [found] }],
  })
  await goTo(admin.page, `/requests/${id}`, requestTitle)
  await page.getByRole('button', { name: 'override', exact: true }).click()
  await until(async () => (await page.evaluate<number>('scrollY')) > 1_000)
  const place = await page.getByRole('button', { name: 'Disagree' }).boundingBox()
  expect(place?.y).toBeGreaterThan(0)
  expect(place?.y).toBeLessThan(720)
})

test('what has the focus is seen in the dark theme', async () => {
  const { page } = admin
  await page.emulateMedia({ colorScheme: 'dark' })
  await goTo(admin.page, `/sessions?project=${site.projectId}`, 'Sessions')
  await page.keyboard.press('Tab')
  for (const part of [
    page.getByRole('button', { name: 'Refresh' }),
    page.getByLabel('Filter by agent'),
    page.getByRole('link', { name: 'Tools' }),
  ]) {
    await part.focus()
    await until(async () => (await page.evaluate<number>(ringContrast)) >= 3)
  }
  await page.emulateMedia({ colorScheme: 'light' })
})

/** The contrast of the focus ring with its background. Runs in the browser. */
const ringContrast = `(() => {
  const styleOf = (each) => getComputedStyle(each)
  const lightness = (colour) => {
    const [red, green, blue] = colour.match(/[\\d.]+/g).map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
  }
  const element = document.activeElement
  let ground = element.parentElement
  while (/rgba\\(.*, 0\\)/.test(styleOf(ground).backgroundColor)) ground = ground.parentElement
  const { outlineStyle, outlineColor, borderTopColor } = styleOf(element)
  const pair = [outlineStyle === 'none' ? borderTopColor : outlineColor, styleOf(ground).backgroundColor].map(lightness)
  return Math.max(...pair) / Math.min(...pair)
})()`
