import { messageOf } from '#runtime/errors.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import type { ServiceProcess } from '../../../support/service-process.ts'
import { until } from '../../../support/until.ts'
import type { Fixture } from '../fixture/start-fixture.ts'

/** Asserts nothing; only ends a run that hangs. Other faults may be under way. */
const timeoutMs = 240_000
const askTimeoutMs = 3_000

/** Resolves when the process is ready, as another process than `notPid` if given. */
export async function awaitService(service: ServiceProcess, notPid?: number): Promise<void> {
  const isReady = async () => {
    if (service.pid() === notPid) return false
    try {
      const signal = AbortSignal.timeout(askTimeoutMs)
      return (await fetch(`http://127.0.0.1:${service.operationsPort}/readyz`, { signal })).ok
    } catch {
      return false
    }
  }
  await until(
    isReady,
    timeoutMs,
    async () => `${service.name} is not ready:\n${(await service.output()).slice(-2_000)}`,
  )
}

/** Resolves when all replicas of all partitions are in sync. */
export async function awaitInSync({ kafka }: Pick<Fixture, 'kafka'>): Promise<void> {
  const behind = () =>
    withAdmin(kafka, async (admin) => {
      const { topics } = await admin.fetchTopicMetadata()
      return topics.flatMap(({ name, partitions }) =>
        partitions
          .filter(({ isr, replicas, leader }) => leader < 0 || isr.length < replicas.length)
          .map(({ partitionId }) => `${name}/${partitionId}`),
      )
    })
  let last = ''
  const isInSync = async () => {
    try {
      last = (await behind()).join()
      return last === ''
    } catch (error) {
      // A controller is being elected, or the asked broker is the one that is down.
      last = messageOf(error)
      return false
    }
  }
  await until(isInSync, timeoutMs, () => `copies are behind: ${last}`)
}
