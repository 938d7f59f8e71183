import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { isIn, readSamples } from './samples.ts'

const usage = `node evals/make-name-lists.ts --faker DIR
DIR: an unpacked package @faker-js/faker (MIT), such as "npm pack @faker-js/faker@10.6.0" gives`
const target = path.join(import.meta.dirname, '../detectors/pii/names.json')

/** Scripts whose names stand out from other words by a capital letter. */
const usable = /^\p{Lu}[\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}'’-]{2,23}$/u
/** A name that prose also has in small letters, such as "will" or "rose", names nobody by itself. */
const minUses = 2

const localesSchema = z.object({
  allLocales: z.record(z.string(), z.looseObject({ person: z.unknown().optional() })),
})

/** Writes the lists of names of the detector of personal data. The same input gives the same file. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { faker: { type: 'string' } } })
  if (values.faker === undefined)
    throw new Error('--faker: expected the folder of an unpacked @faker-js/faker')
  const folder = path.resolve(values.faker)
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')))
  const { allLocales } = localesSchema.parse(await import(path.join(folder, 'dist/index.js')))
  const common = commonWords()
  const namesOf = (field: string) => {
    const found = Object.values(allLocales).flatMap(({ person }) => stringsOf(fieldOf(person, field)))
    const folded = found
      .flatMap((name) => name.split(' '))
      .filter((name) => usable.test(name))
      .map(fold)
    return [...new Set(folded)].filter((name) => !common.has(name)).sort()
  }
  const given = namesOf('first_name')
  const surnames = namesOf('last_name').filter((name) => !given.includes(name))
  const file = {
    source: `@faker-js/faker ${version}: first and last names of all locales in Latin, Cyrillic and Greek letters`,
    licence: 'MIT, Copyright (c) 2022-2025 Faker contributors',
    given: given.join(' '),
    surnames: surnames.join(' '),
  }
  writeFileSync(target, `${JSON.stringify(file, null, 2)}\n`)
  console.log(`${given.length} given names, ${surnames.length} further surnames`)
}

function fold(name: string): string {
  return name.normalize('NFC').toLowerCase().replaceAll('’', "'")
}

function fieldOf(value: unknown, field: string): unknown {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[field] : undefined
}

/** Every string of a nested value: lists by sex, and lists with weights. */
function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(stringsOf) : []
}

/** Words that the training half of the data sets has in small letters. */
function commonWords(): Set<string> {
  const uses = new Map<string, number>()
  const samples = readSamples(path.join(import.meta.dirname, 'datasets')).filter(
    ({ id, scorer }) => isIn('train', id) && scorer !== 'pii_detection',
  )
  for (const { prompt, response, context } of samples)
    for (const word of `${prompt} ${response} ${context}`.match(/(?<![\p{L}\p{N}.@/_-])\p{Ll}[\p{L}'-]+/gu) ??
      [])
      uses.set(word, (uses.get(word) ?? 0) + 1)
  return new Set([...uses].filter(([, count]) => count >= minUses).map(([word]) => word))
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  console.error(usage)
  process.exit(2)
}
