import { readLocalStorageValue, useLocalStorage } from '@mantine/hooks'
import { useMatches, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useMe } from '../api/session.ts'
import { useSetTexts, useTexts } from './address.ts'

const lastProject = { key: 'sluice.project', defaultValue: '' }

export interface ProjectChoice {
  /** '' when the person has none. */
  id: string
  /** Those that are named: the first of `count`. */
  all: readonly { id: string; name: string }[]
  count: number
  choose: (id: string) => void
}

/** The project that the pages are about: the address's, else the last one chosen here, else the first. */
export function useProject(): ProjectChoice {
  const { project } = useTexts()
  const { projects: all = [], project_count: count = 0 } = useMe().data ?? {}
  const setTexts = useSetTexts()
  const navigate = useNavigate()
  const path = String(useMatches().at(-1)?.fullPath ?? '')
  const [, remember] = useLocalStorage(lastProject)
  const last = readLocalStorageValue(lastProject)
  const isMine = (id: string | undefined) => all.some((each) => each.id === id)
  return {
    // One that is not theirs is asked for all the same, and the API's refusal is shown: not another project's numbers.
    id: project ?? (isMine(last) ? last : (all[0]?.id ?? '')),
    all,
    count,
    choose: (id) => {
      remember(id)
      // One thing is of one project: its list is what the other has too.
      const [list = '', thing] = path.split('/$')
      // Its lists begin at their first page.
      if (thing === undefined) setTexts({ project: id, page: '' })
      else void navigate({ to: list, search: { project: id } })
    },
  }
}

/** Puts a project into the address, so that a copied link shows others the same. Undefined: nothing yet. */
export function useNamedProject(id: string | undefined): void {
  const { project } = useTexts()
  const setTexts = useSetTexts()
  useEffect(() => {
    if (id !== undefined && id !== '' && id !== project) setTexts({ project: id }, { replaces: true })
  }, [id, project, setTexts])
}
