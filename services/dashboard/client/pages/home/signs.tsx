import { SimpleGrid, Skeleton, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { useMe } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import { mayVisit } from '../../app/page-entry.ts'
import { useProject } from '../../app/project.ts'
import { periodBefore, type ChosenRange } from '../../formats/time-range.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { Loaded } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { StatTile } from '../../parts/stat-tile.tsx'
import { callSeriesOf, type Stats } from './read-stats.ts'
import { signsOf, summaryOf, type Sign, type Status } from './read-signs.ts'

interface SignsProps {
  status: UseQueryResult<Status>
  stats: Stats | undefined
  range: ChosenRange
}

/** What needs attention now. */
export function Signs({ status, stats, range }: SignsProps) {
  const { id: project_id } = useProject()
  const me = useMe().data
  const period = periodBefore(range, Date.now())
  const before = useApi(
    'GET /api/stats',
    { query: { project_id, ...period, step: '28d' } },
    { enabled: period !== undefined },
  )
  return (
    <Loaded query={status} waiting={<Skeleton height={130} />}>
      {(answer) => {
        const signs = signsOf({
          status: answer,
          total: totalOf(stats),
          before: period === undefined ? undefined : totalOf(before.data),
          hasJudge: me?.judge?.configured,
          nowMs: Date.now(),
        })
        return (
          <section aria-label="State">
            <Text fw={600} mb="xs" role="status">
              {summaryOf(signs)}
            </Text>
            <SimpleGrid cols={{ base: 2, sm: 3, xl: 6 }} spacing="sm">
              {signs.map((sign) => (
                <SignTile
                  key={sign.label}
                  sign={sign}
                  mayManage={mayVisit(me?.role ?? 'viewer', { role: 'admin' })}
                />
              ))}
            </SimpleGrid>
          </section>
        )
      }}
    </Loaded>
  )
}

function SignTile({
  sign: { label, health, value, detail, to, search },
  mayManage,
}: {
  sign: Sign
  mayManage: boolean
}) {
  const isLinked = to !== undefined && (mayManage || !to.startsWith('/settings/'))
  return (
    <StatTile label={label} health={health} detail={<PlainText text={detail} />}>
      {isLinked ? (
        <PageLink to={to} {...(search === undefined ? {} : { search })}>
          {value}
        </PageLink>
      ) : (
        value
      )}
    </StatTile>
  )
}

const totalOf = (stats: Stats | undefined) =>
  stats === undefined ? undefined : callSeriesOf(stats)[0]?.total
