import { Group, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'

export function useTabTitle(title: string): void {
  useDocumentTitle(`${title} · Sluice`)
}

interface PageHeadProps {
  /** Of the page and of its tab. */
  title: string
  /** In its place on the page. */
  heading?: ReactNode
  children?: ReactNode
}

/** The title of a page, and beside it what the whole page is changed by. */
export function PageHead({ title, heading = title, children }: PageHeadProps) {
  useTabTitle(title)
  return (
    <Group justify="space-between" align="center" gap="sm" mb="md">
      <Title order={1}>{heading}</Title>
      <Group gap="xs">{children}</Group>
    </Group>
  )
}
