import { Pagination } from '@mantine/core'
import { useSetTexts, useTexts } from '../app/address.ts'

interface PageNumbersProps {
  /** Rows of all pages. */
  total: number
  pageSize: number
}

/** The way to the other pages of a list; nothing where one holds it all. Which one is shown stands in the address. */
export function PageNumbers({ total, pageSize }: PageNumbersProps) {
  const { page = '1' } = useTexts()
  const setTexts = useSetTexts()
  const pages = Math.max(1, Math.ceil(total / pageSize))
  // A page may have lost its last row, or a link may be old: there is a way back.
  if (pages === 1 && page === '1') return null
  return (
    <Pagination
      mt="md"
      total={pages}
      value={Number(page)}
      onChange={(chosen) => setTexts({ page: String(chosen) })}
      getControlProps={(control) => ({ 'aria-label': control === 'next' ? 'Next page' : 'Previous page' })}
      getItemProps={(number) => ({ 'aria-label': `Page ${number}` })}
    />
  )
}
