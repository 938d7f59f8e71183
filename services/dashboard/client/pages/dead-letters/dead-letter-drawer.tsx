import { Button, Drawer, Group, Stack, Table, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Answer } from '../../api/call-api.ts'
import { useApi, useApiChange } from '../../api/use-api.ts'
import { formatBytes } from '../../formats/format-number.ts'
import { notifyResult } from '../../parts/confirm-action.tsx'
import { Loaded } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { LetterContent } from './letter-content.tsx'

type Letter = Answer<'GET /api/dead-letters/{id}'>
const changed = ['GET /api/dead-letters', 'GET /api/dead-letters/{id}', 'GET /api/operations'] as const

/** One dead letter in full, with its actions. */
export function DeadLetterDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const letter = useApi('GET /api/dead-letters/{id}', { params: { id } })
  return (
    <Drawer opened onClose={onClose} position="right" size="lg" title="Dead letter">
      <Loaded query={letter}>
        {(shown) => (
          <Stack>
            <Facts letter={shown} />
            <LetterContent id={id} />
            {shown.status === 'open' ? <Decide letter={shown} onDone={onClose} /> : null}
          </Stack>
        )}
      </Loaded>
    </Drawer>
  )
}

function Facts({ letter }: { letter: Letter }) {
  const facts: [string, string | null][] = [
    ['Topic', `${letter.topic}, partition ${letter.partition}, offset ${letter.offset}`],
    [
      'Came from',
      letter.source_offset === null
        ? null
        : `partition ${letter.source_partition}, offset ${letter.source_offset}`,
    ],
    ['Dead-lettered by', letter.group_id],
    ['Code', letter.code],
    ['Detail', letter.message],
    ['Key', letter.key],
    ['Project', letter.project_id],
    ['Request', letter.request_id],
    ['Size', letter.value_bytes === null ? null : formatBytes(letter.value_bytes)],
    ['Reason', letter.reason],
  ]
  return (
    <Table aria-label="Details">
      <Table.Tbody>
        {facts.map(([name, value]) =>
          value === null ? null : (
            <Table.Tr key={name}>
              <Table.Th w={140}>{name}</Table.Th>
              <Table.Td>
                <PlainText text={value} />
              </Table.Td>
            </Table.Tr>
          ),
        )}
      </Table.Tbody>
    </Table>
  )
}

function Decide({ letter: { id }, onDone }: { letter: Letter; onDone: () => void }) {
  const [reason, setReason] = useState('')
  const redrive = useApiChange('POST /api/dead-letters/{id}/redrive', changed)
  const drop = useApiChange('POST /api/dead-letters/{id}/drop', changed)
  const decide = async (decision: Promise<unknown>, done: string) => {
    if (await notifyResult(decision, done)) onDone()
  }
  return (
    <Stack>
      <Group>
        <Button
          loading={redrive.isPending}
          onClick={() => void decide(redrive.mutateAsync({ params: { id } }), 'Sent back to its topic.')}
        >
          Send back
        </Button>
      </Group>
      <Group align="flex-end">
        <TextInput
          label="Reason for dropping"
          flex={1}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <Button
          color="red"
          variant="light"
          disabled={reason.trim() === ''}
          loading={drop.isPending}
          onClick={() => void decide(drop.mutateAsync({ params: { id }, body: { reason } }), 'Dropped.')}
        >
          Drop
        </Button>
      </Group>
    </Stack>
  )
}
