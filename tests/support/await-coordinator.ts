import type { Admin } from 'kafkajs'
import { until } from './until.ts'

/**
 * Waits until a new cluster has created its offsets topic. A kafkajs consumer that starts earlier crashes.
 */
export function awaitCoordinator(admin: Admin, groupId: string): Promise<void> {
  return until(() =>
    admin.describeGroups([groupId]).then(
      () => true,
      () => false,
    ),
  )
}
