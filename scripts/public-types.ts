// The public types as text, to notice when they change: one line for each declaration that `quarterdeck` and `quarterdeck/client` export,
// and for each that these mention. `npm run generate` writes docs/public-types.txt, and a test compares it with the code.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { plainTypes } from './plain-types.ts'

export const PUBLIC_TYPES = 'docs/public-types.txt'

/** What package.json exports, and where its declarations are. */
const ENTRIES = { quarterdeck: 'index', 'quarterdeck/client': 'client/client' }

export async function publicTypes(root: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-types-'))
  try {
    const flags = ['--emitDeclarationOnly', '--noCheck', '--checkers', '1', '--outDir', folder]
    execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.build.json', ...flags], { cwd: root })
    writeFileSync(join(folder, 'client/wire.d.ts'), await plainTypes(join(root, 'src/client/wire.ts')))
    const parts = Object.entries(ENTRIES).map(([name, entry]) =>
      [`# ${name}`, '', ...declarationsOf(join(folder, `${entry}.d.ts`)), ''].join('\n'),
    )
    return parts.join('\n')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

interface Place {
  path: string
  name: string
}

interface Module {
  /** The declarations of this file by name. A function may have several. */
  own: Map<string, string[]>
  /** Names from other files that this one uses. */
  imports: Map<string, Place>
  exports: Map<string, Place>
}

/** The lines of an entry, in the order of the names. */
function declarationsOf(entry: string): string[] {
  const modules = new Map<string, Module>()
  const module = (path: string): Module => {
    const known = modules.get(path) ?? readModule(path, (other) => module(other).exports)
    modules.set(path, known)
    return known
  }
  const found = new Map<string, Place & { texts: string[] }>()
  /** Finds the declaration, and all that it mentions. Returns where it is. */
  const visit = ({ path, name }: Place): string | null => {
    const { own, imports, exports } = module(path)
    const texts = own.get(name)
    const elsewhere = imports.get(name) ?? exports.get(name)
    if (texts === undefined) return elsewhere === undefined ? null : visit(elsewhere)
    const key = `${path} ${name}`
    if (found.has(key)) return key
    found.set(key, { path, name, texts: texts.map((text) => text.replace(/import\('[^']+'\)\./g, '')) })
    for (const text of texts) {
      for (const [, from = '', used = ''] of text.matchAll(/import\('(\.[^']+)'\)\.(\w+)/g)) {
        visit({ path: declarationAt(path, from), name: used })
      }
      // A word before a colon names a member or a parameter.
      for (const [used] of text.replace(/'[^']*'/g, '').matchAll(/\b[A-Za-z_]\w*\b(?!\??:)/g))
        visit({ path, name: used })
    }
    return key
  }
  const exported = new Set([...module(entry).exports.values()].map(visit))
  return [...found]
    .toSorted(([, a], [, b]) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    .flatMap(([key, { texts }]) => texts.map((text) => (exported.has(key) ? `export ${text}` : text)))
}

const declarationAt = (path: string, specifier: string): string =>
  join(dirname(path), specifier.replace(/\.[jt]s$/, '.d.ts'))

function readModule(path: string, exportsOf: (path: string) => Map<string, Place>): Module {
  const found: Module = { own: new Map(), imports: new Map(), exports: new Map() }
  const text = readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')
  for (const part of text.split(/\n(?=(?:export|import|declare|interface|type|class|abstract)\b)/)) {
    const members = part.trim().replace(/(?<=[\w'\])}>])\n/g, ';\n')
    const line = members.replace(/\s+/g, ' ').replaceAll('"', "'")
    const [, verb, list = '', from] = /^(import|export) (?:type )?(.*) from '(\.[^']+)'/.exec(line) ?? []
    if (from !== undefined) {
      const target = declarationAt(path, from)
      if (list === '*') for (const [name, place] of exportsOf(target)) found.exports.set(name, place)
      const names = [...list.matchAll(/(?:type )?(\w+)(?: as (\w+))?(?=\s*[,}])/g)]
      for (const [, name = '', alias = name] of names) {
        found[verb === 'import' ? 'imports' : 'exports'].set(alias, { path: target, name })
      }
      continue
    }
    const [whole, isExported, name = ''] =
      /^(export )?(?:declare )?(?:abstract )?(?:interface|type|class|const|function|enum) (\w+)/.exec(line) ?? []
    if (whole === undefined) continue
    const declaration = line.replace(/^export /, '').replace(/^declare /, '')
    found.own.set(name, [...(found.own.get(name) ?? []), declaration])
    if (isExported) found.exports.set(name, { path, name })
  }
  return found
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  writeFileSync(join(root, PUBLIC_TYPES), await publicTypes(root))
  process.stdout.write(`${PUBLIC_TYPES}\n`)
}
