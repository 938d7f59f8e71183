import { Pagination } from '@mantine/core'
import { useSetTexts, useTexts } from '../app/address.ts'

interface PageNumbersProps {
  /** Rows of all pages. */
  total: number
  pageSize: number
}

/** Page numbers of a list, unless one page holds it all. The page is in the address. */
export function PageNumbers({ total, pageSize }: PageNumbersProps) {
  const { page = '1' } = useTexts()
  const setTexts = useSetTexts()
  const pages = Math.max(1, Math.ceil(total / pageSize))
  // A page may have lost its last row, or a link may be old: keep a way back.
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
