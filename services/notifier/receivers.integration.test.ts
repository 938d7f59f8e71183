import { randomBytes } from 'node:crypto'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { freePorts } from '#infra/embedded/free-port.ts'
import type { Service } from '#runtime/service.ts'
import { idToUuid } from '#schemas/ids.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { makeCertificate } from '#tests/support/make-certificate.ts'
import { startWebhookReceiver } from '#tests/support/webhook-receiver.ts'
import { eventually } from '#tests/support/until.ts'
import { createNotifierFixture, startNotifier, type NotifierFixture } from './testing/notifier-fixture.ts'
import { raisedEvent } from './testing/sample-records.ts'

const samples = join(import.meta.dirname, '..', '..', 'docs', 'receivers')
const hasPython = spawnSync('python3', ['--version']).status === 0
const nameOf = (language: string) =>
  `the sample in ${language} takes what is signed with its secret, also after a rotation, once, and answers 401 to the rest`
const tls = makeCertificate()

let fixture: NotifierFixture
let service: Service
let running: ChildProcess | undefined

beforeAll(async () => {
  fixture = await createNotifierFixture()
  service = (await startNotifier(fixture, { WEBHOOK_CA: tls.cert })).service
})
afterEach(async () => {
  if (running === undefined) return
  const exited = once(running, 'exit')
  running.kill('SIGKILL')
  await exited
  running = undefined
})
afterAll(async () => {
  await service.stop()
  await service.done
  await fixture.close()
})

async function expectSample(command: string, file: string): Promise<void> {
  const [port] = (await freePorts(1)) as [number]
  const projectId = await fixture.addProject()
  const url = `http://127.0.0.1:${port}/`
  const webhook = await fixture.addWebhook({ url, projectId })
  const lines = await startReceiver(command, join(samples, file), { port, secret: webhook.secret })
  const event = raisedEvent({ project_id: projectId, fields: { text: 'é 😀', number: 1e21 } })
  const told = once(lines, 'line')
  await fixture.raise(event)
  expect(await told).toEqual([`threat_detected ${event.id}`])
  expect((await fixture.settled(event, webhook.id, 'delivered')).attempt_count).toBe(1)
  await rotateSecret(projectId, webhook.id)
  const later = raisedEvent({ project_id: projectId })
  const toldAgain = once(lines, 'line')
  await fixture.raise(later)
  expect((await fixture.settled(later, webhook.id, 'delivered')).attempt_count).toBe(1)
  expect(await toldAgain).toEqual([`threat_detected ${later.id}`])
  const forged = await fetch(url, {
    method: 'POST',
    body: '{"event":"threat_detected","id":"evt_1"}',
    headers: {
      'x-service-signature': `sha256=${'0'.repeat(64)}`,
      'x-service-signature-previous': `sha256=${'1'.repeat(64)}`,
    },
  })
  expect(forged.status).toBe(401)
  expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401)
}

/** With an overlap: the receiver goes on with the old secret. */
async function rotateSecret(projectId: string, webhookId: string): Promise<void> {
  const secret = Buffer.from(`whsec_${randomBytes(32).toString('base64')}`)
  const sealed = fixture.sealer.seal(secret, sealedIdentity(projectId, webhookId, 'webhook_secret'))
  await fixture.pool.query(
    `update webhooks set previous_secret_codec = secret_codec, previous_secret_key_id = secret_key_id,
       previous_secret_data = secret_data, previous_secret_until = now() + interval '1 hour',
       secret_codec = $2, secret_key_id = $3, secret_data = $4 where id = $1`,
    [idToUuid(webhookId), sealed.codec, sealed.key_id, sealed.data],
  )
}

test(nameOf('TypeScript'), () => expectSample(process.execPath, 'receiver.ts'), 300_000)
if (hasPython) test(nameOf('Python'), () => expectSample('python3', 'receiver.py'), 300_000)
else test.skip(`${nameOf('Python')} (needs python3)`, () => undefined)

test('a receiver with a certificate of WEBHOOK_CA is delivered to; one with another is not', async () => {
  const [known, stranger] = [
    await startWebhookReceiver({ tls }),
    await startWebhookReceiver({ tls: makeCertificate() }),
  ]
  const projectId = await fixture.addProject()
  const webhook = await fixture.addWebhook({ url: known.url, projectId })
  const refused = await fixture.addWebhook({ url: stranger.url, projectId })
  known.trust(webhook.secret)
  const event = raisedEvent({ project_id: projectId })
  await fixture.raise(event)
  await fixture.settled(event, webhook.id, 'delivered')
  expect(known.deliveries).toMatchObject([{ verified: true }])
  const failed = await eventually(
    () => fixture.delivery(event, refused.id),
    (delivery) => delivery?.attempts[0]?.error != null,
  )
  expect(failed?.attempts[0]?.error).toMatch(/^TLS: .*self-signed/)
  expect(stranger.deliveries).toHaveLength(0)
  for (const receiver of [known, stranger]) await receiver.close()
})

async function startReceiver(
  command: string,
  file: string,
  { port, secret }: { port: number; secret: string },
): Promise<Interface> {
  const env = { PATH: process.env['PATH'], PORT: String(port), WEBHOOK_SECRET: secret }
  running = spawn(command, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: running.stdout as NodeJS.ReadableStream })
  await once(lines, 'line')
  return lines
}
