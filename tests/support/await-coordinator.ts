import type { Admin } from 'kafkajs'
import { until } from './until.ts'

/** A new cluster coordinates groups once it has made the topic that remembers them; kafkajs ends a consumer that asks before. */
export function awaitCoordinator(admin: Admin, groupId: string): Promise<void> {
  return until(() =>
    admin.describeGroups([groupId]).then(
      () => true,
      () => false,
    ),
  )
}
