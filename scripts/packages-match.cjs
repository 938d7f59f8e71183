// Exit code 0 if node_modules matches package-lock.json. Runs on the system's Node before anything is
// installed. npm writes node_modules/.package-lock.json as the last step of every installation.
const { existsSync, readFileSync } = require('node:fs')
const { join } = require('node:path')

const root = join(__dirname, '..')
const packagesOf = (file) => JSON.parse(readFileSync(join(root, file), 'utf8')).packages

function matches() {
  if (!existsSync(join(root, 'node_modules', '.package-lock.json'))) return false
  const installed = packagesOf(join('node_modules', '.package-lock.json'))
  const { '': _root, ...wanted } = packagesOf('package-lock.json')
  // An optional package that is missing is for another platform.
  const asWanted = ([path, { version, integrity, optional }]) =>
    installed[path] === undefined
      ? optional === true
      : installed[path].version === version && installed[path].integrity === integrity
  return Object.entries(wanted).every(asWanted) && Object.keys(installed).every((path) => path in wanted)
}

process.exit(matches() ? 0 : 1)
