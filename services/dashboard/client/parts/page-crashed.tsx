import { Alert, Button, Stack } from '@mantine/core'
import { useEffect } from 'react'
import { ChunkMissing, reloadForNewerBuild } from './lazy-part.ts'
import { PageHead } from './page-head.tsx'

/** A bug in a page, or a chunk that is gone. Other pages still work. */
export function PageCrashed({ error }: { error: unknown }) {
  if (error instanceof ChunkMissing) return <ChunkGone />
  return (
    <>
      <PageHead title="Something went wrong" />
      <Alert color="red" role="alert">
        {error instanceof Error ? error.message : 'Unknown error'}
      </Alert>
    </>
  )
}

function ChunkGone() {
  useEffect(() => {
    // If the server is unreachable, the button remains.
    reloadForNewerBuild().catch(() => undefined)
  }, [])
  return (
    <>
      <PageHead title="This page could not be loaded" />
      <Alert color="yellow" role="alert">
        <Stack gap="xs" align="flex-start">
          There is a newer version of the dashboard, or the server is unreachable.
          <Button size="xs" variant="default" onClick={() => window.location.reload()}>
            Reload
          </Button>
        </Stack>
      </Alert>
    </>
  )
}
