import { Group, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'

export function useTabTitle(title: string): void {
  useDocumentTitle(`${title} · Sluice`)
}

interface PageHeadProps {
  /** Title of the page and of its browser tab. */
  title: string
  /** Shown in place of the title. */
  heading?: ReactNode
  children?: ReactNode
}

/** The page's title, beside controls for the whole page. */
export function PageHead({ title, heading = title, children }: PageHeadProps) {
  useTabTitle(title)
  return (
    <Group justify="space-between" align="center" gap="sm" mb="md">
      <Title order={1}>{heading}</Title>
      <Group gap="xs">{children}</Group>
    </Group>
  )
}
