import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { messageOf } from '#runtime/errors.ts'
import { firstThere } from './first-there.ts'

const run = promisify(execFile)
const installTimeoutMs = 240_000
const places = [
  // Draws pages and no windows: a fifth less CPU in the dashboard's tests.
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/** For root and for machines without a screen. Stops the browser's own requests to other hosts. */
export const browserArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/**
 * The path of a Chromium: CHROMIUM_PATH, the system's, or Debian's headless package, else its full one, which
 * root installs. Rejects with what to do if there is none.
 */
export async function findBrowser(): Promise<string> {
  const found = await firstThere(
    [process.env['CHROMIUM_PATH'] ?? '', ...places].filter((place) => place !== ''),
  )
  if (found !== undefined) return found
  try {
    await install()
  } catch (error) {
    throw new Error(
      `the dashboard's tests need Chromium, which cannot be installed (${messageOf(error)}): install Debian's package "chromium", or name one by CHROMIUM_PATH`,
      { cause: error },
    )
  }
  const installed = await firstThere(places)
  if (installed === undefined) throw new Error('the installed package brought no Chromium')
  return installed
}

async function install(): Promise<void> {
  const options = { timeout: installTimeoutMs, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }
  const installPackage = (name: string) =>
    run('apt-get', ['install', '-y', '--no-install-recommends', name], options)
  await installPackage('chromium-headless-shell').catch(async () => {
    // A new machine has no package lists yet.
    await run('apt-get', ['update'], options)
    // Older releases of Debian lack this package.
    await installPackage('chromium-headless-shell').catch(() => installPackage('chromium'))
  })
}
