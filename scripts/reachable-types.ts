import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface ReachableTypes {
  /** Paths of the entries and of all declarations that they import. */
  files: Set<string>
  /** Packages whose types they use. */
  packages: Set<string>
}

/** Finds the declarations and packages that a program needs if it imports `entries`. */
export function reachableTypes(entries: readonly string[]): ReachableTypes {
  const files = new Set(entries)
  const packages = new Set<string>()
  // The loop also visits files that are added to the set while it runs.
  for (const file of files) {
    for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()["']([^"']+)["']/g)) {
      if (specifier.startsWith('.')) files.add(join(dirname(file), specifier.replace(/\.[jt]s$/, '.d.ts')))
      else if (!specifier.startsWith('node:')) packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier)
    }
  }
  return { files, packages }
}
