import { Badge } from '@mantine/core'

const colors = { pending: 'gray', retrying: 'yellow', delivered: 'green', failed: 'red' } as const

/** A delivery's status. */
export function DeliveryBadge({ status }: { status: keyof typeof colors }) {
  return (
    <Badge color={colors[status]} variant="light">
      {status}
    </Badge>
  )
}
