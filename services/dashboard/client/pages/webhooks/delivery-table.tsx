import { Button, Checkbox, Code, Group, Stack, Table, Text } from '@mantine/core'
import { useState } from 'react'
import type { Item } from '../../api/call-api.ts'
import { formatCount, formatDuration } from '../../formats/format-number.ts'
import { formatTime } from '../../formats/format-time.ts'
import { DeliveryBadge } from '../../parts/delivery-badge.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { useReplay } from './use-replay.ts'

type Delivery = Item<'GET /api/v1/webhooks/{id}/deliveries'>

interface DeliveryTableProps {
  deliveries: readonly Delivery[]
  projectId: string
  webhookId: string
}

/** Deliveries to inspect and to send again, singly or by selection. */
export function DeliveryTable({ deliveries, projectId, webhookId }: DeliveryTableProps) {
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const { send, isSending } = useReplay({ projectId, webhookId })
  const free = deliveries.filter(({ can_be_replayed: canBe }) => canBe)
  // Deliveries already being resent can no longer be selected.
  const chosen = free.filter(({ id }) => ticked.has(id))
  const tick = (ids: readonly string[], isTicked: boolean) =>
    setTicked(
      isTicked ? new Set([...ticked, ...ids]) : new Set([...ticked].filter((id) => !ids.includes(id))),
    )
  const sendChosen = async () => {
    if (await send(chosen.map(({ id }) => id))) setTicked(new Set())
  }
  return (
    <Stack gap="xs">
      <Group mih={30} gap="sm">
        <Button
          size="xs"
          disabled={chosen.length === 0}
          loading={isSending}
          onClick={() => void sendChosen()}
        >
          Resend selected
        </Button>
        <Text size="sm" c="dimmed" role="status">
          {chosen.length === 0 ? 'None selected' : `${formatCount(chosen.length)} selected`}
        </Text>
      </Group>
      <Table.ScrollContainer minWidth={760}>
        <Table aria-label="Deliveries">
          <TableHead
            chosenCount={chosen.length}
            allCount={free.length}
            onTickAll={(isTicked) =>
              tick(
                free.map(({ id }) => id),
                isTicked,
              )
            }
          />
          <Table.Tbody>
            {deliveries.map((delivery) => (
              <DeliveryRows
                key={delivery.id}
                delivery={delivery}
                isFree={free.includes(delivery)}
                isTicked={ticked.has(delivery.id)}
                onTick={(isTicked) => tick([delivery.id], isTicked)}
                onSend={() => void send([delivery.id])}
              />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  )
}

interface TableHeadProps {
  chosenCount: number
  /** Of the selectable ones. */
  allCount: number
  onTickAll: (isTicked: boolean) => void
}

function TableHead({ chosenCount, allCount, onTickAll }: TableHeadProps) {
  return (
    <Table.Thead>
      <Table.Tr>
        <Table.Th w={40}>
          <Checkbox
            aria-label="Select all"
            checked={allCount > 0 && chosenCount === allCount}
            indeterminate={chosenCount > 0 && chosenCount < allCount}
            disabled={allCount === 0}
            onChange={(event) => onTickAll(event.currentTarget.checked)}
          />
        </Table.Th>
        <Table.Th>Event</Table.Th>
        <Table.Th>Created</Table.Th>
        <Table.Th>Status</Table.Th>
        <Table.Th ta="right">Attempts</Table.Th>
        <Table.Th>Delivered</Table.Th>
        <Table.Th>Actions</Table.Th>
      </Table.Tr>
    </Table.Thead>
  )
}

interface DeliveryRowsProps {
  delivery: Delivery
  /** It can be sent again. */
  isFree: boolean
  isTicked: boolean
  onTick: (isTicked: boolean) => void
  onSend: () => void
}

function DeliveryRows({ delivery, isFree, isTicked, onTick, onSend }: DeliveryRowsProps) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Table.Tr>
        <Table.Td>
          <Checkbox
            aria-label={`Select the delivery of ${formatTime(delivery.created_at)}`}
            checked={isTicked && isFree}
            disabled={!isFree}
            onChange={(event) => onTick(event.currentTarget.checked)}
          />
        </Table.Td>
        <Table.Td>{delivery.event}</Table.Td>
        <Table.Td>
          <TimeText at={delivery.created_at} />
        </Table.Td>
        <Table.Td>
          <DeliveryBadge status={delivery.status} />
        </Table.Td>
        <Table.Td ta="right">{formatCount(delivery.attempt_count)}</Table.Td>
        <Table.Td>
          <TimeText at={delivery.delivered_at} />
        </Table.Td>
        <Table.Td>
          <Button.Group>
            <Button
              size="compact-sm"
              variant="default"
              aria-expanded={isOpen}
              onClick={() => setIsOpen(!isOpen)}
            >
              Attempts
            </Button>
            <Button size="compact-sm" variant="default" disabled={!isFree} onClick={onSend}>
              Resend
            </Button>
          </Button.Group>
        </Table.Td>
      </Table.Tr>
      {isOpen ? (
        <Table.Tr>
          <Table.Td colSpan={7}>
            <Attempts attempts={delivery.attempts} />
          </Table.Td>
        </Table.Tr>
      ) : null}
    </>
  )
}

function Attempts({ attempts }: { attempts: Delivery['attempts'] }) {
  return (
    <Stack gap="xs">
      {attempts.length === 0 ? <Text size="sm">None yet.</Text> : null}
      {attempts.map(
        ({ number, at, status_code: status, duration_ms: ms, error, response_excerpt: excerpt }) => (
          <Stack key={number} gap={4}>
            <Text size="sm">
              {number}. <TimeText at={at} /> · {status ?? 'no answer'} · {formatDuration(ms)}
              {error === null ? null : (
                <>
                  {' · '}
                  <PlainText text={error} />
                </>
              )}
            </Text>
            {excerpt === null || excerpt === '' ? null : (
              <Code block mah={160}>
                <PlainText text={excerpt} />
              </Code>
            )}
          </Stack>
        ),
      )}
    </Stack>
  )
}
