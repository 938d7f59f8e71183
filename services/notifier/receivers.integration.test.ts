import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { freePorts } from '#infra/embedded/free-port.ts'
import type { Service } from '#runtime/service.ts'
import { setNotifierStage, startNotifier, type NotifierStage } from './testing/notifier-stage.ts'
import { raisedEvent } from './testing/sample-records.ts'

const samples = join(import.meta.dirname, '..', '..', 'docs', 'receivers')
const hasPython = spawnSync('python3', ['--version']).status === 0
const receivers: [name: string, command: string, file: string, isThere: boolean][] = [
  ['TypeScript', process.execPath, 'receiver.ts', true],
  [hasPython ? 'Python' : 'Python (not run: there is no python3 here)', 'python3', 'receiver.py', hasPython],
]

let stage: NotifierStage
let service: Service
let running: ChildProcess | undefined

beforeAll(async () => {
  stage = await setNotifierStage()
  service = (await startNotifier(stage)).service
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
  await stage.close()
})

test.each(receivers)(
  'the sample in %s takes what is signed with its secret, once, and answers 401 to the rest',
  async (_name, command, file, isThere) => {
    if (!isThere) return
    const [port] = (await freePorts(1)) as [number]
    const projectId = await stage.addProject()
    const url = `http://127.0.0.1:${port}/`
    const webhook = await stage.addWebhook({ url, projectId })
    const lines = await startReceiver(command, join(samples, file), { port, secret: webhook.secret })
    const event = raisedEvent({ project_id: projectId, fields: { text: 'é 😀', number: 1e21 } })
    const told = once(lines, 'line')
    await stage.raise(event)
    expect(await told).toEqual([`threat_detected ${event.id}`])
    expect((await stage.settled(event, webhook.id, 'delivered')).attempt_count).toBe(1)
    const forged = await fetch(url, {
      method: 'POST',
      body: '{"event":"threat_detected","id":"evt_1"}',
      headers: { 'x-service-signature': `sha256=${'0'.repeat(64)}` },
    })
    expect(forged.status).toBe(401)
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401)
  },
  300_000,
)

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
