import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProgram } from '../engine/run-program.ts'
import { root } from '../platform-part.ts'

/**
 * Compiles payloads as values of a vendor's type, so that an unknown field or value is an error. Rejects with
 * what the compiler says.
 */
export async function checkTypes(vendor: string, type: string, payloads: readonly object[]): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-types-'))
  try {
    const values = payloads.map((payload) => `  ${JSON.stringify(payload)},`).join('\n')
    await writeFile(
      join(directory, 'payloads.ts'),
      `import type * as vendor from 'vendor'\nexport const all: (${type})[] = [\n${values}\n]\n`,
    )
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      module: 'nodenext',
      target: 'esnext',
      types: [],
      paths: { vendor: [vendor] },
    }
    await writeFile(
      join(directory, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['payloads.ts'] }),
    )
    const compiler = join(root, 'node_modules', 'typescript-native', 'bin', 'tsc')
    await runProgram(process.execPath, [compiler, '-p', directory])
  } finally {
    await rm(directory, { recursive: true })
  }
}
