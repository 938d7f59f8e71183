import { getSystemErrorName } from 'node:util'
import { createTransport } from 'nodemailer'
import type { Credentials, Settings } from '#schemas/destinations.ts'
import { codeOf } from '#runtime/errors.ts'
import { describeFailure } from '../sending/describe-failure.ts'
import type { Mail } from './render-email.ts'

/** Null: the mail server took the mail for every recipient. */
export type SendMail = (
  mail: Mail,
  settings: Settings<'email'>,
  credentials: Credentials<'email'>,
) => Promise<string | null>

/** `ca`: certificate authorities besides the public ones, PEM. */
export function createSendMail(timeoutMs: number, ca: string | undefined): SendMail {
  return async (mail, { host, port, tls, user }, { password }) => {
    const transport = createTransport({
      host,
      port,
      secure: tls === 'implicit',
      requireTLS: tls === 'starttls',
      ignoreTLS: tls === 'none',
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      dnsTimeout: timeoutMs,
      // Text of callers never names a file or an address that the library would read.
      disableFileAccess: true,
      disableUrlAccess: true,
      ...(ca === undefined ? {} : { tls: { ca } }),
      ...(user === undefined || password === undefined ? {} : { auth: { user, pass: password } }),
    })
    try {
      const { rejected } = await transport.sendMail(mail)
      return rejected.length === 0
        ? null
        : `the mail server refused ${rejected.length} of ${mail.to.length} recipients`
    } catch (error) {
      return describeMailFailure(error)
    } finally {
      transport.close()
    }
  }
}

/** Without the server's words: they may name hosts of our own network. */
function describeMailFailure(error: unknown): string {
  const { responseCode } = error as { responseCode?: number }
  if (typeof responseCode === 'number') return `the mail server answered ${responseCode}`
  const code = codeOf(error)
  if (code === 'EAUTH') return 'the mail server refused the user or the password'
  if (code === 'ETLS') return 'TLS: the mail server offers none, or its certificate is not accepted'
  if (code === 'ETIMEDOUT') return 'the mail server did not answer in time'
  if (code === 'EDNS') return 'the host name does not resolve'
  const cause = error instanceof Error ? (error.cause ?? error) : error
  // The mail library puts its own code over that of a socket's error, but leaves the number of a system call.
  const { errno } = cause as { errno?: number }
  if (code === 'ESOCKET' && errno === undefined)
    return 'TLS: the certificate of the mail server is not accepted'
  return describeFailure(errno === undefined ? cause : { code: getSystemErrorName(errno) })
}
