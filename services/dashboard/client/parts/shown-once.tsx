import { Alert, Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** A secret that the server shows only once and that only this page holds. */
export function ShownOnce({
  title,
  secret,
  children,
}: {
  title: string
  secret: string
  children?: ReactNode
}) {
  return (
    <Alert color="yellow" title={title} role="status">
      <Stack gap="xs">
        <Text size="sm">Copy it now: it is not shown again.</Text>
        <Group gap="xs">
          <Code fz="sm">{secret}</Code>
          <CopyButton value={secret}>
            {({ copied, copy }) => (
              <Button size="compact-sm" variant="default" onClick={copy}>
                {copied ? 'Copied' : 'Copy'}
              </Button>
            )}
          </CopyButton>
        </Group>
        {children}
      </Stack>
    </Alert>
  )
}
