import { changedRecord, recordJson, type RawRecord } from './call-record.ts'
import { createByteBudget } from './capturing/byte-budget.ts'
import { createDeferredWork } from './capturing/defer-work.ts'
import { platformFetch, type Fetch } from './capturing/fetch-request.ts'
import { messageOf } from './capturing/message-of.ts'
import type { Dialect } from '../../capture/model-calls.ts'
import { recordFetch } from './capturing/record-fetch.ts'
import { ofProcess } from './of-process.ts'
import { settle, type Settings } from './options.ts'
import { sessionFields } from './session-fields.ts'
import { currentSession, runInSession } from './session.ts'
import { flushAtExit } from './shipping/flush-at-exit.ts'
import { createPoster } from './shipping/post-json.ts'
import { createShipper, noDrops, type Shipper } from './shipping/shipper.ts'
import { toolCallRecord } from './tools.ts'
import { traceFunction } from './trace.ts'
import type { AnyFunction, Session, SluiceClient, SluiceOptions, ToolCall, TraceOptions } from './types.ts'
import { createWarn, type Warn } from './warn.ts'
import { createFetch } from './wrapping/create-fetch.ts'
import { gatewayFetch, speaksChatCompletions, throughGateway } from './wrapping/gateway-fetch.ts'
import { replaceFetch, type Replace } from './wrapping/replace-fetch.ts'
import { isMcpClient, wrapMcpClient } from './wrapping/wrap-mcp-client.ts'

/** Dependencies of wrapped clients. */
interface Wrapping {
  settings: Settings
  session: () => Session
  recordTool: (call: ToolCall) => void
  /** Undefined: recording is off. */
  replace: Replace | undefined
  warn: Warn
}

/** Throws TypeError for an invalid address in `options`. */
export function createClient(options: SluiceOptions = {}): SluiceClient {
  // oxlint-disable-next-line node/no-process-env -- the program that uses this has the main module
  const settings = settle(options, process.env)
  const warn = createWarn()
  const budget = createByteBudget(settings.maxQueueBytes)
  const shipper =
    settings.apiKey === undefined ? undefined : shipperOf(settings, settings.apiKey, budget, warn)
  if (settings.fault !== undefined) warn('key', `nothing is recorded: ${settings.fault}`)
  const forgetExit = shipper === undefined ? undefined : flushAtExit(shipper, warn)
  const lost = (detail: string) => shipper?.drop('capture_failed', 1, detail)
  const deferred = createDeferredWork(lost)

  const session = () => currentSession(settings.session)
  const record = (raw: RawRecord) => {
    if (shipper !== undefined) ship(raw, settings.beforeSend, shipper)
  }
  const { maxBodyBytes } = settings
  const recordTool = (call: ToolCall) => {
    if (shipper === undefined) return
    try {
      const labels = sessionFields({ ...runInSession(call, session), model: call.model }, warn)
      const finished = toolCallRecord(call, labels, maxBodyBytes)
      // oxlint-disable-next-line typescript/require-await -- what it throws is a rejection, which is counted
      deferred.run(async () => {
        record(finished())
      })
    } catch (error) {
      lost(messageOf(error))
    }
  }
  const traceOne = <F extends AnyFunction>(traced: F, traceOptions: TraceOptions = {}) =>
    shipper === undefined
      ? traced
      : traceFunction(traced, traceOptions, { session, maxBodyBytes, record, deferred, lost, warn })
  const direct = { budget, maxBodyBytes, session, record, deferred, lost, warn }
  const replace =
    shipper === undefined
      ? undefined
      : (inner: Fetch, dialect?: Dialect) => recordFetch(inner, direct, dialect)
  const wrapping = { settings, session, recordTool, replace, warn }

  return {
    wrap(client) {
      if (!wrapped.has(client) && wrapClient(client, wrapping)) wrapped.add(client)
      return client
    },
    createFetch: (inner = platformFetch) => createFetch(inner, wrapping),
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
      forgetExit?.()
    },
    stats: () => shipper?.stats() ?? { sent: 0, waiting: 0, heldBytes: budget.used(), dropped: noDrops },
  }
}

/** Per process: a client wrapped by two of our clients would be recorded twice. */
const wrapped = ofProcess('wrapped', () => new WeakSet<object>())

type Budget = ReturnType<typeof createByteBudget>

function shipperOf({ baseUrl }: Settings, apiKey: string, budget: Budget, warn: Warn): Shipper {
  const poster = createPoster(baseUrl, { 'x-service-key': apiKey })
  return createShipper({ poster, budget, warn })
}

function ship(raw: RawRecord, beforeSend: Settings['beforeSend'], shipper: Shipper): void {
  if (beforeSend === undefined) {
    shipper.add(recordJson(raw))
    return
  }
  try {
    const changed = changedRecord(raw, beforeSend)
    if (changed !== undefined) shipper.add(recordJson(changed))
  } catch (error) {
    shipper.drop('before_send', 1, `beforeSend failed: ${messageOf(error)}`)
  }
}

/** Returns whether anything was replaced. */
function wrapClient(client: object, wrapping: Wrapping): boolean {
  const { settings, recordTool, replace, warn } = wrapping
  try {
    if (settings.proxyUrl !== undefined && speaksChatCompletions(client))
      return callThroughGateway(client, settings.proxyUrl, wrapping)
    if (replace === undefined) return false
    if (isMcpClient(client)) wrapMcpClient(client, recordTool)
    else if (!replaceFetch(client, replace)) return warnOfUnknown(client, warn)
    return true
  } catch (error) {
    // A frozen client, or a proxy.
    warn('wrap', `a client could not be wrapped; it works as before, but unrecorded: ${messageOf(error)}`)
    return false
  }
}

function callThroughGateway(
  client: { baseURL: string },
  proxyUrl: string,
  { settings: { proxyApiKey }, session, warn }: Wrapping,
): boolean {
  if (proxyApiKey === undefined) {
    warn('proxy key', 'calls do not use the gateway: pass proxyApiKey to configure() or set PROXY_API_KEY')
    return false
  }
  const { baseURL } = client
  // Derived clients (`withOptions`) are created from the options.
  const options = (client as { _options?: { baseURL?: string } })._options ?? {}
  const before = { client: baseURL, options: options.baseURL }
  // Set the address first: the gateway's key must never reach the provider.
  client.baseURL = options.baseURL = throughGateway(baseURL, proxyUrl)
  if (!replaceFetch(client, (inner) => gatewayFetch(inner, proxyApiKey, session, warn))) {
    client.baseURL = before.client
    if (before.options === undefined) delete options.baseURL
    else options.baseURL = before.options
    return warnOfUnknown(client, warn)
  }
  return true
}

function warnOfUnknown(client: object, warn: Warn): false {
  const { name } = client.constructor
  warn(
    `unknown ${name}`,
    `${name} is not a known client or version: it works as before, but its calls are not recorded`,
  )
  return false
}
