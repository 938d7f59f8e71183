import { createSendSyslog } from '#services/notifier/destinations/send-syslog.ts'
import { renderSyslog } from '#services/notifier/destinations/render-syslog.ts'
import type { Notice } from '#services/notifier/destinations/notice.ts'
import { hostileSnippets } from '#services/notifier/destinations/testing/hostile-snippets.ts'
import {
  hostileNotice,
  noticeWith,
  sender,
  syslog,
} from '#services/notifier/destinations/testing/sample-notices.ts'
import { selectableEvents } from '#schemas/event-raised.ts'
import { makeCertificate, type TestCertificate } from '../../support/make-certificate.ts'
import { until } from '../../support/until.ts'
import type { Report } from '../report.ts'
import { prepareRsyslog, type ReadMessage, type Rsyslog } from './start-rsyslog.ts'

const timeoutMs = 10_000

interface Sent {
  notice: Notice
  format: 'text' | 'ocsf'
  bytes: Buffer
}

/** rsyslog reads what the notifier sends: each message whole, once, with its fields, over TLS it trusts. */
export async function checkSyslog(
  report: Report,
  cache: string,
  directory: string,
  undo: (work: () => Promise<void>) => void,
): Promise<void> {
  const certificate = makeCertificate()
  const server = await report.need('rsyslog starts', async () => {
    const prepared = await prepareRsyslog(cache, directory, certificate)
    undo(() => prepared.stop())
    await prepared.start()
    return prepared
  })
  const settings = { ...syslog, host: '127.0.0.1', port: server.port }
  const send = createSendSyslog(timeoutMs, certificate.cert)
  const all = messages()
  await report.check(`rsyslog reads ${all.length} messages whole, with their fields`, async () => {
    for (const { bytes } of all) refuse(await send([bytes], settings))
    await compare(server, all)
  })
  await report.check(
    'a message that finds it stopped fails, and arrives once after its restart',
    async () => {
      await server.stop()
      const one = sentOf(noticeWith('finding_opened'), 'text')
      if ((await send([one.bytes], settings)) === null) throw new Error('it was sent to nobody')
      await server.start()
      refuse(await send([one.bytes], settings))
      await compare(server, [...all, one])
    },
  )
  await report.check('another certificate authority is refused, and nothing is sent', async () => {
    const before = (await server.read()).length
    await refuseStranger(makeCertificate(), settings)
    await refuseStranger(undefined, settings)
    // What is sent after them shows that rsyslog has read all that came before.
    refuse(await send([sentOf(noticeWith('usage_alert'), 'text').bytes], settings))
    await until(async () => (await server.read()).length > before)
    if ((await server.read()).length !== before + 1) throw new Error('rsyslog read a message')
  })
}

async function refuseStranger(
  authority: TestCertificate | undefined,
  settings: typeof syslog & { port: number },
): Promise<void> {
  const error = await createSendSyslog(timeoutMs, authority?.cert)(
    [Buffer.from('<13>1 - - - - - - x')],
    settings,
  )
  if (error?.startsWith('TLS: ') !== true) throw new Error(`the certificate is accepted: ${error}`)
}

function messages(): Sent[] {
  const notices = [
    ...selectableEvents.map((event) => noticeWith(event)),
    ...hostileSnippets.map(hostileNotice),
  ]
  return notices.flatMap((notice) => [sentOf(notice, 'text'), sentOf(notice, 'ocsf')])
}

function sentOf(notice: Notice, format: Sent['format']): Sent {
  return { notice, format, bytes: renderSyslog(notice, { ...syslog, format }, sender) }
}

async function compare(server: Rsyslog, all: readonly Sent[]): Promise<void> {
  await until(
    async () => (await server.read()).length >= all.length,
    timeoutMs,
    async () => `rsyslog has ${(await server.read()).length} of ${all.length}: ${server.log()}`,
  )
  const read = await server.read()
  if (read.length !== all.length) throw new Error(`rsyslog has ${read.length} of ${all.length}`)
  for (const [index, sent] of all.entries()) compareOne(sent, read[index])
}

function compareOne({ notice, bytes }: Sent, read: ReadMessage | undefined): void {
  const [head = '', ...rest] = bytes.toString('utf8').split(' \ufeff')
  const [pri = '', time, host, app, procid, msgid, ...data] = head.split(' ')
  const expected = {
    pri: pri.slice(1, -2),
    ...{ time, host, app, procid, msgid, data: data.join(' ') },
    message: `\ufeff${rest.join(' \ufeff')}`,
  }
  if (read?.msgid !== notice.event || JSON.stringify(read) !== JSON.stringify(expected))
    throw new Error(
      `sent ${JSON.stringify(expected).slice(0, 600)}, read ${JSON.stringify(read).slice(0, 600)}`,
    )
}

function refuse(error: string | null): void {
  if (error !== null) throw new Error(error)
}
