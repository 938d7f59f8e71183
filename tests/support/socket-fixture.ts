import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals'
import { startRecordReceiver, type PostedRecord, type RecordReceiver } from './record-receiver.ts'
import { startSocketProvider, type SocketProvider } from './socket-provider.ts'
import { proxyKey, startGateway, type RunningGateway } from './start-gateway.ts'
import { until } from './until.ts'

export const keyHeaders = { authorization: `Bearer ${proxyKey}` }

export interface SocketFixture {
  receiver: RecordReceiver
  provider: SocketProvider
  gateway: RunningGateway
  /** Another gateway before the same provider. */
  startAnother(environment: Record<string, string>): Promise<RunningGateway>
  /** The address of a socket. */
  address(path: string): string
  records(count: number): Promise<PostedRecord[]>
  metric(name: string): Promise<string>
}

/** A gateway before a provider with WebSockets, for each test of the file. */
export function useSockets(): SocketFixture {
  let receiver: RecordReceiver
  let provider: SocketProvider
  let gateway: RunningGateway
  const start = (more: Record<string, string>) =>
    startGateway({
      UPSTREAM_URL: provider.url,
      UPSTREAM_API_KEY: 'provider-key',
      API_BACKEND_URL: receiver.url,
      ...more,
    })
  beforeAll(async () => {
    receiver = await startRecordReceiver()
    provider = await startSocketProvider()
  })
  beforeEach(async () => {
    receiver.taken.length = 0
    provider.handshakes.length = 0
    provider.refuseWith(undefined)
    provider.onSocket(() => undefined)
    gateway = await start({ UPSTREAM_WEBSOCKETS: 'true' })
  })
  afterEach(() => gateway.stop())
  afterAll(async () => {
    await provider.stop()
    await receiver.stop()
  })
  return {
    get receiver() {
      return receiver
    },
    get provider() {
      return provider
    },
    get gateway() {
      return gateway
    },
    startAnother: start,
    address: (path) => gateway.url.replace('http', 'ws') + path,
    async records(count) {
      await until(() => receiver.taken.length >= count)
      return receiver.taken
    },
    metric: (name) => gateway.metrics.registry.getSingleMetricAsString(name),
  }
}
