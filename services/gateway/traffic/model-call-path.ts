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
