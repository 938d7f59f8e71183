import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals'
import { startRawUpstream, type RawUpstream } from './raw-upstream.ts'
import { startRecordReceiver, type PostedRecord, type RecordReceiver } from './record-receiver.ts'
import { proxyKey, startGateway, type RunningGateway } from './start-gateway.ts'
import { until } from './until.ts'

export const chatPath = '/v1/chat/completions'
export const authorization = `Bearer ${proxyKey}`
export const chatBody =
  '{"model":"m", "messages" : [{"role":"user","content":"hi"}], "big": 12345678901234567890}'

export interface GatewayFixture {
  upstream: RawUpstream
  receiver: RecordReceiver
  gateway: RunningGateway
  post(path?: string, init?: RequestInit, through?: RunningGateway): Promise<Response>
  /** Another gateway between the same provider and receiver. */
  startAnother(environment: Record<string, string>): Promise<RunningGateway>
  /** Sends bytes over a raw connection. Resolves with all that came back until it closed. */
  exchange(bytes: string): Promise<string>
  recordOf(id: string | null): Promise<PostedRecord | undefined>
  /** A metric as Prometheus reads it. */
  metric(name: string): Promise<string>
}

export function idOf(response: Response): string | null {
  return response.headers.get('x-service-request-id')
}

/** A gateway between a raw provider and a receiver of records, for each test of the file. */
export function useGateway(): GatewayFixture {
  let receiver: RecordReceiver
  let upstream: RawUpstream
  let gateway: RunningGateway
  const start = (more: Record<string, string> = {}) =>
    startGateway({ UPSTREAM_URL: upstream.url, API_BACKEND_URL: receiver.url, ...more })

  beforeAll(async () => {
    receiver = await startRecordReceiver()
  })
  beforeEach(async () => {
    upstream = await startRawUpstream()
    gateway = await start()
  })
  afterEach(async () => {
    receiver.decide(() => 202)
    receiver.refuseAll(undefined)
    await gateway.stop()
    await upstream.stop()
  })
  afterAll(() => receiver.stop())

  return {
    get upstream() {
      return upstream
    },
    get receiver() {
      return receiver
    },
    get gateway() {
      return gateway
    },
    startAnother: start,
    post(path = chatPath, init = {}, through = gateway) {
      const headers = { authorization, 'content-type': 'application/json', ...(init.headers as object) }
      return fetch(through.url + path, { method: 'POST', body: chatBody, ...init, headers })
    },
    exchange: (bytes) => exchange(gateway.port, bytes),
    async recordOf(id) {
      const find = () => receiver.taken.find((record) => record.id === id)
      await until(() => find() !== undefined)
      return find()
    },
    metric: (name) => gateway.metrics.registry.getSingleMetricAsString(name),
  }
}

function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    socket.on('data', (data) => (answer += data.toString('latin1')))
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
    socket.write(bytes, 'latin1')
  })
}
