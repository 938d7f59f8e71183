import { gateways } from '../fixture/roster.ts'
import type { Fault } from './fault.ts'

/** Fills the disk of a gateway's spool: calls continue, and calls that cannot be recorded are counted. */
export const fillDisk: Fault = {
  kind: 'fill-disk',
  targets: gateways,
  lastsMs: [3_000, 20_000],
  holds: (target) => [target],
  begin: ({ disks }, target) => {
    if (disks === null) throw new Error('there is no disk that can be filled')
    const free = disks.fill(target)
    return Promise.resolve(free)
  },
}
