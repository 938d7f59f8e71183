import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { beforeAll, expect, jest, test } from '@jest/globals'
import ts from 'typescript'
import { cpuOf } from '#tests/support/cpu-growth.ts'
import { boundaryMistakes } from './testing/boundary-mistakes.ts'

// Takes 10 s and more beside five other test processes on two cores.
jest.setTimeout(120_000)

const [small, large] = [4_096, 32_768]
/** Linear work costs 8 times as much, quadratic 64 times. */
const maxTimes = 24
/** 256 steps per character; eight times that is 0.4 s for the longest piece. */
const yardstick = { pattern: /a{1,256}?b/g, unit: 'a' }
const maxYardsticks = 8
/** Less is noise. */
const minMicroseconds = 2_000
/** Keys and tokens repeat the same characters beyond this. */
const longestUnit = 32
/** Further words of a list behave alike. */
const maxChoices = 8
/** At least as many hits as detectors read. */
const maxHits = 100

/** Every pattern that detectors match against a text, recorded in a thread where every gate is open. */
async function readPatternsInUse(): Promise<RegExp[]> {
  const thread = new Worker(new URL('./testing/patterns-in-use-thread.ts', import.meta.url))
  // A thread that fails before its message ends with an exit code.
  const [patterns] = (await Promise.race([once(thread, 'message'), once(thread, 'exit')])) as [
    RegExp[] | number,
  ]
  await thread.terminate()
  if (typeof patterns === 'number') throw new Error(`the thread ended with ${patterns}`)
  return patterns
}

let patternsInUse: readonly RegExp[]
beforeAll(async () => {
  patternsInUse = await readPatternsInUse()
})

const literal = (character: string) => String.fromCharCode(0xe000 + character.charCodeAt(0))

/**
 * Approximate matches of a pattern, one per choice: the first of each group, one character of each class.
 * Optional parts `minRepeats` times.
 */
function examplesOf({ source, flags }: RegExp, minRepeats: 0 | 1): string[] {
  const member = (name: string) => {
    const one = new RegExp(`^${name}$`, flags.replace('g', ''))
    return literal(Array.from('/aA1 -.<\n"@=$é').find((character) => one.test(character)) ?? '')
  }
  const times = (what: string, quantifier: string) => {
    const count = /^\{(\d+)/.exec(quantifier)?.[1] ?? (/^[?*]/.test(quantifier) ? '0' : '1')
    return what.repeat(Math.max(Number(count), minRepeats))
  }
  let rest = source
    .replace(/\\x([0-9a-f]{2})/gi, (_, code: string) => literal(String.fromCharCode(parseInt(code, 16))))
    .replace(/\[(?:\\.|[^\]\\])+\]|\\[dwsDWS]|\\[pP]\{[^}]*\}/g, member)
    .replace(/\\[bB\d]|[\^$]/g, '')
    .replace(/\\n/g, literal('\n'))
    .replace(/\\(.)/g, (_, character: string) => literal(character))
  for (let before = ''; before !== rest;) {
    before = rest
    rest = rest
      .replace(/\(\?<?[!=][^()]*\)/g, '')
      .replace(
        /\((?:\?:)?([^()|]*)(?:\|[^()]*)?\)(\{[^}]*\}|[?*+])?\??/,
        (_, first: string, quantifier = '+') => times(first, String(quantifier)),
      )
  }
  return rest
    .split('|')
    .map((choice) =>
      choice
        .replace(/(.)(\{[^}]*\}|[?*+])\??/gs, (_, character: string, quantifier: string) =>
          times(character, quantifier),
        )
        .replace(/[\ue000-\uf8ff]/g, (character) => String.fromCharCode(character.charCodeAt(0) - 0xe000)),
    )
}

/** Found by hand. */
const knownUnits = ['curl/https://', 'A-', `${'1'.repeat(90)}a `]

/** Prefixes of its matches, a few per choice: text on which the pattern starts, goes on and fails. */
function unitsAgainst(pattern: RegExp): string[] {
  const beginnings = (example: string, step: number) =>
    Array.from({ length: Math.ceil(Math.min(example.length, longestUnit) / step) }, (_, at) =>
      example.slice(0, at * step + 1),
    )
  const [first = '', ...others] = examplesOf(pattern, 1)
  const [shortest = ''] = examplesOf(pattern, 0)
  const units = [...beginnings(shortest, 1), ...beginnings(first, 1)].flatMap((unit) => [unit, `${unit} `])
  return [...new Set([...units, ...others.slice(0, maxChoices).flatMap((other) => beginnings(other, 5))])]
}

function costOf(pattern: RegExp, text: string): number {
  return cpuOf(() => text.matchAll(pattern).take(maxHits).toArray())
}

function isSlow(pattern: RegExp, unit: string): boolean {
  const cost = costOf(pattern, ofLength(small, unit))
  if (cost <= minMicroseconds) return false
  if (cost > maxYardsticks * costOf(yardstick.pattern, ofLength(small, yardstick.unit))) return true
  return costOf(pattern, ofLength(large, unit)) > maxTimes * cost
}

function ofLength(length: number, unit: string): string {
  return unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
}

test('no pattern of a detector does more than its length is worth on what it nearly matches', () => {
  expect(patternsInUse.length).toBeGreaterThan(380)
  const slow = patternsInUse.flatMap((pattern) =>
    [...knownUnits, ...unitsAgainst(pattern)]
      // One slow run may be garbage collection, three a busy machine.
      .filter((unit) => Array.from({ length: 8 }).every(() => isSlow(pattern, unit)))
      .map((unit) => `${JSON.stringify(unit)} against ${pattern.source}`),
  )
  expect(slow).toEqual([])
})

test.each([
  [String.raw`\b(?:is|est|é)\b`, ['\\bé', 'é\\b']],
  [String.raw`(?:a|правила)\b`, ['а\\b']],
  [String.raw`\b(?:x)?[äa]`, ['\\b[äa]']],
  [String.raw`caf\u00e9 \bé?a`, ['\\bé']],
  [String.raw`\bcafés\b|(?<!\p{L})é(?!\p{L})|\b[^é]\b`, []],
])('word boundaries that never are: %s', (source, mistakes) => {
  expect(boundaryMistakes(source)).toEqual(mistakes)
})

/** Possible patterns and parts of patterns in a source file. Most are matched against few texts. */
function patternSources(path: string): string[] {
  const sources: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) sources.push(node.text)
    if (ts.isStringLiteralLike(node)) sources.push(node.text)
    if (ts.isTemplateExpression(node)) sources.push(node.getText().replaceAll(/\$\{[^}]*\}/g, '(?:)'))
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true))
  return sources
}

test('no pattern has a word boundary beside a letter that is none to it', () => {
  const files = globSync('{capture,runtime,services,sdk}/**/*.ts', {
    exclude: (name) => name.includes('node_modules') || name.endsWith('.test.ts'),
  })
  const sources = [...patternsInUse.map(({ source }) => source), ...files.flatMap(patternSources)]
  expect(sources.length).toBeGreaterThan(5_000)
  const wrong = sources
    .filter((source) => source.includes('\\b'))
    .flatMap((source) => boundaryMistakes(source).map((mistake) => `${mistake} in ${source}`))
  expect([...new Set(wrong)]).toEqual([])
})
