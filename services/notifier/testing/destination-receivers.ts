import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net'
import type { Pool } from 'pg'
import { SMTPServer } from 'smtp-server'
import { idToUuid } from '#schemas/ids.ts'

interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: Record<string, unknown>
}

/** An HTTP receiver: each path answers what a test sets, else 200. */
export async function openWeb() {
  const received: Received[] = []
  const answers = new Map<
    string,
    (body: Received['body']) => { status: number; headers?: object; body?: object }
  >()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Received['body']
      const path = request.url ?? ''
      received.push({ path, headers: request.headers, body })
      const answer = answers.get(path)?.(body) ?? { status: 200 }
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
      response.end(JSON.stringify(answer.body ?? {}))
    })
  })
  const port = await listen(server)
  return {
    port,
    answers,
    url: (path: string) => `http://127.0.0.1:${port}${path}`,
    at: (path: string) => received.filter((one) => one.path === path),
    close: () => close(server),
  }
}

/** A mail server that refuses mail to `nobody@`. */
export async function openMail() {
  const mails: { from: string; to: string[]; text: string }[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: ({ address }, _session, callback) => {
      callback(address.startsWith('nobody@') ? new Error('no such user') : undefined)
    },
    onData: (stream, { envelope }, callback) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
        const text = Buffer.concat(chunks).toString()
        mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), text })
        callback()
      })
    },
  })
  const port = await listen(server.server)
  return { port, mails, close: () => new Promise<void>((resolve) => server.close(() => resolve())) }
}

/** A syslog server over TCP: what each connection sent. */
export async function openSyslog() {
  const streams: string[] = []
  const server = createTcpServer((socket) => {
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('end', () => streams.push(Buffer.concat(chunks).toString()))
  })
  return { port: await listen(server), streams, close: () => close(server) }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()))
}

/** The last error of a destination's attempts. */
export async function lastErrorOf(pool: Pool, webhookId: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ error: string }>(
    `select a.error from webhook_attempts a join webhook_deliveries d on d.id = a.delivery_id
     where d.webhook_id = $1 and a.error is not null order by a.at desc limit 1`,
    [idToUuid(webhookId)],
  )
  return rows[0]?.error
}

/** How long its waiting delivery waits. */
export async function waitsMs(pool: Pool, webhookId: string): Promise<number | undefined> {
  const { rows } = await pool.query<{ ms: number }>(
    'select extract(epoch from due_at - now())::float8 * 1000 as ms from webhook_waiting where webhook_id = $1',
    [idToUuid(webhookId)],
  )
  return rows[0]?.ms
}
