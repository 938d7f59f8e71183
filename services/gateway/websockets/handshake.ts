import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'
import { headOf, MalformedAnswer, type AnswerHead } from '#runtime/http1/answer-head.ts'
import { AnswerParser } from '#runtime/http1/answer-parser.ts'
import { AnswerTimeout, ConnectionClosed } from '#runtime/http1/http-connection.ts'

/** What becomes of a handshake. After `onOpen`, `onRefusalEnd` or `onError`, nothing more. */
export interface HandshakeHandler {
  /** The provider has accepted; `first` are bytes behind its answer. The socket is paused. */
  onOpen(head: AnswerHead, socket: Socket, first: Buffer): void
  /** The provider answers as to any other request. */
  onRefusal(head: AnswerHead): void
  onRefusalData(bytes: Buffer): void
  onRefusalEnd(): void
  onError(error: Error): void
}

export interface Handshake {
  /** Ends it without a word to its handler. */
  abort(): void
}

export interface SocketTarget {
  origin: URL
  connect: buildConnector.connector
  /** How long the provider may take to answer. */
  answerMs: number
}

const emptyLine = '\r\n\r\n'
const maxHeadBytes = 64 * 1024

/** The request of a handshake: connection headers first, then the application's, unchanged. */
export function handshakeHead(target: string, host: string, headers: readonly string[]): string {
  let head = `GET ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n`
  for (let at = 0; at < headers.length; at += 2) head += `${headers[at] ?? ''}: ${headers[at + 1] ?? ''}\r\n`
  return `${head}\r\n`
}

/** Sends a handshake over a connection of its own. */
export function sendHandshake(
  { origin, connect, answerMs }: SocketTarget,
  head: string,
  handler: HandshakeHandler,
): Handshake {
  const { host, protocol, port } = origin
  // An IPv6 host has brackets.
  const hostname = origin.hostname.replace(/^\[(.*)\]$/, '$1')
  let opened: Socket | undefined
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  const over = (): boolean => {
    if (isOver) return false
    isOver = true
    clearTimeout(timer)
    return true
  }
  const fail = (error: Error) => {
    opened?.destroy()
    if (over()) handler.onError(error)
  }
  const begin = (socket: Socket) => {
    opened = socket
    if (isOver) {
      socket.destroy()
      return
    }
    timer = setTimeout(() => fail(new AnswerTimeout('the server did not answer in time')), answerMs)
    readAnswer(socket, withFailure(handler, fail), over)
    socket.write(head, 'latin1')
  }
  try {
    connect({ hostname, host, protocol, port }, (error, socket) => {
      if (error === null) begin(socket)
      else fail(error)
    })
  } catch (error) {
    fail(error as Error)
  }
  return {
    abort() {
      if (over()) opened?.destroy()
    },
  }
}

function withFailure(handler: HandshakeHandler, onError: (error: Error) => void): HandshakeHandler {
  return {
    onOpen: (head, socket, first) => handler.onOpen(head, socket, first),
    onRefusal: (head) => handler.onRefusal(head),
    onRefusalData: (bytes) => handler.onRefusalData(bytes),
    onRefusalEnd: () => handler.onRefusalEnd(),
    onError,
  }
}

/** Reads the head of the answer, then leaves the socket to the relay, or reads the refusal. */
function readAnswer(socket: Socket, handler: HandshakeHandler, over: () => boolean): void {
  let held: Buffer = Buffer.alloc(0)
  let parser: AnswerParser | undefined
  const refuse = (bytes: Buffer) => {
    parser ??= refusalParser(socket, handler, over)
    parser.push(bytes)
  }
  const onData = (bytes: Buffer) => {
    try {
      if (parser !== undefined) {
        refuse(bytes)
        return
      }
      held = held.length === 0 ? bytes : Buffer.concat([held, bytes])
      const end = held.indexOf(emptyLine)
      if (end === -1) {
        if (held.length > maxHeadBytes) throw new MalformedAnswer("the answer's headers are too large")
        return
      }
      const head = headOf(held.toString('latin1', 0, end))
      if (head.status !== 101) {
        refuse(held)
        return
      }
      socket.pause()
      leave()
      if (over()) handler.onOpen(head, socket, held.subarray(end + emptyLine.length))
    } catch (error) {
      handler.onError(error as Error)
    }
  }
  const onEnd = () => {
    if (parser?.end() !== true) handler.onError(new ConnectionClosed())
  }
  const onError = (error: Error) => handler.onError(error)
  const onClose = () => handler.onError(new ConnectionClosed())
  const leave = () => {
    socket.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose)
  }
  socket.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose)
}

function refusalParser(socket: Socket, handler: HandshakeHandler, over: () => boolean): AnswerParser {
  const parser = new AnswerParser({
    onHead: (head) => handler.onRefusal(head),
    onBody: (bytes) => handler.onRefusalData(bytes),
    onWhole() {
      if (over()) handler.onRefusalEnd()
      socket.destroy()
    },
  })
  parser.expect('GET')
  return parser
}
