import type { RaisedEvent } from '#schemas/event-raised.ts'
import type { NotifierFixture } from '#services/notifier/testing/notifier-fixture.ts'
import { raisedEvent } from '#services/notifier/testing/sample-records.ts'
import type { CountingReceiver } from './counting-receiver.ts'
import type { TestCertificate } from './make-certificate.ts'
import { until } from './until.ts'

/** Webhooks of one receiver, each in its own project: one event is one delivery. */
export interface Side {
  fixture: NotifierFixture
  receiver: CountingReceiver
  /** The receiver's certificate; undefined: plain HTTP. */
  certificate: TestCertificate | undefined
  /** Approximate time until the receiver answers; 0: at once. */
  answerMs: number
  targets: readonly Target[]
}

export interface Target {
  projectId: string
  path: string
}

export async function addTargets(
  fixture: NotifierFixture,
  receiver: CountingReceiver,
  count: number,
): Promise<Target[]> {
  const targets: Target[] = []
  for (let index = 0; index < count; index++) {
    const projectId = await fixture.addProject()
    const path = `/hook-${index}`
    await fixture.addWebhook({ url: receiver.url + path, projectId })
    targets.push({ projectId, path })
  }
  return targets
}

export function eventFor({ projectId }: Target): RaisedEvent {
  const fields = { severity: 'critical', scorer_name: 'pii_detection', prompt_snippet: 'words '.repeat(60) }
  return raisedEvent({ project_id: projectId, fields })
}

/** Events for the targets, in turn. */
export function eventsFor(targets: readonly Target[], count: number): { path: string; event: RaisedEvent }[] {
  return Array.from({ length: count }, (_, index) => {
    const target = targets[index % targets.length] as Target
    return { path: target.path, event: eventFor(target) }
  })
}

/** Raises all events at once. Resolves when the last has been received. */
export async function raiseAll({ fixture, receiver, targets }: Side, count: number): Promise<void> {
  const before = await receiver.count()
  await fixture.raise(...eventsFor(targets, count).map(({ event }) => event))
  await untilReceived(receiver, before + count)
}

export async function untilReceived(receiver: CountingReceiver, count: number): Promise<void> {
  await until(
    async () => (await receiver.count()) >= count,
    120_000,
    async () => `${await receiver.count()} of ${count} received`,
  )
}
