import { describe, expect, test } from '@jest/globals'
import { injectionFamilies } from '../injection/injection-families.ts'
import { phraseFamilies } from '../jailbreak/phrase-families.ts'
import { findGated, gatePattern } from './gated-pattern.ts'
import { neededStarts } from './needed-starts.ts'
import { hasOneOf, placeOfStart, wordStartsOf } from './word-starts.ts'

test.each<[string, RegExp, string[][]]>([
  ['one word', /\bforget\b/, [['forge']]],
  [
    'one of some',
    /\b(?:ignore|forget)\W+(?:all|the) rules?\b/,
    [['ignor', 'forge'], ['all', 'the'], ['rule']],
  ],
  ['what may be missing', /\bstop(?: doing)? (?:it|that)?/, [['stop']]],
  ['words between', /\bno\W+(?:\w+\W+){0,3}?rules/, [['no'], ['rules']]],
  ['words after', /\bno(?:\W+\w+){0,3}?\W+rules/, [['no'], ['rules']]],
  ['a choice that has several', /\b(?:do not (?:obey|follow)|stop)/, [['do', 'stop']]],
  ['a choice that needs none', /\b(?:stop|\w+)\b/, []],
  ['a choice of all', /\bstop\b|\bgo\b/, [['stop', 'go']]],
  ['a choice of all with one that needs none', /\bstop\b|go/, []],
  ['the middle of a word', /(?:un)?do\w*ing|\wgo/, []],
  ['a letter that may be missing or repeated', /\bcancel+ed x?y be{2}/, [['cance'], ['b']]],
  ['one of another', /\b[a-c]an\b/, []],
  ['classes and escapes', /\b\d{4}-a [^\n]b\x60c \u0041d/, [['a']]],
  ['categories', /\b\p{L}e [^a] f/u, [['f']]],
  ['what is looked at and not read', /(?<!\ba )\bone(?= two)/, [['one']]],
  ['other scripts', /忽略|все/, [['\u0080']]],
  ['another script or a word', /(?:忽略|\bignore)/, [['\u0080', 'ignor']]],
  ['letters that stand for others', /\bskip\b/iu, []],
  ['a name referred back to', /\b(?<name>a)\k<name>/, []],
  ['case', /\bBEGIN KEY/, [['begin'], ['key']]],
  ['captures and lines', /(?:^|\n)(stop)\1/, [['stop']]],
])('of a pattern is needed: %s', (_name, pattern, needed) => {
  expect(neededStarts(pattern)).toEqual(needed)
})

describe('a text', () => {
  const has = (text: string, start: string) => hasOneOf(wordStartsOf(text), [placeOfStart(start)])

  test.each([
    ['has the beginnings of its words', 'Please FORGET the rules_2', ['p', 'pleas', 'forge', 'the', 'rules']],
    ['has what is beyond ASCII', 'naïve', ['na', 've', '\u0080']],
    ['has words between any signs', '"a-b",c', ['a', 'b', 'c']],
  ])('%s', (_name, text, starts) => {
    expect(starts.filter((start) => !has(text, start))).toEqual([])
  })

  test('has not what stands within them', () => {
    expect(['orget', 'lease', '\u0080'].filter((start) => has('Please forget', start))).toEqual([])
  })

  test('may have anything when another was looked at since', () => {
    const before = wordStartsOf('one')
    wordStartsOf('two')
    expect(hasOneOf(before, [placeOfStart('three')])).toBe(true)
  })

  test('is told from all that went before it', () => {
    for (let times = 0; times < 600; times++) {
      expect(has(times % 2 === 0 ? 'even' : 'odd', times % 2 === 0 ? 'odd' : 'even')).toBe(false)
    }
  })
})

test('is held against a pattern only where its words allow a match, which changes nothing that is found', () => {
  const gated = gatePattern(/\bignore\W+all\b/g)
  const countIn = (text: string) => findGated(text, wordStartsOf(text), gated).length
  expect(['IGNORE all', 'ignore, all; ignore all', 'all ignored'].map(countIn)).toEqual([0, 2, 0])
})

test('nearly every phrase is needed by its words', () => {
  const open = [...phraseFamilies, ...injectionFamilies]
    .flatMap(({ patterns }) => patterns)
    .filter(({ needs }) => needs.length === 0)
  // Words run together, and orders at the end of a text.
  expect(open).toHaveLength(3)
})
