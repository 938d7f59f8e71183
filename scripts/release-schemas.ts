import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import avro from 'avsc'
import { avroSchemas, type SchemaName } from '#schemas/topics.ts'
import { schemaExamples } from './schema-examples.ts'

/**
 * Stores each Avro schema that differs from its last released version as schemas/released/<Name>.v<N>.json,
 * with a golden value in schemas/fixtures/ that every later schema must decode. `--redo` replaces the last
 * version instead: only for one that no broker has seen yet.
 */
const folder = join(import.meta.dirname, '..', 'schemas')
const redo = process.argv.includes('--redo')

for (const name of Object.keys(avroSchemas) as SchemaName[]) {
  const schema = `${JSON.stringify(avroSchemas[name], null, 2)}\n`
  const last = lastVersion(name)
  const same = last > 0 && readFileSync(releasedFile(name, last), 'utf8') === schema
  const version = same || (redo && last > 0) ? last : last + 1
  if (same && existsSync(fixtureFile(name, version)) && !redo) continue
  const bytes = avro.Type.forSchema(avroSchemas[name] as avro.Schema).toBuffer(schemaExamples[name])
  writeFileSync(releasedFile(name, version), schema)
  writeFileSync(fixtureFile(name, version), bytes)
  console.log(`${name} v${version}: ${bytes.length} bytes`)
}

function lastVersion(name: string): number {
  const versions = readdirSync(join(folder, 'released'))
    .map((file) => /^(\w+)\.v(\d+)\.json$/.exec(file))
    .filter((match) => match?.[1] === name)
    .map((match) => Number(match?.[2]))
  return Math.max(0, ...versions)
}

function releasedFile(name: string, version: number): string {
  return join(folder, 'released', `${name}.v${version}.json`)
}

function fixtureFile(name: string, version: number): string {
  return join(folder, 'fixtures', `${name}.v${version}.avro`)
}
