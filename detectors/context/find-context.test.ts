import { describe, expect, test } from '@jest/globals'
import { readCall } from '../call-text.ts'
import { findContext } from './find-context.ts'
import { materialOf } from './material-of.ts'

const passage = 'The tower was built in 1889 and is 330 metres high.'

function passagesOf(text: string, speaker: 'user' | 'system'): string[] {
  return findContext(text, speaker).map(({ start, end }) => text.slice(start, end).trim())
}

describe('passages of a prompt', () => {
  test.each<[string, 'user' | 'system', string, string[]]>([
    [
      'LangChain',
      'user',
      `Use the following pieces of context.\n\nContext:\n${passage}\n\nQuestion: How high is it?`,
      [passage],
    ],
    [
      'LlamaIndex',
      'user',
      `Context information is below.\n---------------------\n${passage}\n---------------------\nGiven the context information, answer the query.\nQuery: How high?`,
      [`${passage}\n---------------------`],
    ],
    ['an element', 'system', `Answer from this.\n<context>\n${passage}\n</context>\nBe brief.`, [passage]],
    [
      'two documents',
      'user',
      `<document index="1">${passage}</document>\n<document index="2">${passage}</document>\nHow high?`,
      [passage, passage],
    ],
    [
      'a heading, up to the next',
      'system',
      `You help.\n## Retrieved documents\n${passage}\n### Part two\nMore of it is here.\n## Rules\nNever swear.`,
      [`${passage}\n### Part two\nMore of it is here.`],
    ],
    [
      'numbered sources',
      'user',
      `[doc1] ${passage}\n[doc2] ${passage}\n\nQuestion: How high?`,
      [`[doc1] ${passage}\n[doc2] ${passage}`],
    ],
    ['a pasted page', 'user', `Summarise this web page: '${passage}'`, [`'${passage}`]],
    ['a document to answer from', 'system', `Answer only from this document: ${passage}`, [passage]],
    [
      'a pasted table',
      'user',
      '| a | b |\n|---|---|\n| 1 | 2 |\nSum it.',
      ['| a | b |\n|---|---|\n| 1 | 2 |'],
    ],
    [
      'a pasted file',
      'user',
      `Explain\n\`\`\`ts\nconst height = 330 // metres\n\`\`\`\nplease`,
      ['const height = 330 // metres'],
    ],
  ])('%s', (_name, speaker, text, expected) => {
    expect(passagesOf(text, speaker)).toEqual(expected)
  })

  test.each([
    ['a question', 'How high is the tower, and who built it?'],
    ['an order to write', 'Write an e-mail to the team about the following: we meet on Monday at ten.'],
    ['a footnote', 'It is high [1] and old. Why is that so?'],
    ['the operator’s markup', '<rules>Never swear, and answer in one sentence only.</rules>'],
  ])('are none in %s', (_name, text) => {
    expect(findContext(text, 'user')).toEqual([])
  })

  test('begin where they stand, also in a piece of a long text', () => {
    const content = `Context:\n${passage}\n\nQuestion: How high?`
    const value = { messages: [{ role: 'user', content }] }
    const [text] = readCall({ json: JSON.stringify(value), value }, null).texts
    if (text === undefined) throw new Error('no text was read')
    const piece = { ...text, text: content.slice(20), offset: 20 }
    for (const read of [text, piece]) {
      const [found] = materialOf(read)
      expect(found?.speaker).toBe('tool')
      expect(content.slice(found?.offset, (found?.offset ?? 0) + (found?.text.length ?? 0))).toBe(found?.text)
    }
  })
})
