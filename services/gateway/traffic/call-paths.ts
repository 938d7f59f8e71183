import { shapeOfPath } from '#capture/call-shapes.ts'

/**
 * Whether a POST to `path` is a model call, however it is spelt: providers decode escapes, resolve dots, pass over a slash at the end
 * and some the case, and a call must not pass unrecorded for that. What is forwarded stays as it came.
 */
export function isModelCall(path: string): boolean {
  return shapeOfPath(path) !== null || shapeOfPath(plainPath(path)) !== null
}

function plainPath(path: string): string {
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

/** As paths are usually spelt: providers differ in what they make of escapes, dot segments, empty ones and the rest. */
const plain = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.:@~-]+)+$/
/** Which models there are. Google keeps what is asked of some, videos, as operations below them. */
const models = /^(?!.*\/operations(?:\/|$))(?:\/[\w.-]+)*\/models(?:\/[\w.:@~/-]+)?$/
/** What models are asked besides, and leave nothing at the provider that could be asked for. */
const others =
  /\/(?:messages\/count_tokens|moderations|rerank|images\/(?:generations|edits|variations)|audio\/(?:speech|transcriptions|translations))$/

/**
 * Whether a request may pass where all tenants share one account at the provider: calls of models, and which there are. Files, batches,
 * stored answers, operations and fine-tuned models' jobs of one tenant would be everybody's.
 */
export function isAllowedOnSharedAccount(method: string | undefined, path: string | undefined): boolean {
  const [bare = ''] = (path ?? '').toLowerCase().split('?', 1)
  if (!plain.test(bare)) return false
  if (method === 'GET' || method === 'HEAD') return models.test(bare)
  return method === 'POST' && (shapeOfPath(bare) !== null || others.test(bare))
}
