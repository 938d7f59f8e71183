import { Box, Code, List, Table, Text } from '@mantine/core'
import { createContext, useContext, useMemo } from 'react'
import { PlainText } from '../../parts/plain-text.tsx'
import { isAt, type ScoredEvidence } from './mark-evidence.ts'
import { MarkedText } from './marked-text.tsx'
import type { Passage } from './read-blocks.ts'
import { readMarkdown, type Inline, type MarkdownBlock } from './read-markdown.ts'

/** Whether texts are formatted, or shown as they are written. */
export const FormattingContext = createContext(true)

/** Units: the layout of longer texts takes seconds. */
const maxFormatted = 20_000

interface FormattedTextProps {
  passage: Passage
  evidence: readonly ScoredEvidence[]
  isInline: boolean
}

/** A text of a body: Markdown and JSON are formatted. A text with evidence is not, so that its marks fit. */
export function FormattedText({ passage, evidence, isInline }: FormattedTextProps) {
  const { text } = passage
  const own = evidence.filter((each) => isAt(each, passage))
  const isWanted = useContext(FormattingContext) && own.length === 0 && text.length <= maxFormatted
  const blocks = useMemo(
    () => (isWanted && !isInline ? readText(text) : undefined),
    [isWanted, isInline, text],
  )
  if (blocks === undefined) return <MarkedText text={text} evidence={own} isInline={isInline} />
  return (
    <Box fz="sm" dir="auto" style={{ overflowWrap: 'anywhere' }}>
      {blocks.map((block, index) => (
        <BlockText key={index} block={block} />
      ))}
    </Box>
  )
}

function readText(text: string): MarkdownBlock[] | undefined {
  const json = /^\s*[[{]/.test(text) ? prettyJson(text) : undefined
  return json === undefined ? readMarkdown(text) : [{ kind: 'code', info: '', text: json }]
}

function prettyJson(text: string): string | undefined {
  try {
    const pretty = JSON.stringify(JSON.parse(text), null, 2)
    // Numbers beyond 2^53 would change.
    return /\d{16}/.test(text) ? undefined : pretty
  } catch {
    return undefined
  }
}

function BlockText({ block }: { block: MarkdownBlock }) {
  if (block.kind === 'code')
    return (
      <>
        {block.info === '' ? null : (
          <Text size="xs" c="dimmed">
            <PlainText text={block.info} />
          </Text>
        )}
        <Code block my={4} tabIndex={0}>
          <PlainText text={block.text} />
        </Code>
      </>
    )
  if (block.kind === 'list')
    return (
      <List size="sm" my={4} {...(block.isOrdered ? { listStyleType: 'none' } : {})}>
        {block.items.map((item, index) => (
          <List.Item key={index}>
            <Inlines inlines={item} />
          </List.Item>
        ))}
      </List>
    )
  if (block.kind === 'table') return <TableText rows={block.rows} />
  // No heading elements: those of the page are its own.
  return (
    <Text
      size="sm"
      my={4}
      style={{ whiteSpace: 'pre-wrap' }}
      {...(block.kind === 'heading' ? { fw: 700 } : {})}
      {...(block.kind === 'quote' ? { c: 'dimmed', fs: 'italic' } : {})}
    >
      <Inlines inlines={block.inlines} />
    </Text>
  )
}

function TableText({ rows: [head = [], ...rows] }: { rows: Inline[][][] }) {
  return (
    <Table withTableBorder fz="sm" my={4} w="auto">
      <Table.Thead>
        <Table.Tr>
          {head.map((cell, index) => (
            <Table.Th key={index}>
              <Inlines inlines={cell} />
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row, place) => (
          <Table.Tr key={place}>
            {row.map((cell, index) => (
              <Table.Td key={index}>
                <Inlines inlines={cell} />
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

function Inlines({ inlines }: { inlines: readonly Inline[] }) {
  return inlines.map(({ style, text }, index) => {
    const words = <PlainText key={index} text={text} />
    if (style === 'code') return <Code key={index}>{words}</Code>
    if (style === 'strong') return <strong key={index}>{words}</strong>
    return style === 'emphasis' ? <em key={index}>{words}</em> : words
  })
}
