import { Agent as HttpAgent, globalAgent, request as httpRequest, type AgentOptions } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'

export interface PostAnswer {
  status: number
  /** Milliseconds from Retry-After; undefined without one. */
  retryAfterMs: number | undefined
  text: string
}

export interface Poster {
  /** `path` is appended to the address. Rejects when no answer arrives within `timeoutMs`. */
  post(path: string, body: Buffer, timeoutMs: number): Promise<PostAnswer>
  close(): void
}

/** An answer to a batch of 1,000 is about 100 kB. */
const maxAnswerBytes = 4 * 2 ** 20

/**
 * Posts JSON over one keep-alive connection that never keeps the process alive. Uses node:http, as fetch
 * gives no access to its sockets.
 */
export function createPoster(baseUrl: string, headers: Readonly<Record<string, string>>): Poster {
  const isSecure = baseUrl.startsWith('https:')
  const options = { keepAlive: true, maxSockets: 1, proxyEnv: globalProxies() }
  const agent = isSecure ? new HttpsAgent(options) : new HttpAgent(options)
  const send = isSecure ? httpsRequest : httpRequest
  const connection = holdConnection(agent)
  let isClosed = false
  return {
    post: (path, body, timeoutMs) =>
      new Promise((resolve, reject) => {
        if (isClosed) {
          reject(new Error('closed'))
          return
        }
        const length = { 'content-length': String(body.length), 'content-type': 'application/json' }
        const outgoing = send(baseUrl + path, { method: 'POST', agent, headers: { ...headers, ...length } })
        const deadline = setTimeout(() => {
          const late = new Error(`no answer within ${timeoutMs} ms`)
          outgoing.destroy(late)
          connection.destroy()
          // A request without a socket, as when a proxy does not answer, emits no error when destroyed.
          reject(late)
        }, timeoutMs).unref()
        const settled = () => {
          clearTimeout(deadline)
        }
        outgoing.on('socket', (socket: Socket) => socket.unref())
        outgoing.on('error', (error) => {
          settled()
          reject(error)
        })
        outgoing.on('response', (incoming) => {
          const chunks: Buffer[] = []
          let length = 0
          incoming.on('data', (chunk: Buffer) => {
            length += chunk.length
            if (length <= maxAnswerBytes) chunks.push(chunk)
          })
          incoming.on('error', (error) => {
            settled()
            reject(error)
          })
          incoming.on('end', () => {
            settled()
            resolve({
              status: incoming.statusCode ?? 0,
              retryAfterMs: retryAfterMs(incoming.headers['retry-after']),
              text: Buffer.concat(chunks).toString('utf8'),
            })
          })
        })
        outgoing.end(body)
      }),
    close() {
      isClosed = true
      agent.destroy()
      connection.destroy()
    },
  }
}

/**
 * The agent's latest connection, unreferenced from the start: an agent emits a proxied connection only once
 * the proxy accepts it, and until then it would keep the program alive.
 */
function holdConnection(agent: HttpAgent): { destroy(): void } {
  let socket: Socket | undefined
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const made = connect(options, callback) as Socket | undefined
    socket = made?.unref()
    return made
  }
  return { destroy: () => socket?.destroy() }
}

/**
 * Node's environment proxies (`NODE_USE_ENV_PROXY`, from 24.5), as used by fetch and thus by providers'
 * clients.
 */
function globalProxies(): AgentOptions['proxyEnv'] {
  return (globalAgent as { options?: AgentOptions }).options?.proxyEnv
}

/** Seconds or a date (RFC 9110, 10.2.3). */
function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  if (/^\d+$/.test(header)) return Number(header) * 1_000
  const atMs = Date.parse(header)
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - Date.now())
}
