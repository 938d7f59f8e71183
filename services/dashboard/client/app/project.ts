import { readLocalStorageValue, useLocalStorage } from '@mantine/hooks'
import { useMe } from '../api/session.ts'
import { useSetTexts, useTexts } from './address.ts'

const lastProject = { key: 'sluice.project', defaultValue: '' }

export interface ProjectChoice {
  /** '' when the person has none. */
  id: string
  all: readonly { id: string; name: string }[]
  choose: (id: string) => void
}

/** The project that the pages are about: the address's, else the last one chosen here, else the first. */
export function useProject(): ProjectChoice {
  const { project } = useTexts()
  const all = useMe().data?.projects ?? []
  const setTexts = useSetTexts()
  const [, remember] = useLocalStorage(lastProject)
  const last = readLocalStorageValue(lastProject)
  const isMine = (id: string | undefined) => all.some((each) => each.id === id)
  return {
    // One that is not theirs is asked for all the same, and the API's refusal is shown: not another project's numbers.
    id: project ?? (isMine(last) ? last : (all[0]?.id ?? '')),
    all,
    choose: (id) => {
      remember(id)
      setTexts({ project: id })
    },
  }
}
