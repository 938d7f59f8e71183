import { Button, Code, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { useApi } from '../../api/use-api.ts'
import { Loaded } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'

/** The record's content, loaded on request, as each reading is audited. */
export function LetterContent({ id }: { id: string }) {
  const [isAsked, setAsked] = useState(false)
  if (isAsked) return <Content id={id} />
  return (
    <Group>
      <Button variant="default" size="compact-sm" onClick={() => setAsked(true)}>
        Show content
      </Button>
      <Text size="xs" c="dimmed">
        This is written to the audit log.
      </Text>
    </Group>
  )
}

function Content({ id }: { id: string }) {
  const shown = useApi('GET /api/dead-letters/{id}/content', { params: { id } }, { isFixed: true })
  return (
    <Loaded query={shown}>
      {({ content, reason }) =>
        content === null ? (
          <Text size="sm" c="dimmed">
            Content not available: <PlainText text={reason ?? 'unknown reason'} />.
          </Text>
        ) : (
          <Code block tabIndex={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            <PlainText text={JSON.stringify(content, null, 2)} />
          </Code>
        )
      }
    </Loaded>
  )
}
