import { Badge, Text } from '@mantine/core'
import { TimeText } from '../../parts/time-text.tsx'
import { stateWords, type Finding } from './finding-texts.ts'

const colors = { open: 'red', acknowledged: 'cyan', muted: 'gray', resolved: 'green', false_alarm: 'gray' }

/** The state, with the end of a mute. */
export function StateBadge({ finding: { state, muted_until: until } }: { finding: Finding }) {
  return (
    <>
      <Badge color={colors[state]} variant="light">
        {stateWords[state]}
      </Badge>
      {until === null ? null : (
        <Text size="xs" c="dimmed">
          until <TimeText at={until} />
        </Text>
      )}
    </>
  )
}
