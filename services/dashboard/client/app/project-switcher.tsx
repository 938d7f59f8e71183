import { Select } from '@mantine/core'
import { useMe } from '../api/session.ts'
import { formatCount } from '../formats/format-number.ts'
import { useProject } from './project.ts'

/** Chooses the project of the pages. */
export function ProjectSwitcher() {
  const { id, all, count, choose } = useProject()
  const isAdmin = useMe().data?.role === 'admin'
  // A project reached by a link, beyond the listed ones.
  const isUnnamed = id !== '' && !all.some((project) => project.id === id)
  return (
    <Select
      {...(count > all.length
        ? {
            description: `${formatCount(all.length)} of ${formatCount(count)}${isAdmin ? ': find others under Projects' : ' are listed'}`,
          }
        : {})}
      aria-label="Project"
      data={[
        ...all.map((project) => ({ value: project.id, label: project.name })),
        ...(isUnnamed ? [{ value: id, label: id }] : []),
      ]}
      value={id}
      onChange={(chosen) => {
        if (chosen !== null) choose(chosen)
      }}
      allowDeselect={false}
      searchable={all.length > 8}
      // Typing replaces the current name.
      onClick={(event) => event.currentTarget.select()}
      // With thousands of projects, people search.
      limit={100}
      placeholder="No project"
      nothingFoundMessage="No such project"
      size="sm"
    />
  )
}
