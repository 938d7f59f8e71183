import { Badge, Group, Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { healthColors, type Health } from '../app/theme.ts'

interface StatTileProps {
  label: string
  /** The value. */
  children: ReactNode
  /** Its base or composition. */
  detail?: ReactNode
  /** Whether it needs attention, in a word and a colour. Absent: it is only a number. */
  health?: Health
}

const healthWords = { ok: 'OK', warning: 'Look', wrong: 'Wrong' } as const

/** One value with its detail. */
export function StatTile({ label, children, detail, health }: StatTileProps) {
  return (
    <Paper withBorder p="sm" role="group" aria-label={label}>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text size="sm" c="dimmed">
          {label}
        </Text>
        {health === undefined ? null : (
          <Badge size="sm" variant="light" color={healthColors[health]}>
            {healthWords[health]}
          </Badge>
        )}
      </Group>
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
