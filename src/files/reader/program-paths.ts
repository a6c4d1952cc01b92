// The paths that the child processes load: our code and the packages it uses. They may read nothing else. Each package is looked up
// by itself, because npm, pnpm and links can put packages into folders all over the disk.

import { access, readFile, realpath } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'

/** The packages that the readers in `formats/` import. Their own dependencies are found in their manifests. */
const PACKAGES = ['@napi-rs/canvas', 'pdfjs-dist', 'sharp', 'tesseract.js', 'unpdf', 'yauzl']

/** Files and folders, by their paths in `node_modules` and their real paths. `program` is the real path of what the child runs. */
export async function programPaths(program: string, packages: readonly string[] = PACKAGES): Promise<string[]> {
  const found = await ownPaths(program)
  const wanted = packages.map((name) => ({ name, from: dirname(program) }))
  const seen = new Set<string>()
  // `wanted` grows during the loop.
  for (const { name, from } of wanted) {
    const link = await findPackage(name, from)
    if (link === null) continue
    const folder = await realpath(link)
    found.push(link, folder)
    if (seen.has(folder)) continue
    seen.add(folder)
    for (const name of await dependenciesOf(folder)) wanted.push({ name, from: folder })
  }
  return [...new Set(found)]
}

/** The folder with the code, `src` or `dist`, and the manifest. Not the whole package: a checkout may contain agents, keys and data. */
async function ownPaths(program: string): Promise<string[]> {
  for (const folder of foldersAbove(program)) {
    const manifest = join(folder, 'package.json')
    if (!(await exists(manifest))) continue
    const [code = ''] = relative(folder, program).split(sep)
    return [join(folder, code), manifest]
  }
  return [dirname(program)]
}

/** Where Node finds a package that `from` imports. Null: it is not installed, for example because it is for another system. */
async function findPackage(name: string, from: string): Promise<string | null> {
  for (const folder of [from, ...foldersAbove(from)]) {
    const path = join(folder, 'node_modules', name)
    if (await exists(join(path, 'package.json'))) return path
  }
  return null
}

async function dependenciesOf(folder: string): Promise<string[]> {
  const manifest: unknown = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  if (typeof manifest !== 'object' || manifest === null) return []
  const { dependencies, optionalDependencies } = manifest as Record<string, unknown>
  return [dependencies, optionalDependencies].flatMap((list) => Object.keys(list ?? {}))
}

function foldersAbove(path: string): string[] {
  const above = dirname(path)
  return above === path ? [] : [above, ...foldersAbove(above)]
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
