import type { Settings } from '#schemas/destinations.ts'
import { cut, disarm } from './disarm.ts'
import type { Notice } from './notice.ts'

const maxSubject = 200

/** What the mail library takes. It folds and encodes headers. */
export interface Mail {
  from: string
  to: string[]
  subject: string
  text: string
  messageId: string
  headers: Record<string, string>
  date: Date
}

/**
 * A plain-text mail. Its message id is the event's, so that a mail that is sent again is known as the same;
 * mails of one finding or rule refer to one id, which threads them.
 */
export function renderEmail(notice: Notice, { from, to }: Settings<'email'>): Mail {
  const domain = from.slice(from.lastIndexOf('@') + 1)
  const thread = `<${notice.dedupKey}@${domain}>`
  const lines = [
    disarm(notice.title),
    '',
    ...notice.facts.map(([name, value]) => `${name}: ${disarm(value)}`),
    ...notice.quotes.flatMap(([name, text]) => ['', `${name}:`, ...quoteLines(disarm(text))]),
    ...(notice.link === null ? [] : ['', `Open in Sluice: ${notice.link}`]),
    '',
    `Event ${notice.id}`,
  ]
  return {
    from,
    to,
    subject: cut(oneLine(`[Sluice] ${disarm(notice.title)}`), maxSubject),
    text: `${lines.join('\n')}\n`,
    messageId: `<${notice.id}@${domain}>`,
    headers: {
      'In-Reply-To': thread,
      References: thread,
      'Auto-Submitted': 'auto-generated',
      'X-Sluice-Event': notice.event,
    },
    date: new Date(notice.createdAtMs),
  }
}

function quoteLines(text: string): string[] {
  return text.split(/\r\n|[\r\n]/).map((line) => `> ${line}`)
}

function oneLine(text: string): string {
  return text.replace(/[\r\n\t]+/g, ' ')
}
