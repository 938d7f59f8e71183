import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '#infra/migrate.ts'
import { createWebhook } from './create-webhook.ts'
import { startMockProvider } from './mock-provider.ts'
import { startOwnPostgres, type OwnPostgres } from './own-postgres.ts'
import { startStack, type Stack } from './start-stack.ts'
import { startWithUndo } from './undo.ts'
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts'

/** The pipeline as processes, with a Postgres of its own. */
export interface BreakableFixture {
  stack: Stack
  postgres: OwnPostgres
  /** Receiver of the project's webhook. */
  receiver: WebhookReceiver
  /** Directory of this fixture, for backups for instance. */
  directory: string
  stop(): Promise<void>
}

/** `durable`: see startOwnPostgres. */
export function setBreakableFixture({ durable }: { durable: boolean }): Promise<BreakableFixture> {
  return startWithUndo(async (undo) => {
    const directory = await mkdtemp(join(tmpdir(), 'sluice-breakable-'))
    undo.push(() => rm(directory, { recursive: true, force: true }))
    const postgres = await startOwnPostgres(directory, durable)
    undo.push(() => postgres.stop())
    await migrate(postgres.address)
    const provider = await startMockProvider()
    undo.push(() => provider.stop())
    const receiver = await startWebhookReceiver()
    undo.push(() => receiver.close())
    const stack = await startStack({
      upstreamUrl: provider.url,
      insecureWebhookHosts: '127.0.0.1',
      databaseUrl: postgres.address,
    })
    undo.push(() => stack.stop())
    receiver.trust(await createWebhook(stack, receiver.url))
    return { stack, postgres, receiver, directory }
  })
}
