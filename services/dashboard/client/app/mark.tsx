import { Group, Text } from '@mantine/core'
import icon from '../icon.svg'

/** The mark, a raised sluice gate, and the name. */
export function Mark() {
  return (
    <Group gap="xs" wrap="nowrap">
      <img src={icon} width={24} height={24} alt="" />
      <Text fw={700} size="lg">
        Sluice
      </Text>
    </Group>
  )
}
