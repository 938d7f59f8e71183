import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import type { OutboundPolicy } from '#runtime/outbound-address.ts'
import { readVersion } from '#runtime/read-version.ts'
import type { ResolveHost } from '#runtime/resolve-host.ts'
import type { Sealer } from '#runtime/sealing.ts'
import type { NotifierConfig } from '../config.ts'
import { receiverTimeoutMs } from '../delivery/attempt.ts'
import { createSendAudit, type SendAudit } from '../audit/send-audit.ts'
import { createHttpSender } from './send-http.ts'
import { createSendMail } from './send-mail.ts'
import { createSendSyslog } from './send-syslog.ts'
import { createSendToDestination, type SendToDestination } from './send-to-destination.ts'

export interface DestinationsOptions {
  config: NotifierConfig
  sealer: Sealer
  policy: OutboundPolicy
  resolveHost: ResolveHost
  clock: Clock
  log: Log
}

/** What sends to destinations, with the connections that it keeps. */
export function createDestinations({
  config,
  sealer,
  policy,
  resolveHost,
  clock,
  log,
}: DestinationsOptions): {
  send: SendToDestination
  /** Undefined: the operator has no SIEM. */
  sendAudit: SendAudit | undefined
  close(): Promise<void>
} {
  const { WEBHOOK_CA: ca, DESTINATION_ALLOW: allowed, AUDIT_STREAM: target } = config
  const http = createHttpSender({
    ...{ policy, ca, resolveHost, allowed, egress: config },
    timeoutMs: receiverTimeoutMs,
  })
  const sendSyslog = createSendSyslog(receiverTimeoutMs, ca)
  const shared = { http, sendSyslog, policy, allowed, version: readVersion() }
  return {
    send: createSendToDestination({
      ...shared,
      sendMail: createSendMail(receiverTimeoutMs, ca),
      sealer,
      clock,
      log,
    }),
    sendAudit:
      target === undefined
        ? undefined
        : createSendAudit({ ...shared, target, header: config.AUDIT_STREAM_HEADER }),
    close: () => http.close(),
  }
}
