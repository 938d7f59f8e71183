import { SegmentedControl } from '@mantine/core'
import type { Item } from '../../api/call-api.ts'
import { useApiPages } from '../../api/use-api.ts'
import { usePathText, useSetTexts, useTexts } from '../../app/address.ts'
import { useProject } from '../../app/project.ts'
import { LoadedPages } from '../../parts/loaded-pages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Nothing } from '../../parts/page-states.tsx'
import { DeliveryTable } from './delivery-table.tsx'
import { ReplayRange } from './replay-range.tsx'

type Delivery = Item<'GET /api/v1/webhooks/{id}/deliveries'>
const statuses = ['all', 'pending', 'retrying', 'delivered', 'failed'] as const

function isUnderWay({ status }: Delivery): boolean {
  return status === 'pending' || status === 'retrying'
}

/** The deliveries of a webhook or destination, attempt by attempt, with the receiver's answers. */
export function DeliveriesPage() {
  const id = usePathText('id')
  const project = useProject()
  const { status = 'all' } = useTexts()
  const setTexts = useSetTexts()
  const chosen = statuses.find((each) => each !== 'all' && each === status) as Delivery['status'] | undefined
  const pages = useApiPages(
    'GET /api/v1/webhooks/{id}/deliveries',
    { params: { id }, query: { project_id: project.id, page_size: '50', status: chosen } },
    { pollsWhile: isUnderWay },
  )
  return (
    <>
      <PageHead title="Delivery log">
        <SegmentedControl
          aria-label="Status"
          size="xs"
          data={[...statuses]}
          value={chosen ?? 'all'}
          onChange={(value) => setTexts({ status: value === 'all' ? undefined : value })}
        />
        <ReplayRange projectId={project.id} webhookId={id} />
      </PageHead>
      <LoadedPages<'GET /api/v1/webhooks/{id}/deliveries'>
        query={pages}
        empty={<Nothing title="No deliveries yet">Send a test event from the list that led here.</Nothing>}
      >
        {(rows) => (
          <DeliveryTable key={chosen ?? 'all'} deliveries={rows} projectId={project.id} webhookId={id} />
        )}
      </LoadedPages>
    </>
  )
}
