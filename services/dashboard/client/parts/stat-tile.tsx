import { Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'

interface StatTileProps {
  label: string
  /** The one value. */
  children: ReactNode
  /** What it is of, or made of. */
  detail?: ReactNode
}

/** One value and what it is of. */
export function StatTile({ label, children, detail }: StatTileProps) {
  return (
    <Paper withBorder p="sm" role="group" aria-label={label}>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      {/* A sum of thousandths of a cent is as long as a tile of six is wide. */}
      <Text component="div" fz={20} fw={600} lh={1.6} style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
      <Text component="div" size="xs" c="dimmed">
        {detail}
      </Text>
    </Paper>
  )
}
