import kafkajs, { type GroupDescription, type PartitionAssigner } from 'kafkajs'
import type { Clock } from '../clock.ts'
import { retryRequest } from './retry-request.ts'
import { partitionKey } from './assignment.ts'
import { isGivenUp, withoutLiving, type Suspects } from './crash-marks.ts'

const { AssignerProtocol, PartitionAssigners } = kafkajs

/**
 * Assigns as kafkajs does, and publishes the member's name to the group: broker member ids change with every
 * join.
 */
export function assignerNaming(name: string): PartitionAssigner {
  return (config) => {
    const assigner = PartitionAssigners.roundRobin(config)
    const protocol: typeof assigner.protocol = ({ topics }) => ({
      name: assigner.name,
      metadata: AssignerProtocol.MemberMetadata.encode({
        version: assigner.version,
        topics,
        userData: Buffer.from(name),
      }),
    })
    return { ...assigner, protocol }
  }
}

interface MarkedPlace {
  topic: string
  partition: number
  suspects: Suspects | null
}

/** The suspects at each start offset, in order, without the tries of live members. */
export type LiveMembers = (
  places: readonly MarkedPlace[],
  isCurrent: () => boolean,
) => Promise<readonly (Suspects | null)[]>

interface LiveMembersOptions {
  /** This member's name. */
  name: string
  describeGroup: () => Promise<Pick<GroupDescription, 'state' | 'members'> | undefined>
  heartbeatIntervalMs: number
  clock: Clock
  stopping: AbortSignal
}

/** Pause between two requests to a group that rebalances. */
const askAgainMs = 200
/**
 * A member that comes back to its own mark at the same record this often is thrown out by that record: its
 * handler blocks the process for longer than the session. Being alive then no longer clears it.
 */
const maxReturns = 10

export function createLiveMembers(options: LiveMembersOptions): LiveMembers {
  const { name, describeGroup, heartbeatIntervalMs, clock, stopping } = options
  const returns = new Map<string, { from: bigint; count: number }>()

  const noteReturn = (place: MarkedPlace) => {
    const { suspects } = place
    const key = partitionKey(place)
    const before = returns.get(key)
    if (suspects?.mark.writers.includes(name) !== true) returns.delete(key)
    else if (before?.from === suspects.from) before.count++
    else returns.set(key, { from: suspects.from, count: 1 })
  }
  const judge = (places: readonly MarkedPlace[], living: ReadonlySet<string>) =>
    places.map((place) =>
      (returns.get(partitionKey(place))?.count ?? 0) > maxReturns
        ? place.suspects
        : withoutLiving(place.suspects, living),
    )
  /** A rebalancing group does not list its members. The next generation asks again. */
  const ask = async (isCurrent: () => boolean): Promise<ReadonlySet<string>> => {
    for (;;) {
      const group = await retryRequest(describeGroup, clock, stopping)
      if (group?.state === 'Stable') return new Set(group.members.map(nameOf))
      if (!isCurrent() || stopping.aborted) return new Set()
      await clock.sleep(askAgainMs, stopping)
    }
  }
  return async (places, isCurrent) => {
    places.forEach(noteReturn)
    if (places.every(({ suspects }) => suspects === null)) return places.map(() => null)
    const suspected = judge(places, await ask(isCurrent))
    if (!suspected.some(isGivenUp)) return suspected
    // A live member that the group has just dropped learns of it at its next heartbeat and joins again.
    await clock.sleep(2 * heartbeatIntervalMs, stopping)
    return judge(places, await ask(isCurrent))
  }
}

function nameOf({ memberMetadata }: { memberMetadata: Buffer }): string {
  return String(AssignerProtocol.MemberMetadata.decode(memberMetadata)?.userData ?? '')
}
