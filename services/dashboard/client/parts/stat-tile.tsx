import { Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'

interface StatTileProps {
  label: string
  /** The value. */
  children: ReactNode
  /** Its base or composition. */
  detail?: ReactNode
}

/** One value with its detail. */
export function StatTile({ label, children, detail }: StatTileProps) {
  return (
    <Paper withBorder p="sm" role="group" aria-label={label}>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      {/* A sum of thousandths of a cent is as wide as one of six tiles. */}
      <Text component="div" fz={20} fw={600} lh={1.6} style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
      <Text component="div" size="xs" c="dimmed">
        {detail}
      </Text>
    </Paper>
  )
}
