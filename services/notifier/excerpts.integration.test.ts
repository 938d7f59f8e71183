import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Service } from '#runtime/service.ts'
import { eventually } from '#tests/support/until.ts'
import { openWeb } from './testing/destination-receivers.ts'
import { createNotifierFixture, startNotifier, type NotifierFixture } from './testing/notifier-fixture.ts'
import { raisedEvent } from './testing/sample-records.ts'

let fixture: NotifierFixture
let service: Service
const web = await openWeb()

beforeAll(async () => {
  fixture = await createNotifierFixture()
  const changes = { WEBHOOK_ALLOW_INSECURE: '', DESTINATION_ALLOW: `plain:127.0.0.1:${web.port}` }
  service = (await startNotifier(fixture, changes)).service
})
afterAll(async () => {
  await service.stop()
  await service.done
  await fixture.close()
  await web.close()
})

test.each([
  ['slack', (path: string) => ({ credentials: { url: web.url(`${path}/very-secret`) } }), '/very-secret'],
  [
    'splunk_hec',
    (path: string) => ({ settings: { url: web.url(path) }, credentials: { token: 'very-secret' } }),
    '',
  ],
  [
    'json',
    (path: string) => ({
      settings: { url: web.url(path) },
      credentials: { header: { name: 'Authorization', value: 'Bearer very-secret' } },
    }),
    '',
  ],
] as const)('%s: an answer that repeats the request shows no credential', async (kind, given, more) => {
  const path = `/echo/${kind}`
  web.answers.set(path + more, () => {
    const { headers, path: asked } = web.at(path + more).at(-1) ?? {}
    return { status: 500, body: { asked, headers } }
  })
  const projectId = await fixture.addProject()
  const id = await fixture.addDestination({ projectId, kind, ...given(path) })
  const event = raisedEvent({
    ...{ project_id: projectId, event: 'finding_opened' as const, created_at: Date.now() },
    ...{ fields: { scorer_name: 'pii_detection' }, content: null, content_id: null },
  })
  await fixture.raise(event)
  const delivery = await eventually(
    () => fixture.delivery(event, id),
    (stored) => stored?.status === 'retrying',
  )
  const excerpt = String(delivery?.attempts[0]?.response_excerpt)
  expect(excerpt).toContain('asked')
  expect(JSON.stringify([delivery, excerpt])).not.toContain('very-secret')
})
