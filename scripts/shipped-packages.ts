import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface ShippedPackage {
  name: string
  version: string
  /** As its package.json says. */
  license: string
  /** Path in the project, such as `node_modules/yaml`. */
  folder: string
  /** True if npm installs it only on some systems. */
  isForSomeSystems: boolean
  /** Of the archive that npm loads, as in the lockfile, such as `sha512-…`. Null if the lockfile has none. */
  integrity: string | null
  /** Folders of the packages that it needs. */
  needs: string[]
}

/** Development dependencies in a checkout that become part of the published program. */
export const BUNDLED = [
  '@ag-ui/proto',
  '@agentclientprotocol/sdk',
  '@clack/prompts',
  '@fastify/busboy',
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/server',
  '@opentelemetry/api',
  '@opentelemetry/exporter-logs-otlp-http',
  '@opentelemetry/exporter-metrics-otlp-http',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/sdk-trace',
  '@orama/stemmers',
  '@simplewebauthn/server',
  '@slack/socket-mode',
  '@slack/web-api',
  '@tesseract.js-data/eng',
  'commander',
  'croner',
  'diff',
  'jose',
  'jsonc-parser',
  'pdfjs-dist',
  'pg',
  'smol-toml',
  'tesseract.js',
  'unbash',
  'undici',
  'unpdf',
  'yaml',
  'yauzl',
]

/** Part of the console's scripts, which the published package carries: what it develops with, without its tools. */
export function consolePackages(root: string): string[] {
  const { devDependencies }: { devDependencies: Record<string, string> } = JSON.parse(
    readFileSync(join(root, 'console/package.json'), 'utf8'),
  )
  return Object.keys(devDependencies).filter((name) => !/^(?:@types\/|@vitejs\/|vite$|axe-core$)/.test(name))
}

interface LockedPackage {
  version?: string
  license?: string
  integrity?: string
  /** Only optional dependencies need it. `devOptional`: development needs it too. */
  optional?: boolean
  devOptional?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

/** Every package that a user gets with the published one, inside our files or as a dependency. Sorted by name. */
export function shippedPackages(root: string): ShippedPackage[] {
  const { packages }: { packages: Record<string, LockedPackage> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  )
  const ours = packages[''] ?? {}
  const wanted = [...needs(ours), ...BUNDLED, ...consolePackages(root)].map((name) => ({ name, from: '' }))
  const found = new Map<string, ShippedPackage>()
  // The list grows while the loop runs.
  for (const { name, from } of wanted) {
    const folder = place(name, from, packages)
    if (folder === null || found.has(folder)) continue
    const locked = packages[folder] ?? {}
    const { version = '', license = 'not stated', integrity = null } = locked
    found.set(folder, {
      name,
      version,
      license,
      folder,
      isForSomeSystems: (locked.optional ?? locked.devOptional) === true,
      integrity,
      needs: needs(locked).flatMap((needed) => place(needed, folder, packages) ?? []),
    })
    wanted.push(...needs(locked).map((needed) => ({ name: needed, from: folder })))
  }
  return [...found.values()].sort((a, b) => (a.name === b.name ? 0 : a.name < b.name ? -1 : 1))
}

const needs = ({ dependencies, optionalDependencies }: LockedPackage): string[] =>
  Object.keys({ ...dependencies, ...optionalDependencies })

/** Finds a package as Node does: in the same folder, then in the folders above. Null if the lockfile does not have it. */
function place(name: string, from: string, packages: Record<string, LockedPackage>): string | null {
  const path = `${from === '' ? '' : `${from}/`}node_modules/${name}`
  if (path in packages) return path
  if (from === '') return null
  return place(name, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))), packages)
}

// Files of packages that the published program contains, in `dist/packages`. As dependencies, these packages would add a hundred
// megabytes that nobody needs: builds for browsers, source maps, engines for other models. Their licences are included.

export const carriedPackages: Readonly<Record<string, readonly string[]>> = {
  'pdfjs-dist': [
    'package.json',
    'LICENSE',
    'legacy/build/pdf.mjs',
    'legacy/build/pdf.worker.mjs',
    'cmaps/*',
    'standard_fonts/*',
    'wasm/{jbig2,openjpeg,qcms_bg}*',
    'wasm/LICENSE*',
  ],
  // One for each kind of processor. On Node, tesseract.js uses these and not the smaller ones.
  'tesseract.js-core': ['package.json', 'LICENSE', 'tesseract-core{-relaxedsimd,-simd,}.{js,wasm}'],
  '@tesseract.js-data/eng': ['package.json', '4.0.0_best_int/eng.traineddata.gz'],
}
