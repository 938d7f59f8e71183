import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PlatformPart } from '../platform-part.ts'
import { checkMail } from './check-mail.ts'
import { checkSyslog } from './check-syslog.ts'

export const syslogPart: PlatformPart = {
  about: "the notifier's syslog over TLS in Debian's rsyslog, and its mail in a server with STARTTLS",
  async run({ cache, report, say, undo }) {
    const directory = await mkdtemp(join(tmpdir(), 'sluice-syslog-'))
    undo.push(() => rm(directory, { recursive: true }))
    const later = (work: () => Promise<void>) => void undo.push(work)
    await checkSyslog(report, cache, directory, later)
    await checkMail(report, { cache, say, directory, undo: later })
  },
}
