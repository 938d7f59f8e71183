import { Group, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** The title of a page, and beside it what the whole page is changed by. */
export function PageHead({ title, children }: { title: ReactNode; children?: ReactNode }) {
  return (
    <Group justify="space-between" align="center" gap="sm" mb="md">
      <Title order={1}>{title}</Title>
      <Group gap="xs">{children}</Group>
    </Group>
  )
}
