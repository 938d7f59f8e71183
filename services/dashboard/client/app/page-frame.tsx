import { Suspense, type ReactNode } from 'react'
import { useMe, type Role } from '../api/session.ts'
import { PageHead, useTabTitle } from '../parts/page-head.tsx'
import { NoPermission, NoProject, Waiting } from '../parts/page-states.tsx'
import { mayVisit, type PageEntry } from './page-entry.ts'
import { useNamedProject, useProject } from './project.ts'

/** Shown instead of a page while it loads, or if the person lacks the role or a project. */
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
  // Page state belongs to its project: a secret shown once, rows of a list.
  return (
    <Suspense key={isOfMany ? '' : project.id} fallback={<Coming title={page.title} />}>
      {children}
    </Suspense>
  )
}

/** The heading appears with the content below it, so that keyboard focus finds both. */
function Coming({ title }: { title: string }) {
  useTabTitle(title)
  return <Waiting />
}

const oneOf = { viewer: 'a viewer', analyst: 'an analyst', admin: 'an administrator' } as const

function whyNot(role: Role, needed: Role = 'viewer'): string {
  return `Only ${oneOf[needed]} can see this page, and you are ${oneOf[role]}. An administrator can change your role.`
}
