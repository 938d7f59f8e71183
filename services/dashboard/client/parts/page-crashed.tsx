import { Alert, Button, Stack } from '@mantine/core'
import { useEffect } from 'react'
import { PartMissing, takeNewerBuild } from './lazy-part.ts'
import { PageHead } from './page-head.tsx'

/** A bug in a page, or a chunk that is gone. Other pages still work. */
export function PageCrashed({ error }: { error: unknown }) {
  if (error instanceof PartMissing) return <PartGone />
  return (
    <>
      <PageHead title="This page broke" />
      <Alert color="red" role="alert">
        {error instanceof Error ? error.message : 'It does not say why.'}
      </Alert>
    </>
  )
}

function PartGone() {
  useEffect(() => {
    // If the server is unreachable, the button remains.
    takeNewerBuild().catch(() => undefined)
  }, [])
  return (
    <>
      <PageHead title="This page could not be loaded" />
      <Alert color="yellow" role="alert">
        <Stack gap="xs" align="flex-start">
          There is a newer version of the dashboard, or it does not answer at the moment.
          <Button size="xs" variant="default" onClick={() => window.location.reload()}>
            Load again
          </Button>
        </Stack>
      </Alert>
    </>
  )
}
