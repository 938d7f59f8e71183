import { Badge, Box, Checkbox, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { useProject } from '../../app/project.ts'
import { formatCount } from '../../formats/format-number.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { VerdictBadge } from '../../parts/verdict-badge.tsx'
import { FindingButtons } from './finding-buttons.tsx'
import classes from './finding-table.module.css'
import { ageOf, formatValues, placeOf, titleOf, type Finding } from './finding-texts.ts'
import { StateBadge } from './state-badge.tsx'
import { useFindingActions } from './use-finding-actions.tsx'
import { linkIdOf, useRowKeys } from './use-row-keys.ts'

interface FindingTableProps {
  findings: readonly Finding[]
  mayAct: boolean
  /** Of every project: rows name theirs. */
  isOfAll: boolean
  focusFilter: () => void
}

/** The queue: rows to tick, and keys that act on the ticked ones or on the active one. */
export function FindingTable({ findings, mayAct, isOfAll, focusFilter }: FindingTableProps) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const ticked = findings.filter(({ id }) => ids.has(id))
  const actions = useFindingActions(() => setIds(new Set()))
  const tick = (finding: Finding, isTicked: boolean) =>
    setIds(new Set(isTicked ? [...ids, finding.id] : [...ids].filter((id) => id !== finding.id)))
  const keys = useRowKeys({
    rows: findings,
    ticked,
    toggle: (finding) => tick(finding, !ids.has(finding.id)),
    actions: mayAct ? actions : null,
    focusFilter,
  })
  return (
    <>
      {mayAct ? (
        <Box mih={34} mb="xs" className={classes['bar'] ?? ''}>
          <Text size="sm" c="dimmed" role="status">
            {ticked.length === 0 ? 'None selected' : `${formatCount(ticked.length)} selected`}
          </Text>
          {ticked.length === 0 ? null : <FindingButtons findings={ticked} actions={actions} />}
        </Box>
      ) : null}
      <Table.ScrollContainer minWidth={820} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table aria-label="Findings" highlightOnHover>
          <QueueHead
            mayAct={mayAct}
            tickedCount={ticked.length}
            allCount={findings.length}
            onTickAll={(isTicked) => setIds(new Set(isTicked ? findings.map(({ id }) => id) : []))}
          />
          <Table.Tbody>
            {findings.map((finding) => (
              <Table.Tr
                key={finding.id}
                className={classes['row'] ?? ''}
                data-active={finding === keys.active || undefined}
                onFocus={() => keys.setActive(finding)}
              >
                {mayAct ? (
                  <Table.Td>
                    <Checkbox
                      aria-label={`Select ${titleOf(finding)}, ${placeOf(finding)}`}
                      checked={ids.has(finding.id)}
                      onChange={({ currentTarget: { checked } }) => tick(finding, checked)}
                    />
                  </Table.Td>
                ) : null}
                <FindingCells finding={finding} isOfAll={isOfAll} />
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {actions.dialog}
    </>
  )
}

interface QueueHeadProps {
  mayAct: boolean
  tickedCount: number
  allCount: number
  onTickAll: (isTicked: boolean) => void
}

function QueueHead({ mayAct, tickedCount, allCount, onTickAll }: QueueHeadProps) {
  return (
    <Table.Thead>
      <Table.Tr>
        {mayAct ? (
          <Table.Th w={40}>
            <Checkbox
              aria-label="Select all"
              checked={tickedCount === allCount}
              indeterminate={tickedCount > 0 && tickedCount < allCount}
              onChange={(event) => onTickAll(event.currentTarget.checked)}
            />
          </Table.Th>
        ) : null}
        <Table.Th>Severity</Table.Th>
        <Table.Th>Finding</Table.Th>
        <Table.Th>State</Table.Th>
        <Table.Th>Owner</Table.Th>
        <Table.Th ta="right">Calls</Table.Th>
        <Table.Th ta="right">Values</Table.Th>
        <Table.Th>Last seen</Table.Th>
        <Table.Th>Age</Table.Th>
      </Table.Tr>
    </Table.Thead>
  )
}

function FindingCells({ finding, isOfAll }: { finding: Finding; isOfAll: boolean }) {
  const { all } = useProject()
  const { project_id: projectId, owner } = finding
  const project = all.find(({ id }) => id === projectId)?.name ?? projectId
  return (
    <>
      <Table.Td>
        <VerdictBadge label="unsafe" severity={finding.severity} />
      </Table.Td>
      <Table.Td>
        <PageLink
          to="/findings/$id"
          params={{ id: finding.id }}
          search={{ project: projectId }}
          id={linkIdOf(finding)}
        >
          <PlainText text={titleOf(finding)} />
        </PageLink>
        <Text size="xs" c="dimmed">
          <PlainText text={isOfAll ? `${project} · ${placeOf(finding)}` : placeOf(finding)} />
        </Text>
      </Table.Td>
      <Table.Td>
        <StateBadge finding={finding} />
      </Table.Td>
      <Table.Td>{owner === null ? null : <PlainText text={owner.login} />}</Table.Td>
      <Table.Td ta="right">{formatCount(finding.count)}</Table.Td>
      <Table.Td ta="right">{formatValues(finding)}</Table.Td>
      <Table.Td>
        <TimeText at={finding.last_seen_at} isAgo />
        <Text size="xs" c="dimmed">
          first <TimeText at={finding.first_seen_at} isAgo />
        </Text>
      </Table.Td>
      <Table.Td>
        {ageOf(finding, Date.now())} {finding.is_overdue ? <Badge color="red.9">Overdue</Badge> : null}
      </Table.Td>
    </>
  )
}
