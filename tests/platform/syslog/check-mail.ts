import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { freePorts } from '#infra/embedded/free-port.ts'
import type { Say } from '#infra/embedded/embedded-part.ts'
import { renderEmail } from '#services/notifier/destinations/render-email.ts'
import { createSendMail } from '#services/notifier/destinations/send-mail.ts'
import { hostileSnippets } from '#services/notifier/destinations/testing/hostile-snippets.ts'
import { hostileNotice, mail } from '#services/notifier/destinations/testing/sample-notices.ts'
import { makeCertificate } from '../../support/make-certificate.ts'
import { until } from '../../support/until.ts'
import { runProgram } from '../engine/run-program.ts'
import { installPython } from '../python/python-venv.ts'
import type { Report } from '../report.ts'

const timeoutMs = 10_000

/** Reads a mailbox with Python's parser of mail: headers, and the decoded text. */
const readMailbox = `
import json, mailbox, sys
from email import policy
from email.parser import BytesParser
found = []
for message in mailbox.Maildir(sys.argv[1], create=False):
    parsed = BytesParser(policy=policy.default).parsebytes(message.as_bytes())
    found.append({"names": sorted(parsed.keys()), "id": parsed["Message-ID"], "subject": parsed["Subject"],
                  "to": parsed["To"], "text": parsed.get_content(), "defects": [str(d) for d in parsed.defects]})
print(json.dumps(found))
`

interface ReadMail {
  names: string[]
  id: string
  subject: string
  to: string
  text: string
  defects: string[]
}

/** A mail server with STARTTLS takes what the notifier sends, each mail with its own headers alone. */
export async function checkMail(
  report: Report,
  {
    cache,
    say,
    directory,
    undo,
  }: {
    cache: string
    say: Say
    directory: string
    undo: (work: () => Promise<void>) => void
  },
): Promise<void> {
  const certificate = makeCertificate()
  const box = join(directory, 'mail')
  const [port] = (await freePorts(1)) as [number]
  const python = await report.need('a mail server with STARTTLS starts', async () => {
    const found = await installPython(cache, join(import.meta.dirname, 'requirements.txt'), say)
    await writeFile(join(directory, 'mail-key.pem'), certificate.key)
    await writeFile(join(directory, 'mail-cert.pem'), certificate.cert)
    const tls = ['--tlscert', join(directory, 'mail-cert.pem'), '--tlskey', join(directory, 'mail-key.pem')]
    const args = ['-n', '-l', `127.0.0.1:${port}`, ...tls, '-c', 'aiosmtpd.handlers.Mailbox', box]
    const child = spawn(found, ['-m', 'aiosmtpd', ...args], { stdio: 'ignore' })
    const exited = once(child, 'exit')
    undo(async () => {
      child.kill()
      await exited
    })
    await until(() => greets(port))
    return found
  })
  const settings = { ...mail, host: '127.0.0.1', port }
  const notices = hostileSnippets.map(hostileNotice)
  await report.check(`it takes ${notices.length} mails, each whole and with no other header`, async () => {
    const send = createSendMail(timeoutMs, certificate.cert)
    for (const notice of notices) {
      const error = await send(renderEmail(notice, settings), settings, {})
      if (error !== null) throw new Error(error)
    }
    const script = join(directory, 'read_mailbox.py')
    await writeFile(script, readMailbox)
    const read = JSON.parse(await runProgram(python, [script, box])) as ReadMail[]
    for (const notice of notices) {
      const wanted = renderEmail(notice, settings)
      const mails = read.filter(({ id }) => id === wanted.messageId)
      const names = new Set(read.map((one) => one.names.join()))
      const [one] = mails
      const isWhole =
        one?.subject === wanted.subject.toWellFormed() && one.text === wanted.text.toWellFormed()
      if (
        mails.length !== 1 ||
        !isWhole ||
        one.defects.length > 0 ||
        one.to !== mail.to[0] ||
        names.size !== 1
      )
        throw new Error(
          `${JSON.stringify(wanted).slice(0, 500)} was read as ${JSON.stringify(mails).slice(0, 900)}`,
        )
    }
  })
  await report.check('another certificate authority is refused, and no mail is sent', async () => {
    const before = (await readdir(join(box, 'new'))).length
    for (const authority of [undefined, makeCertificate().cert]) {
      const wanted = renderEmail(notices[0] as (typeof notices)[number], settings)
      const error = await createSendMail(timeoutMs, authority)(wanted, settings, {})
      if (error?.startsWith('TLS') !== true) throw new Error(`the certificate is accepted: ${error}`)
    }
    if ((await readdir(join(box, 'new'))).length !== before) throw new Error('a mail was sent')
  })
}

function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', () => resolve(false))
    socket.once('data', () => {
      socket.destroy()
      resolve(true)
    })
  })
}
