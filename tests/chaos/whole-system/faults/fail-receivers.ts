import type { Fault } from './fault.ts'

/** Long enough that some deliveries use up their four attempts (7 s) and others do not. */
export const failReceivers: Fault = {
  kind: 'fail-receivers',
  targets: ['error', 'reset', 'hang'],
  lastsMs: [3_000, 25_000],
  holds: () => ['receivers'],
  begin: ({ parts }, target) => {
    parts.receivers.behave(target as 'error' | 'reset' | 'hang')
    return Promise.resolve(() => parts.receivers.behave('well'))
  },
}
