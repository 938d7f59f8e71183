import { request as requestPlainly, type ClientRequest } from 'node:http'
import { request as requestSecurely } from 'node:https'
import type { Socket } from 'node:net'
import { codeOf, messageOf } from '../errors.ts'

/** The egress proxy gave no connection. */
export class ProxyFailed extends Error {
  /** The same for people outside: without addresses. */
  readonly reason: string

  constructor(proxy: string, reason: string, target: string, options?: ErrorOptions) {
    super(`the egress proxy ${proxy} ${reason} (CONNECT ${target})`, options)
    this.name = 'ProxyFailed'
    this.reason = `the egress proxy ${reason}`
  }
}

/** Calls back once, with a connection through the proxy to `host:port`, or with why there is none. */
export type OpenTunnel = (target: string, callback: (opened: Socket | ProxyFailed) => void) => void

/** Opens connections through an HTTP proxy by CONNECT (RFC 9110, 9.3.6). */
export function createTunnels(proxyUrl: string, timeoutMs: number): OpenTunnel {
  const proxy = new URL(proxyUrl)
  const isSecure = proxy.protocol === 'https:'
  const address = {
    host: proxy.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: proxy.port === '' ? (isSecure ? 443 : 80) : Number(proxy.port),
  }
  const credentials = credentialsOf(proxy)
  return (target, callback) => {
    const fail = (reason: string, error?: Error) =>
      callback(new ProxyFailed(proxy.origin, reason, target, { cause: error }))
    const asked = (isSecure ? requestSecurely : requestPlainly)({
      ...address,
      method: 'CONNECT',
      path: target,
      // Not a kept connection of Node's: it becomes the tunnel.
      agent: false,
      headers: { Host: target, Connection: 'keep-alive', ...credentials },
    })
    awaitTunnel(asked, timeoutMs, fail, callback)
    asked.end()
  }
}

function awaitTunnel(
  asked: ClientRequest,
  timeoutMs: number,
  fail: (reason: string, error?: Error) => void,
  open: (socket: Socket) => void,
): void {
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    asked.destroy(new Error('no answer in time'))
  }, timeoutMs)
  asked.once('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
    clearTimeout(timer)
    // Its close follows, which ends the connection inside.
    socket.on('error', () => undefined)
    if (statusCode < 200 || statusCode > 299) {
      socket.destroy()
      fail(statusCode === 407 ? 'answered 407: it needs another user or password' : `answered ${statusCode}`)
      return
    }
    if (head.length > 0) socket.unshift(head)
    open(socket)
  })
  asked.once('error', (error) => {
    clearTimeout(timer)
    const what = codeOf(error) === '' ? messageOf(error) : codeOf(error)
    fail(isLate ? 'did not answer in time' : `could not be reached: ${what}`, error)
  })
}

function credentialsOf({ username, password }: URL): { 'Proxy-Authorization'?: string } {
  if (username === '' && password === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'Proxy-Authorization': `Basic ${Buffer.from(pair).toString('base64')}` }
}
