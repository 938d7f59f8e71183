import { createClient } from './create-client.ts'
import type { SluiceClient, SluiceOptions } from './types.ts'

export { createClient }
export type {
  CallRecord,
  DropReason,
  Fetch,
  Session,
  ShippingStats,
  SluiceClient,
  SluiceOptions,
  ToolCall,
  TraceOptions,
} from './types.ts'

let standard: SluiceClient | undefined

/**
 * Sets up the client for the functions of this module. A further call replaces it; the old client still sends
 * its records.
 */
export function configure(options: SluiceOptions = {}): SluiceClient {
  standard = createClient(options)
  return standard
}

/** Configured by the environment, unless `configure` was called. */
function client(): SluiceClient {
  standard ??= createClient()
  return standard
}

/** See {@link SluiceClient.wrap}. */
export const wrap: SluiceClient['wrap'] = (given) => client().wrap(given)
/** See {@link SluiceClient.createFetch}. */
export const createFetch: SluiceClient['createFetch'] = (inner) => client().createFetch(inner)
/** See {@link SluiceClient.trace}. */
export const trace: SluiceClient['trace'] = (traced, options) => client().trace(traced, options)
/** See {@link SluiceClient.traced}. */
export const traced: SluiceClient['traced'] = (options) => client().traced(options)
/** See {@link SluiceClient.recordToolCall}. */
export const recordToolCall: SluiceClient['recordToolCall'] = (call) => {
  client().recordToolCall(call)
}
/** See {@link SluiceClient.withSession}. */
export const withSession: SluiceClient['withSession'] = (session, work) => client().withSession(session, work)
/** See {@link SluiceClient.flush}. */
export const flush: SluiceClient['flush'] = (timeoutMs) => client().flush(timeoutMs)
/** See {@link SluiceClient.shutdown}. */
export const shutdown: SluiceClient['shutdown'] = (timeoutMs) => client().shutdown(timeoutMs)
/** See {@link SluiceClient.stats}. */
export const stats: SluiceClient['stats'] = () => client().stats()
