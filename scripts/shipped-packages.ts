import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface ShippedPackage {
  name: string
  version: string
  /** As its manifest says it. */
  license: string
  /** In `node_modules`. */
  folder: string
  /** npm installs it on the systems that it fits. */
  isForSomeSystems: boolean
}

/** What is for development in a checkout, and part of the program when it is published. */
export const BUNDLED = [
  '@ag-ui/proto',
  '@clack/prompts',
  '@fastify/busboy',
  '@modelcontextprotocol/client',
  '@tesseract.js-data/eng',
  'commander',
  'pdfjs-dist',
  'tesseract.js',
  'undici',
  'unpdf',
  'yaml',
  'yauzl',
]

interface LockedPackage {
  version?: string
  license?: string
  /** Needed by none that must be there; `devOptional`: but for development. */
  optional?: boolean
  devOptional?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

/** Every package that reaches somebody who installs the published one: in our files, or with them. Sorted by name. */
export function shippedPackages(root: string): ShippedPackage[] {
  const { packages }: { packages: Record<string, LockedPackage> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  )
  const ours = packages[''] ?? {}
  const wanted = [...needs(ours), ...BUNDLED].map((name) => ({ name, from: '' }))
  const found = new Map<string, ShippedPackage>()
  // Grows while it is walked.
  for (const { name, from } of wanted) {
    const folder = place(name, from, packages)
    if (folder === null || found.has(folder)) continue
    const locked = packages[folder] ?? {}
    const { version = '', license = 'not stated' } = locked
    found.set(folder, {
      name,
      version,
      license,
      folder,
      isForSomeSystems: (locked.optional ?? locked.devOptional) === true,
    })
    wanted.push(...needs(locked).map((needed) => ({ name: needed, from: folder })))
  }
  return [...found.values()].sort((a, b) => (a.name === b.name ? 0 : a.name < b.name ? -1 : 1))
}

const needs = ({ dependencies, optionalDependencies }: LockedPackage): string[] =>
  Object.keys({ ...dependencies, ...optionalDependencies })

/** As Node looks for it: beside, then above. Null: the lockfile has none. */
function place(name: string, from: string, packages: Record<string, LockedPackage>): string | null {
  const path = `${from === '' ? '' : `${from}/`}node_modules/${name}`
  if (path in packages) return path
  if (from === '') return null
  return place(name, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))), packages)
}
