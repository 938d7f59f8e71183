import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { decodeContent } from '#capture/decode-content.ts'
import { fieldAt, parseJson, textOf } from '#capture/json.ts'
import { startLocalServer, type LocalServer } from '../../support/local-server.ts'
import { standInAnswer } from './answers.ts'
import { numberHeader, type Exchange } from './exchange.ts'

const maxBytes = 64 * 1024 * 1024

/** Stands in for every provider, and keeps what came and what it answered, in order. */
export async function startStandIn(): Promise<LocalServer & { exchanges: Exchange[] }> {
  const exchanges: Exchange[] = []
  const server = createServer((request, response) => {
    void (async () => {
      const body = await buffer(request)
      const path = request.url ?? '/'
      const { pathname } = new URL(path, 'http://localhost')
      const encoding = request.headers['content-encoding']
      const plain =
        encoding === undefined ? body : (await decodeContent(encoding, body, maxBytes, maxBytes))?.bytes
      const asked = parseJson(plain?.toString() ?? '')
      const isStream = /stream/i.test(pathname) || streams(pathname, fieldAt(asked, 'stream'))
      const model = textOf(fieldAt(asked, 'model')) ?? /\/models\/([^:]+):/.exec(pathname)?.[1] ?? ''
      const answer = standInAnswer(decodeURIComponent(pathname), { model, isStream })
      const number = String(exchanges.length + 1)
      const pieces = (answer?.pieces ?? ['{"error":{"message":"nothing is here"}}']).map((piece) =>
        Buffer.from(piece),
      )
      const headers = ['content-type', answer?.type ?? 'application/json', numberHeader, number]
      const status = answer === undefined ? 404 : 200
      const said = { status, headers, body: Buffer.concat(pieces) }
      exchanges.push({
        number,
        method: request.method ?? '',
        path,
        headers: request.rawHeaders,
        body,
        answer: said,
      })
      response.writeHead(status, headers)
      if (request.method !== 'HEAD')
        for (const piece of pieces) {
          response.write(piece)
          // Its chunks are not joined to one.
          await nextTurn()
        }
      response.end()
    })()
  })
  return { ...(await startLocalServer(server)), exchanges }
}

/** Ollama streams unless told otherwise. */
function streams(path: string, asked: unknown): boolean {
  return asked === true || (asked === undefined && /\/api\/(?:chat|generate)$/.test(path))
}
