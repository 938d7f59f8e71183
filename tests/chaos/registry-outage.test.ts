import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { registerSchemas } from '#infra/create-topics.ts'
import type { EmbeddedPart } from '#infra/embedded/embedded-part.ts'
import { freePorts } from '#infra/embedded/free-port.ts'
import { startRegistry } from '#infra/embedded/start-registry.ts'
import { createRegistryCodec } from '#runtime/kafka/registry-codec.ts'
import { createLog } from '#runtime/log.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { avroSchemas } from '#schemas/topics.ts'

const log = createLog('registry-outage', 'silent')
const cacheDirectory = join(import.meta.dirname, '..', '..', '.cache')
const subject = 'event.raised-value'
const schema = avroSchemas.EventRaised

const event: RaisedEvent = {
  id: 'evt_01m9v2rb48e7tk3h0w0n4q8q0b',
  event: 'usage_alert',
  project_id: 'prj_01m9v2r7a0eksrx5xyvd2f4tg8',
  created_at: 1_795_260_000_123,
  data: Buffer.from('{}'),
  content: null,
  content_id: null,
  webhook_id: null,
}

describe('while the registry is down', () => {
  let directory: string
  let port: number
  let registry: EmbeddedPart

  const start = () =>
    startRegistry({
      directory: join(directory, 'registry'),
      logFile: join(directory, 'registry.log'),
      port,
      cacheDirectory,
      say: () => undefined,
    })

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sluice-registry-'))
    port = (await freePorts(1))[0] as number
    registry = await start()
    await registerSchemas({ registryUrl: registry.address, prefix: '', log })
  }, 300_000)

  afterAll(async () => {
    await registry.stop()
    await rm(directory, { recursive: true, force: true })
  })

  test('records with known schema ids pass, others get a retryable error, and all works when it is back', async () => {
    const url = registry.address
    const running = createRegistryCodec({ url, log }).codec<RaisedEvent>({ subject, schema })
    const bytes = await running.encode(event)
    expect(await running.decode(bytes)).toEqual(event)
    const prepared = createRegistryCodec({ url, log }).codec<RaisedEvent>({ subject, schema })
    await prepared.prepare()
    const started = createRegistryCodec({ url, log }).codec<RaisedEvent>({ subject, schema })

    await registry.stop()
    for (let index = 0; index < 100; index++) {
      expect(await running.decode(await running.encode({ ...event, created_at: index }))).toMatchObject({
        created_at: index,
      })
    }
    expect(await prepared.encode(event)).toEqual(bytes)
    const away = { code: 'REGISTRY_UNAVAILABLE', retry: 'later' }
    await expect(started.encode(event)).rejects.toMatchObject(away)
    await expect(started.decode(bytes)).rejects.toMatchObject(away)
    await expect(started.prepare()).rejects.toMatchObject(away)

    registry = await start()
    expect(await started.encode(event)).toEqual(bytes)
    expect(await started.decode(bytes)).toEqual(event)
  }, 300_000)
})
