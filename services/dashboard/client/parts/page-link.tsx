import { Anchor, type AnchorProps } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { SearchTexts } from '../formats/search-texts.ts'

interface PageLinkProps extends AnchorProps {
  to: string
  /** Parameters of a path with `$id`. */
  params?: Readonly<Record<string, string>>
  search?: SearchTexts
  id?: string
  children: ReactNode
}

/** A link to another page that keeps the project. */
export function PageLink({ to, params = {}, search = {}, children, ...rest }: PageLinkProps) {
  return (
    <Anchor
      inherit={rest.size === undefined}
      {...rest}
      renderRoot={(props) => <Link to={to} params={params} search={search} {...props} />}
    >
      {children}
    </Anchor>
  )
}
