import { shapeOfPath } from '#capture/call-shapes.ts'
import { isMediaCall } from '#capture/media/media-calls.ts'
import { modelCallAt } from '#capture/model-calls.ts'

/**
 * Whether a POST to `path` of `host` is a model call, in any spelling. Providers decode escapes, resolve
 * dots, and ignore trailing slashes and some the case; none of this may hide a call. The forwarded path is
 * not changed.
 */
export function isModelCall(host: string, path: string): boolean {
  return (
    // First what most calls are: it costs a fraction of the rest.
    shapeOfPath(path) !== null ||
    modelCallAt(host, path) !== undefined ||
    modelCallAt(host, plainPath(path)) !== undefined ||
    isMediaCall(plainPath(path))
  )
}

/** A path as providers read it: decoded, without dot and empty segments, in lower case. */
export function plainPath(path: string): string {
  const [bare = ''] = path.split(/[?#]/, 1)
  const decoded = bare.replaceAll(/%([0-9a-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  const segments: string[] = []
  for (const segment of decoded.split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return `/${segments.join('/')}`.toLowerCase()
}

/** Ordinary paths only: providers differ on escapes, dot segments and empty segments. */
const plain = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.:@~-]+)+$/
/** Whether a WebSocket may be opened at a path where all tenants share one account: it is a model's alone. */
export function isAllowedSocket(path: string): boolean {
  return plain.test(path.split('?', 1)[0] ?? '')
}

/** Lists of models. Google keeps operations, such as videos, below its models. */
const models = /^(?!.*\/operations(?:\/|$))(?:\/[\w.-]+)*\/models(?:\/[\w.:@~/-]+)?$/
/** Other requests that leave nothing at the provider that could be fetched later. */
const others =
  /\/(?:messages\/count_tokens|moderations|models\/[\w.@~-]+:counttokens|images\/(?:generations|edits|variations)|audio\/(?:speech|transcriptions|translations))$/

/**
 * Whether a request may be forwarded where all tenants share one account at the provider: calls and lists of
 * models. Files, batches, stored answers, operations and fine-tuning jobs would be visible to every tenant.
 */
export function isAllowedOnSharedAccount(method: string | undefined, path: string | undefined): boolean {
  const [bare = ''] = (path ?? '').toLowerCase().split('?', 1)
  if (!plain.test(bare)) return false
  if (method === 'GET' || method === 'HEAD') return models.test(bare)
  return method === 'POST' && (modelCallAt('', bare) !== undefined || others.test(bare))
}
