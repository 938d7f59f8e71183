import { createServer, request as ask, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { startLocalServer, type LocalServer } from '../../support/local-server.ts'
import { headerOf, numberHeader, type Exchange } from './exchange.ts'

/** Between clients and the gateway: passes everything, and keeps what each side sent. */
export async function startTee(target: { port: number }): Promise<LocalServer & { exchanges: Exchange[] }> {
  const exchanges: Exchange[] = []
  const onwardOf = ({ method = 'GET', url: path = '/', rawHeaders }: IncomingMessage) =>
    ask({ host: '127.0.0.1', port: target.port, method, path, headers: rawHeaders, agent: false })
  const server = createServer((request, response) => {
    void (async () => {
      const { method = 'GET', url: path = '/', rawHeaders } = request
      const body = await buffer(request)
      const onward = onwardOf(request)
      onward.on('error', () => response.destroy())
      onward.on('response', (answer) => {
        const { statusCode = 0, rawHeaders: headers } = answer
        response.writeHead(statusCode, headers)
        const pieces: Buffer[] = []
        answer.on('data', (piece: Buffer) => {
          pieces.push(piece)
          response.write(piece)
        })
        answer.on('end', () => {
          const number = headerOf(headers, numberHeader) ?? ''
          const said = { status: statusCode, headers, body: Buffer.concat(pieces) }
          exchanges.push({ number, method, path, headers: rawHeaders, body, answer: said })
          response.end()
        })
      })
      onward.end(body)
    })()
  })
  // WebSockets go on as the gateway answers them.
  server.on('upgrade', (request, socket) => {
    const onward = onwardOf(request)
    onward.on('error', () => socket.destroy())
    onward.on('response', (answer) => {
      answer.resume()
      socket.end(
        `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
      )
    })
    onward.end()
  })
  return { ...(await startLocalServer(server)), exchanges }
}
