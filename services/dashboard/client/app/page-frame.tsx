import { useDocumentTitle } from '@mantine/hooks'
import { Suspense, type ReactNode } from 'react'
import { useMe } from '../api/session.ts'
import { NoPermission, NoProject, Waiting } from '../parts/page-states.tsx'
import { mayVisit } from './may-visit.ts'
import type { PageEntry } from './page-entry.ts'
import { useNamedProject, useProject } from './project.ts'

/** What every page has: its title, and what stands instead of it when the person may not see it or has no project. */
export function PageFrame({ page, children }: { page: PageEntry; children: ReactNode }) {
  useDocumentTitle(`${page.title} · Sluice`)
  const role = useMe().data?.role
  const project = useProject()
  const isOfMany = page.isGlobal === true || page.findsProject === true
  useNamedProject(isOfMany ? undefined : project.id)
  if (role === undefined || !mayVisit(role, page)) return <NoPermission />
  if (page.isGlobal !== true && project.id === '') return <NoProject />
  // What a page keeps is of its project: a secret that is shown once, rows until others come.
  return (
    <Suspense key={isOfMany ? '' : project.id} fallback={<Waiting />}>
      {children}
    </Suspense>
  )
}
