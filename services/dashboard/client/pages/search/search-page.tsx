import { Box, Button, Group, Progress, Stack, Text, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { useTexts } from '../../app/address.ts'
import { useProject } from '../../app/project.ts'
import { useSteadyRange } from '../../app/use-range.ts'
import { formatCount, nounOf } from '../../formats/format-number.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { Failure, Nothing } from '../../parts/page-states.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { FilterPills } from '../requests/filter-pills.tsx'
import { readAddress } from '../requests/read-address.ts'
import { queryOfFilters } from '../requests/read-filters.ts'
import { SearchResults } from './search-results.tsx'
import { useSearch, type SearchProgress, type SearchState } from './use-search.ts'

/** Words in prompts, answers and tool arguments. */
export function SearchPage() {
  const { id: project_id } = useProject()
  const { range } = useSteadyRange('30d')
  const { filters } = readAddress(useTexts())
  const query = { project_id, start: range.start, end: range.end, ...queryOfFilters(filters) }
  const { state, search, cancel } = useSearch(project_id, query)
  const [text, setText] = useState(state.text)
  return (
    <>
      <PageHead title="Search">
        <RangePicker range={range} />
      </PageHead>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (text.trim() !== '') void search(text)
        }}
      >
        <Group align="flex-end" mb="sm">
          <TextInput
            flex={1}
            miw={220}
            label="Words, or a phrase in quotation marks"
            description="In prompts, answers and tool arguments. What you search for is noted in the audit log."
            autoComplete="off"
            spellCheck={false}
            maxLength={256}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          {state.isRunning ? (
            <Button variant="default" onClick={cancel}>
              Cancel
            </Button>
          ) : (
            <Button type="submit" leftSection={<IconSearch size={16} aria-hidden />}>
              Search
            </Button>
          )}
        </Group>
      </form>
      <Box mb="sm">
        <FilterPills filters={filters} />
      </Box>
      <SearchOutcome state={state} searchOn={() => void search(state.text, true)} />
    </>
  )
}

function SearchOutcome({ state, searchOn }: { state: SearchState; searchOn: () => void }) {
  const { matches, progress, error, isRunning } = state
  const isOver = progress?.type === 'end' && !isRunning
  const hasMore = isOver && progress.after !== null
  return (
    <Stack gap="sm">
      {progress === undefined && !isRunning ? null : (
        <ProgressLine progress={progress} found={matches.length} isRunning={isRunning} />
      )}
      {error === undefined ? null : <Failure error={error} />}
      {isOver && matches.length === 0 && !hasMore ? (
        <Nothing title="No call has these words">
          Only whole words are found. Try fewer words, or extend the range.
        </Nothing>
      ) : null}
      <SearchResults matches={matches} />
      {hasMore ? (
        <Button variant="default" onClick={searchOn}>
          Search older calls
        </Button>
      ) : null}
    </Stack>
  )
}

interface ProgressLineProps {
  progress: SearchProgress | undefined
  found: number
  isRunning: boolean
}

function ProgressLine({ progress, found, isRunning }: ProgressLineProps) {
  const { looked_at = 0, opened = 0, unsigned = 0, unreadable = 0, reached, share = 0 } = progress ?? {}
  return (
    <Stack gap={4}>
      {isRunning ? <Progress value={share * 100} aria-label="Share of the time range" /> : null}
      <Text size="sm" c="dimmed" role="status">
        {formatCount(found)} found. {formatCount(looked_at)} {nounOf(looked_at, 'call')} looked at,{' '}
        {formatCount(opened)} opened
        {reached === undefined ? null : (
          <>
            , back to <TimeText at={reached} />
          </>
        )}
        .{unsigned === 0 ? '' : ` ${formatCount(unsigned)} without a signature.`}
        {unreadable === 0 ? '' : ` ${formatCount(unreadable)} could not be opened.`}
      </Text>
    </Stack>
  )
}
