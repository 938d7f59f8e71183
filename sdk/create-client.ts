import { recordJson, recordOf, type RawRecord } from './call-record.ts'
import { createByteBudget } from './capturing/byte-budget.ts'
import { createDeferredWork } from './capturing/defer-work.ts'
import { messageOf, recordFetch } from './capturing/record-fetch.ts'
import { settle, type Settings } from './options.ts'
import { currentSession, runInSession } from './session.ts'
import { createPoster } from './shipping/post-json.ts'
import { createShipper, type Shipper } from './shipping/shipper.ts'
import { toolCallRecord } from './tools.ts'
import { traceFunction } from './trace.ts'
import type { AnyFunction, Session, SluiceClient, SluiceOptions, ToolCall, TraceOptions } from './types.ts'
import { createWarn, type Warn } from './warn.ts'
import { gatewayFetch, speaksChatCompletions, throughGateway } from './wrapping/gateway-fetch.ts'
import { replaceFetch } from './wrapping/replace-fetch.ts'
import { isMcpClient, wrapMcpClient } from './wrapping/wrap-mcp-client.ts'

/** Throws TypeError when an address in `options` is none. */
export function createClient(options: SluiceOptions = {}): SluiceClient {
  // eslint-disable-next-line no-restricted-syntax -- the program that uses this has the main module
  const settings = settle(options, process.env)
  const warn = createWarn()
  const budget = createByteBudget(settings.maxQueueBytes)
  const shipper =
    settings.apiKey === undefined ? undefined : shipperOf(settings, settings.apiKey, budget, warn)
  if (shipper === undefined)
    warn('key', 'nothing is recorded: pass apiKey to configure() or set SERVICE_API_KEY')

  const session = () => currentSession(settings.session)
  const record = (raw: RawRecord) => {
    if (shipper !== undefined) ship(raw, settings.beforeSend, shipper)
  }
  const { maxBodyBytes } = settings
  const recordTool = (call: ToolCall) => {
    try {
      record(toolCallRecord(call, runInSession(call, session), maxBodyBytes))
    } catch (error) {
      warn('capture', `a tool call could not be recorded: ${messageOf(error)}`)
    }
  }
  const traceOne = <F extends AnyFunction>(traced: F, traceOptions: TraceOptions = {}) =>
    shipper === undefined
      ? traced
      : traceFunction(traced, traceOptions, { session, maxBodyBytes, record, warn })
  const deferred = createDeferredWork(warn)
  const direct = { budget, maxBodyBytes, session, record, deferred }

  return {
    wrap(client) {
      if (wrapped.has(client)) return client
      wrapped.add(client)
      if (isMcpClient(client)) wrapMcpClient(client, recordTool)
      else if (settings.proxyUrl !== undefined && speaksChatCompletions(client))
        callThroughGateway(client, settings, session, warn)
      else if (shipper !== undefined && !replaceFetch(client, (inner) => recordFetch(inner, direct)))
        warnOfUnknown(client, warn)
      return client
    },
    trace: traceOne,
    traced: (traceOptions) => (method, context) =>
      traceOne(method, { name: String(context.name), ...traceOptions }),
    recordToolCall: recordTool,
    withSession: (inner, work) => runInSession(inner, work),
    async flush(timeoutMs = 5_000) {
      await deferred.idle()
      return (await shipper?.flush(timeoutMs)) ?? true
    },
    async shutdown(timeoutMs = 5_000) {
      await deferred.idle()
      await shipper?.close(timeoutMs)
    },
    stats: () => shipper?.stats() ?? { sent: 0, waiting: 0, heldBytes: budget.taken(), dropped: noDrops },
  }
}

const noDrops = { queue_full: 0, over_quota: 0, refused: 0, before_send: 0, shut_down: 0 }

/** Of the whole process: a client that two of ours wrapped would be recorded twice. */
const wrapped = new WeakSet<object>()

type Budget = ReturnType<typeof createByteBudget>

function shipperOf({ baseUrl }: Settings, apiKey: string, budget: Budget, warn: Warn): Shipper {
  const poster = createPoster(`${baseUrl}/internal/log/batch`, { 'x-service-key': apiKey })
  const shipper = createShipper({ poster, budget, warn })
  let lastTry = 0
  // Fires when nothing else keeps the process: a flush that fails is not tried for ever.
  process.on('beforeExit', () => {
    const { waiting, sent } = shipper.stats()
    if (waiting === 0 || lastTry === sent + waiting) return
    lastTry = sent + waiting
    void shipper.flush(exitFlushMs)
  })
  return shipper
}

/** A program that has ended waits this long for the API. */
const exitFlushMs = 3_000

function ship(raw: RawRecord, beforeSend: Settings['beforeSend'], shipper: Shipper): void {
  if (beforeSend === undefined) {
    shipper.add(recordJson(raw))
    return
  }
  try {
    const kept = beforeSend(recordOf(raw))
    if (kept === null || kept === undefined) return
    shipper.add(JSON.stringify({ ...kept, id: raw.id }))
  } catch (error) {
    shipper.drop('before_send', 1, `beforeSend threw ${messageOf(error)}`)
  }
}

function callThroughGateway(
  client: { baseURL: string },
  { proxyUrl, proxyApiKey }: Settings,
  session: () => Session,
  warn: Warn,
): void {
  if (proxyUrl === undefined) return
  if (proxyApiKey === undefined) {
    warn(
      'proxy key',
      'calls do not go through the gateway: pass proxyApiKey to configure() or set PROXY_API_KEY',
    )
    return
  }
  if (!replaceFetch(client, (inner) => gatewayFetch(inner, proxyApiKey, session))) {
    warnOfUnknown(client, warn)
    return
  }
  client.baseURL = throughGateway(client.baseURL, proxyUrl)
  // Derived clients (`withOptions`) are made of the options, not of the client.
  const options = (client as { _options?: { baseURL?: string } })._options
  if (options !== undefined) options.baseURL = client.baseURL
}

function warnOfUnknown(client: object, warn: Warn): void {
  const { name } = client.constructor
  warn(
    `unknown ${name}`,
    `${name} is no client, or of no version, that is known: it works as before and its calls are not recorded`,
  )
}
