import { countOf, textOf } from '#capture/json.ts'
import type { Dialect, SocketMessage } from './dialect.ts'
import type { OpenResponse, Responses } from './open-response.ts'

const ends: ReadonlySet<string> = new Set([
  ...['response.completed', 'response.failed', 'response.incomplete', 'error'],
])
const maxSteeringBytes = 256 * 1024

/**
 * OpenAI's Responses: a `response.create` is answered by the events of the HTTP stream. Several may run at
 * once where they have a `stream_id`; without one, answers come in the order of the requests.
 */
export function createResponsesDialect(responses: Responses): Dialect {
  const open: { stream: string; response: OpenResponse }[] = []
  /** What users said meanwhile: the provider goes on with a response that nobody asked for. */
  let steers: Buffer[] = []
  let steeringBytes = 0

  const begin = (stream: string, request: Buffer): OpenResponse => {
    const response = responses.begin()
    response.asked(request)
    open.push({ stream, response })
    return response
  }
  const receive = ({ value, bytes }: SocketMessage) => {
    const type = textOf(value['type']) ?? ''
    if (!type.startsWith('response.') && type !== 'error') return
    const stream = textOf(value['stream_id']) ?? ''
    const at = open.findIndex((each) => each.stream === stream)
    const response =
      open[at]?.response ?? (type === 'response.created' ? begin(stream, steered()) : undefined)
    if (response === undefined) return
    response.answered(bytes)
    if (!ends.has(type)) return
    response.status = statusIn(value['status']) ?? response.status
    open.splice(at === -1 ? open.length - 1 : at, 1)
    responses.end(response)
  }
  const steered = (): Buffer => {
    const said = steers
    steers = []
    steeringBytes = 0
    return said.length === 0 ? Buffer.from('{}') : Buffer.concat([listStart, joined(said), listEnd])
  }
  return {
    sent({ value, bytes }) {
      const type = textOf(value['type'])
      if (type === 'response.create') begin(textOf(value['stream_id']) ?? '', bytes)
      else if (type === 'response.steer' && steeringBytes + bytes.length <= maxSteeringBytes) {
        steeringBytes += bytes.length
        steers.push(Buffer.from(bytes))
      }
    },
    received: receive,
    closing: () => undefined,
  }
}

const [listStart, comma, listEnd] = [Buffer.from('{"input":['), Buffer.from(','), Buffer.from(']}')]

function joined(texts: readonly Buffer[]): Buffer {
  return Buffer.concat(texts.flatMap((text, at) => (at === 0 ? [text] : [comma, text])))
}

/** Codex reads the status of HTTP from an error. */
function statusIn(value: unknown): number | undefined {
  const status = countOf(value)
  return status !== undefined && status >= 400 && status < 600 ? status : undefined
}
