import { readLocalStorageValue, useLocalStorage } from '@mantine/hooks'
import { useMatches, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useMe } from '../api/session.ts'
import { useSetTexts, useTexts } from './address.ts'

const lastProject = { key: 'sluice.project', defaultValue: '' }

export interface ProjectChoice {
  /** '' if the person has none. */
  id: string
  /** The listed ones: the first of `count`. */
  all: readonly { id: string; name: string }[]
  count: number
  choose: (id: string) => void
}

/** The project of the pages: the address's, else the last one chosen here, else the first. */
export function useProject(): ProjectChoice {
  const { project } = useTexts()
  const { projects: all = [], project_count: count = 0 } = useMe().data ?? {}
  const setTexts = useSetTexts()
  const navigate = useNavigate()
  const path = String(useMatches().at(-1)?.fullPath ?? '')
  const last = readLocalStorageValue(lastProject)
  const isMine = (id: string | undefined) => all.some((each) => each.id === id)
  return {
    // A project that is not theirs is requested all the same: the API's refusal is shown, not another
    // project's numbers.
    id: project ?? (isMine(last) ? last : (all[0]?.id ?? '')),
    all,
    count,
    choose: (id) => {
      // A detail page belongs to one project; switch to its list.
      const [list = '', thing] = path.split('/$')
      // Start lists at their first page.
      if (thing === undefined) setTexts({ project: id, page: '' })
      else void navigate({ to: list, search: { project: id } })
    },
  }
}

/**
 * Puts a project into the address, so that a copied link shows the same, and keeps it as the one that opens
 * next time. Undefined: nothing yet.
 */
export function useNamedProject(id: string | undefined): void {
  const { project } = useTexts()
  const setTexts = useSetTexts()
  const [last, remember] = useLocalStorage(lastProject)
  useEffect(() => {
    if (id === undefined || id === '') return
    if (id !== project) setTexts({ project: id }, { replaces: true })
    if (id !== last) remember(id)
  }, [id, project, last, setTexts, remember])
}
