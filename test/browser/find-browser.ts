// Finds the browser for the tests. Nothing is downloaded: npm has no browser for every machine, and the one of the operating system
// gets security updates.

import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const NAMES = ['chromium-headless-shell', 'chromium', 'google-chrome']

export const NO_BROWSER =
  'No browser was found. Install one (Debian, Ubuntu: apt-get install chromium-headless-shell), ' +
  'or name one in QUARTERDECK_BROWSER.'

/** The path of a Chromium. Null when there is none. Throws when `QUARTERDECK_BROWSER` names something that cannot be started. */
export function findBrowser(env: Readonly<Record<string, string | undefined>>): string | null {
  const named = env.QUARTERDECK_BROWSER
  if (named !== undefined && named !== '') {
    if (!canBeStarted(named)) throw new Error(`QUARTERDECK_BROWSER is ${named}, and no program is there.`)
    return named
  }
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(canBeStarted) ?? null
}

function canBeStarted(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
