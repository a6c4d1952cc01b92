import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface ReachableTypes {
  /** Paths of the declarations that the entries import, the entries included. */
  files: Set<string>
  /** Packages whose types they use. */
  packages: Set<string>
}

/** What of the compiler's declarations somebody who imports `entries` can come to. */
export function reachableTypes(entries: readonly string[]): ReachableTypes {
  const files = new Set(entries)
  const packages = new Set<string>()
  // A set hands out what is added while it is walked.
  for (const file of files) {
    for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()["']([^"']+)["']/g)) {
      if (specifier.startsWith('.')) files.add(join(dirname(file), specifier.replace(/\.[jt]s$/, '.d.ts')))
      else if (!specifier.startsWith('node:')) packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier)
    }
  }
  return { files, packages }
}
