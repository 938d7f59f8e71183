import { Select } from '@mantine/core'
import { useMe } from '../api/session.ts'
import { formatCount } from '../formats/format-number.ts'
import { useProject } from './project.ts'

/** Which project the pages are about. */
export function ProjectSwitcher() {
  const { id, all, count, choose } = useProject()
  const isAdmin = useMe().data?.role === 'admin'
  // One that was come to by a link and is not among those that are named.
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
      // What is typed takes the place of the name that stands there.
      onClick={(event) => event.currentTarget.select()}
      // Thousands of projects are found by typing.
      limit={100}
      placeholder="No project"
      nothingFoundMessage="No such project"
      size="sm"
    />
  )
}
