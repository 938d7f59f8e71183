import { Button, Code, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { addressOf } from '../../api/call-api.ts'
import { formatCount } from '../../formats/format-number.ts'
import { DownloadButton } from '../../parts/download-button.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import type { RequestDetail } from './request-detail.ts'

const shownAtFirst = 100_000

/** Both bodies as JSON. The file has the original bytes, with the digits of integers beyond 2^53. */
export function RawJson({ request }: { request: RequestDetail }) {
  const { id, project_id } = request
  return (
    <Stack>
      <Group>
        <DownloadButton
          address={addressOf('GET /api/requests/{id}', { params: { id }, query: { project_id } })}
          name={`${id}.json`}
          size="xs"
        >
          Download as recorded
        </DownloadButton>
      </Group>
      <Body title="Request" body={request.request_body} />
      <Body title="Response" body={request.response_body} />
    </Stack>
  )
}

function Body({ title, body }: { title: string; body: object | null }) {
  const [isWhole, setWhole] = useState(false)
  const text = JSON.stringify(body, null, 2)
  return (
    <div>
      <Text size="sm" fw={600} mb={4}>
        {title}
      </Text>
      <Code block tabIndex={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        <PlainText text={isWhole ? text : text.slice(0, shownAtFirst)} />
      </Code>
      {isWhole || text.length <= shownAtFirst ? null : (
        <Button size="compact-xs" variant="subtle" onClick={() => setWhole(true)}>
          Show all {formatCount(text.length)} characters
        </Button>
      )}
    </div>
  )
}
