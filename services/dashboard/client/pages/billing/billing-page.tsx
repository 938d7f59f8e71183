import { Alert, Button, Group, Progress, Select, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import type { Answer } from '../../api/call-api.ts'
import { useApi, useApiChange } from '../../api/use-api.ts'
import { useProject } from '../../app/project.ts'
import { formatCount, formatShare, formatUsd } from '../../formats/format-number.ts'
import { formatDay } from '../../formats/format-time.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { Failure, Loaded } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { StatTile } from '../../parts/stat-tile.tsx'

type Subscription = Answer<'GET /api/billing/subscription'>
type JudgeSpend = Answer<'GET /api/billing/judge-spend'>
type ScorerSpend = JudgeSpend['by_scorer'][number]
const bought = ['pro', 'team', 'enterprise'] as const

/** A project's tier, usage and judge costs. */
export function BillingPage() {
  const { id } = useProject()
  const query = { project_id: id }
  const subscription = useApi('GET /api/billing/subscription', { query }, { pollMs: 60_000 })
  const spend = useApi('GET /api/billing/judge-spend', { query }, { pollMs: 60_000 })
  return (
    <>
      <PageHead title="Billing" />
      <Stack gap="xl">
        <Loaded query={subscription}>
          {(answer) => (
            <Stack>
              {answer.status === 'past_due' || answer.status === 'unpaid' ? (
                <Alert color="red" title="The last payment failed" role="alert">
                  The tier stays until the payment provider stops retrying. Open the portal to pay.
                </Alert>
              ) : null}
              <Usage subscription={answer} />
              <Payment subscription={answer} />
            </Stack>
          )}
        </Loaded>
        <Loaded query={spend}>{(answer) => <Judging spend={answer} />}</Loaded>
      </Stack>
    </>
  )
}

function Usage({ subscription }: { subscription: Subscription }) {
  const { tier, status, limit, requests_this_period: used, period_reset_at: reset } = subscription
  const share =
    limit === null ? (
      'The tier has no limit'
    ) : (
      <Progress
        value={Math.min(100, (100 * used) / limit)}
        color={used >= limit ? 'red' : 'blue'}
        aria-label={`${formatShare(used, limit)} of the quota used`}
      />
    )
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }}>
      <StatTile label="Tier" detail={`The subscription is ${status}`}>
        {tier}
      </StatTile>
      <StatTile label="Requests this period" detail={share}>
        {formatCount(used)} {limit === null ? '' : `of ${formatCount(limit)}`}
      </StatTile>
      <StatTile label="Period resets" detail="The request count restarts then">
        {formatDay(reset)}
      </StatTile>
    </SimpleGrid>
  )
}

/** Payment takes place at the provider, which returns people here. */
function Payment({ subscription }: { subscription: Subscription }) {
  const [tier, setTier] = useState<(typeof bought)[number]>('pro')
  const checkout = useApiChange('POST /api/billing/checkout', [])
  const portal = useApiChange('POST /api/billing/portal', [])
  const query = { project_id: subscription.project_id }
  const here = window.location.href
  const leave = { onSuccess: ({ url }: { url: string | null }) => goTo(url) }
  const error = checkout.error ?? portal.error
  return (
    <Stack>
      <Group align="flex-end">
        <Select
          label="Change to"
          data={[...bought]}
          value={tier}
          allowDeselect={false}
          onChange={(value) => setTier(bought.find((each) => each === value) ?? 'pro')}
        />
        <Button
          loading={checkout.isPending}
          onClick={() =>
            checkout.mutate({ query, body: { tier, success_url: here, cancel_url: here } }, leave)
          }
        >
          Check out
        </Button>
        <Button
          variant="default"
          loading={portal.isPending}
          onClick={() => portal.mutate({ query, body: { return_url: here } }, leave)}
        >
          Open the payment portal
        </Button>
      </Group>
      {error === null ? null : <Failure error={error} />}
    </Stack>
  )
}

/** Only to TLS addresses, as the provider's are. */
function goTo(url: string | null): void {
  if (url !== null && new URL(url).protocol === 'https:') window.location.assign(url)
}

function Judging({ spend }: { spend: JudgeSpend }) {
  const columns: Column<ScorerSpend>[] = [
    { title: 'Scorer', cell: ({ scorer_name: name }) => <PlainText text={name} /> },
    { title: 'Requests', isNumber: true, cell: ({ requests }) => formatCount(requests) },
    { title: 'Spent', isNumber: true, cell: ({ spent_usd: usd }) => formatUsd(usd) },
  ]
  const { spent_usd: spent, cap_usd: cap } = spend
  return (
    <Stack>
      <Title order={2} size="h3">
        Judging by a model
      </Title>
      <Text>
        {formatUsd(spent)}{' '}
        {cap === null ? 'spent this period, without a limit' : `of ${formatUsd(cap)} this period`}
      </Text>
      {cap === null || cap === 0 ? null : (
        <Progress
          value={Math.min(100, (100 * spent) / cap)}
          color={spent >= cap ? 'red' : 'blue'}
          aria-label={`${formatShare(spent, cap)} of the budget used`}
        />
      )}
      {spend.by_scorer.length === 0 ? null : (
        <RowsTable
          label="Spent by scorer"
          columns={columns}
          rows={spend.by_scorer}
          keyOf={({ scorer_name: name }) => name}
          minWidth={360}
        />
      )}
    </Stack>
  )
}
