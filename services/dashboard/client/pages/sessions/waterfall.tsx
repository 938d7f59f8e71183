import { Anchor, Box, Group, ScrollArea, Text } from '@mantine/core'
import { formatDuration } from '../../formats/format-number.ts'
import { PlainText } from '../../parts/plain-text.tsx'
import { layOutWaterfall, type Bar } from './lay-out-waterfall.ts'
import type { SessionCall } from './session-call.tsx'

/** The loaded calls by time, each a link to where it stands on the page. */
export function Waterfall({ calls }: { calls: readonly SessionCall[] }) {
  const bars = layOutWaterfall(
    calls.map(({ created_at, latency_ms }) => ({ startMs: Date.parse(created_at), latencyMs: latency_ms })),
  )
  return (
    <ScrollArea.Autosize mah={260} type="auto" viewportProps={{ tabIndex: 0 }}>
      <Box component="ol" aria-label="Waterfall" p={0} m={0} style={{ listStyle: 'none' }}>
        {calls.map((call, index) => (
          <CallBar key={call.id} call={call} bar={bars[index]} />
        ))}
      </Box>
    </ScrollArea.Autosize>
  )
}

function CallBar({ call, bar }: { call: SessionCall; bar: Bar | undefined }) {
  const hasFailed = call.error !== null || (call.status_code ?? 0) >= 400
  const color =
    hasFailed || call.worst_label === 'unsafe' ? 'red' : call.type === 'mcp_tool_call' ? 'teal' : 'blue'
  return (
    <Group component="li" gap="xs" wrap="nowrap" h={22}>
      <Text size="xs" w={{ base: 70, sm: 140 }} flex="none" truncate>
        <Anchor href={`#${call.id}`} inherit>
          <PlainText text={call.tool_name ?? call.model} />
        </Anchor>
      </Text>
      <Box flex={1} h={10} pos="relative" bg="var(--mantine-color-default-hover)">
        <Box
          pos="absolute"
          h={10}
          bg={`var(--mantine-color-${color}-filled)`}
          style={{ left: `${bar?.left ?? 0}%`, width: `max(2px, ${bar?.width ?? 0}%)` }}
        />
      </Box>
      <Text size="xs" c="dimmed" w={{ base: 130, sm: 150 }} flex="none" truncate>
        {formatDuration(call.latency_ms)}
        {bar?.shortenedMs === undefined ? '' : `, after ${formatDuration(bar.shortenedMs)}`}
      </Text>
    </Group>
  )
}
