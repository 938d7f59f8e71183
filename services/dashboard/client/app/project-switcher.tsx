import { Select } from '@mantine/core'
import { useProject } from './project.ts'

/** Which project the pages are about. */
export function ProjectSwitcher() {
  const { id, all, choose } = useProject()
  return (
    <Select
      aria-label="Project"
      data={all.map((project) => ({ value: project.id, label: project.name }))}
      value={id}
      onChange={(chosen) => {
        if (chosen !== null) choose(chosen)
      }}
      allowDeselect={false}
      searchable={all.length > 8}
      // Thousands of projects are found by typing.
      limit={100}
      placeholder="No project"
      nothingFoundMessage="No such project"
      size="sm"
    />
  )
}
