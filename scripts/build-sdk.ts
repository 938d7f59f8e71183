import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import ts from 'typescript'

/**
 * Builds what `npm pack` in sdk/typescript packs: one file each for ES modules and CommonJS, and the type
 * declarations.
 */
const sdk = join(import.meta.dirname, '..', 'sdk', 'typescript')
const dist = join(sdk, 'dist')
/** Modules with public types; `types.ts` imports nothing. */
const surface = ['index', 'create-client', 'types']
const builds = [
  { format: 'esm', file: 'index.js' },
  { format: 'cjs', file: 'index.cjs' },
] as const

await rm(dist, { recursive: true, force: true })
await mkdir(dist)
for (const { format, file } of builds) {
  await build({
    entryPoints: [join(sdk, 'index.ts')],
    outfile: join(dist, file),
    bundle: true,
    format,
    platform: 'node',
    target: 'node18',
    legalComments: 'none',
  })
}
for (const name of surface) {
  const declarations = declarationsOf(await readFile(join(sdk, `${name}.ts`), 'utf8'))
  await writeFile(join(dist, `${name}.d.ts`), declarations.replaceAll(".ts'", ".js'"))
  // CommonJS is recognised by the file extension, also for declarations.
  await writeFile(join(dist, `${name}.d.cts`), declarations.replaceAll(".ts'", ".cjs'"))
}
// Beside package.json, where npm and licence checkers look for it.
await copyFile(join(sdk, '..', '..', 'LICENSE'), join(sdk, 'LICENSE'))

/** Works file by file because every public export declares its type. */
function declarationsOf(source: string): string {
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(source, {
    compilerOptions: { isolatedDeclarations: true, strict: true, module: ts.ModuleKind.ESNext },
    reportDiagnostics: true,
  })
  const [first] = diagnostics
  if (first !== undefined) throw new Error(ts.flattenDiagnosticMessageText(first.messageText, '\n'))
  return outputText
}
