import { Suspense, type ReactNode } from 'react'
import { useMe, type Role } from '../api/session.ts'
import { PageHead, useTabTitle } from '../parts/page-head.tsx'
import { NoPermission, NoProject, Waiting } from '../parts/page-states.tsx'
import { mayVisit } from './may-visit.ts'
import type { PageEntry } from './page-entry.ts'
import { useNamedProject, useProject } from './project.ts'

/** What stands instead of a page while it comes, and when the person may not see it or has no project. */
export function PageFrame({ page, children }: { page: PageEntry; children: ReactNode }) {
  const role = useMe().data?.role
  const project = useProject()
  const isOfMany = page.isGlobal === true || page.findsProject === true
  useNamedProject(isOfMany ? undefined : project.id)
  const headed = (instead: ReactNode) => (
    <>
      <PageHead title={page.title} />
      {instead}
    </>
  )
  if (role === undefined || !mayVisit(role, page))
    return headed(<NoPermission>{whyNot(role ?? 'viewer', page.role)}</NoPermission>)
  if (page.isGlobal !== true && project.id === '') return headed(<NoProject />)
  // What a page keeps is of its project: a secret that is shown once, rows until others come.
  return (
    <Suspense key={isOfMany ? '' : project.id} fallback={<Coming title={page.title} />}>
      {children}
    </Suspense>
  )
}

/** Its heading comes with what stands below it: who goes on from there by keys finds that. */
function Coming({ title }: { title: string }) {
  useTabTitle(title)
  return <Waiting />
}

const oneOf = { viewer: 'a viewer', analyst: 'an analyst', admin: 'an administrator' } as const

function whyNot(role: Role, needed: Role = 'viewer'): string {
  return `Only ${oneOf[needed]} sees this page, and you are ${oneOf[role]}. An administrator can give you another role.`
}
