import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { idFromUuid, idToUuid, newId } from '#schemas/ids.ts'
import { eventually } from '#tests/support/until.ts'
import { openSyslog, openWeb } from '../testing/destination-receivers.ts'
import { createNotifierFixture, startNotifier, type NotifierFixture } from '../testing/notifier-fixture.ts'

let fixture: NotifierFixture
const [web, syslog] = [await openWeb(), await openSyslog()]

beforeAll(async () => {
  fixture = await createNotifierFixture()
})
afterAll(async () => {
  await fixture.close()
  await Promise.all([web.close(), syslog.close()])
})

const start = (changes: Readonly<Record<string, string>>) =>
  startNotifier(fixture, {
    WEBHOOK_ALLOW_INSECURE: '',
    DESTINATION_ALLOW: `plain:127.0.0.1:${web.port},plain:127.0.0.1:${syslog.port}`,
    ...changes,
  })

async function end(...started: readonly Awaited<ReturnType<typeof start>>[]): Promise<void> {
  await Promise.all(started.map(({ service }) => service.stop()))
}

/** Writes an entry as the API does. Returns its id. */
async function write(client: Pick<typeof fixture.pool, 'query'>, at = new Date(), projectId?: string) {
  const id = newId('audit', at.getTime())
  await client.query(
    `insert into audit_log (id, at, actor_kind, action, subject, project_id, detail)
     values ($1, $2, 'operator', 'webhook.changed', 'wh_1', $3, $4)`,
    [
      idToUuid(id),
      at,
      projectId === undefined ? null : idToUuid(projectId),
      JSON.stringify({ enabled: true, url: 'https://receiver.example/secret-path' }),
    ],
  )
  return id
}

const writeMany = async (count: number) => {
  const ids: string[] = []
  for (let index = 0; index < count; index++) ids.push(await write(fixture.pool))
  return ids
}

interface Entry {
  class_uid: number
  metadata: { uid: string }
}
const bodies = (path: string) => web.at(path).map(({ body }) => body as unknown as Entry[])
const uidsAt = (path: string) => bodies(path).flatMap((body) => body.map(({ metadata }) => metadata.uid))
const unsent = async () =>
  (await fixture.pool.query('select from audit_log where streamed_at is null')).rowCount

test('each entry is sent once, in bounded requests, though requests fail, by one of two processes', async () => {
  let failures = 0
  const path = '/audit'
  web.answers.set(path, () => ({ status: failures++ < 1 ? 503 : 200 }))
  const projectId = await fixture.addProject()
  await fixture.addDestination({ projectId, kind: 'json', settings: { url: web.url('/project') } })
  const ids = [...(await writeMany(250)), await write(fixture.pool, new Date(), projectId)]
  const changes = { AUDIT_STREAM: web.url(path), AUDIT_STREAM_HEADER: 'Authorization: Bearer siem-token' }
  const started = [await start(changes), await start(changes)] as const
  try {
    await eventually(unsent, (count) => count === 0)
    const [failed = [], ...taken] = bodies(path)
    expect(failed).toHaveLength(200)
    expect(taken.map((body) => body.length)).toEqual([200, 51])
    expect(taken.flatMap((body) => body.map(({ metadata }) => metadata.uid)).sort()).toEqual(ids.sort())
    expect(web.at(path).every(({ headers }) => headers.authorization === 'Bearer siem-token')).toBe(true)
    const said = JSON.stringify(bodies(path))
    expect(said).not.toMatch(/secret-path|siem-token/)
    expect(web.at('/project')).toEqual([])
    const counts = await Promise.all(
      started.map(({ metrics: { registry } }) =>
        registry.getSingleMetricAsString('sluice_notifier_audit_entries_total'),
      ),
    )
    const sent = counts.map((text) => Number(/^sluice_notifier_audit_entries_total (\d+)$/m.exec(text)?.[1]))
    expect(sent.reduce((sum, count) => sum + count, 0)).toBe(251)
    const [
      {
        metrics: { registry },
      },
    ] = started
    await eventually(
      () => registry.getSingleMetricAsString('sluice_notifier_audit_lag_seconds'),
      (text) => text.endsWith('sluice_notifier_audit_lag_seconds 0'),
    )
  } finally {
    await end(...started)
  }
})

test('an entry whose transaction commits after later entries were sent is sent too', async () => {
  const path = '/late'
  const client = await fixture.pool.connect()
  const started = await start({ AUDIT_STREAM: web.url(path) })
  try {
    await client.query('begin')
    const late = await write(client, new Date(Date.now() - 60_000))
    const early = await write(fixture.pool)
    await eventually(
      () => Promise.resolve(uidsAt(path)),
      (uids) => uids.includes(early),
    )
    await client.query('commit')
    await eventually(
      () => Promise.resolve(uidsAt(path)),
      (uids) => uids.includes(late),
    )
    expect(uidsAt(path)).toEqual([early, late])
  } finally {
    client.release()
    await end(started)
  }
})

test('a syslog server gets a message for each entry, framed by octets', async () => {
  const ids = await writeMany(3)
  const started = await start({ AUDIT_STREAM: `syslog+tcp://127.0.0.1:${syslog.port}` })
  try {
    await eventually(unsent, (count) => count === 0)
    const messages = readFrames(syslog.streams.join(''))
    expect(messages.every((message) => /^<110>1 \S+ \S+ sluice \d+ audit - \ufeff\{/.test(message))).toBe(
      true,
    )
    const uids = messages.map(
      (message) => (JSON.parse(message.slice(message.indexOf('\ufeff') + 1)) as Entry).metadata.uid,
    )
    expect(uids.toSorted()).toEqual(ids.toSorted())
  } finally {
    await end(started)
  }
})

test('an address that DESTINATION_ALLOW does not list gets nothing, and the process says so', async () => {
  const id = await write(fixture.pool)
  const started = await start({ AUDIT_STREAM: web.url('/unlisted'), DESTINATION_ALLOW: '' })
  try {
    await eventually(
      () => Promise.resolve(started.service.health()),
      ({ problems }) => problems?.['audit'] !== undefined,
    )
    expect(web.at('/unlisted')).toEqual([])
    const { rows } = await fixture.pool.query<{ id: string }>(
      'select id from audit_log where streamed_at is null',
    )
    expect(rows.map((row) => idFromUuid('audit', row.id))).toEqual([id])
  } finally {
    await end(started)
  }
})

function readFrames(stream: string): string[] {
  const bytes = Buffer.from(stream)
  const messages: string[] = []
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(' ', at)
    const end = space + 1 + Number(bytes.subarray(at, space).toString())
    messages.push(bytes.subarray(space + 1, end).toString())
    at = end
  }
  return messages
}
