import kafkajs, { type Admin, type PartitionAssigner } from 'kafkajs'
import type { Clock } from '../clock.ts'
import { askPatiently } from './ask-patiently.ts'
import { isGivenUp, withoutLiving, type Suspects } from './crash-marks.ts'

const { AssignerProtocol, PartitionAssigners } = kafkajs

/** Deals as kafkajs does, and carries the member's name where the group can tell it: the broker's member ids change at every join. */
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

/** The names of the members that live, as far as what was found needs them: their marks mean nothing. */
export type RollCall = (
  places: readonly { suspects: Suspects | null }[],
  isCurrent: () => boolean,
) => Promise<ReadonlySet<string>>

/** Between two questions to a group that is dealing. */
const askAgainMs = 200

export function createRollCall(
  admin: Admin,
  {
    groupId,
    heartbeatIntervalMs,
    clock,
    stopping,
  }: { groupId: string; heartbeatIntervalMs: number; clock: Clock; stopping: AbortSignal },
): RollCall {
  /** While the group deals it does not say who its members are; what it deals is another generation, which asks anew. */
  const ask = async (isCurrent: () => boolean): Promise<ReadonlySet<string>> => {
    for (;;) {
      const { groups } = await askPatiently(() => admin.describeGroups([groupId]), clock, stopping)
      const [group] = groups
      if (group?.state === 'Stable') return new Set(group.members.map(nameOf))
      if (!isCurrent() || stopping.aborted) return new Set()
      await clock.sleep(askAgainMs, stopping)
    }
  }
  return async (places, isCurrent) => {
    if (places.every(({ suspects }) => suspects === null)) return new Set()
    const living = await ask(isCurrent)
    if (!places.some(({ suspects }) => isGivenUp(withoutLiving(suspects, living)))) return living
    // A member that the group has just dropped, and that lives, hears of it at its next heartbeat and joins again.
    await clock.sleep(2 * heartbeatIntervalMs, stopping)
    return ask(isCurrent)
  }
}

function nameOf({ memberMetadata }: { memberMetadata: Buffer }): string {
  return String(AssignerProtocol.MemberMetadata.decode(memberMetadata)?.userData ?? '')
}
