// Fetches the documents that the proof of knowledge searches, from Debian's packages of documentation and from npm:
//   node test/knowledge/fetch.ts
// It asks the archive of Debian 12 with a list of its own, so the list of this machine does not matter. Packages that were fetched once are
// kept. The licences of some documents forbid to pass them on, so none of them is ever committed.

import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type CorpusDocument, corpusFolder, documentsFolder, type Manifest, manifestPath, say } from './corpus.ts'
import { manualText } from './manual-page.ts'
import { type Part, type Source, sources } from './packages.ts'

const LEAST_BYTES = 1_500
const MOST_BYTES = 2_000_000
const MOST_PDF_BYTES = 12_000_000
const LEAST_DOCUMENTS = 2_000
const NO_DOCUMENT =
  /(?:^|\/)(?:genindex|search|py-modindex|copyright|changelog|license|404|toc|contents)[^/]*$|(?:index|Index)\.html$/i

const apt = join(corpusFolder, 'apt')
const options = Object.entries({
  'Dir::Etc::SourceList': join(apt, 'sources.list'),
  'Dir::Etc::SourceParts': join(apt, 'none'),
  'Dir::State::Lists': join(apt, 'lists'),
  'Dir::Cache': join(apt, 'cache'),
  'Debug::NoLocking': '1',
  'APT::Sandbox::User': '',
  'APT::Architecture': 'amd64',
  // Images of containers turn it off, and then each call reads all lists anew.
  'Dir::Cache::pkgcache': 'pkgcache.bin',
}).flatMap(([name, value]) => ['-o', `${name}=${value}`])

const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')
const packagesFolder = join(corpusFolder, 'packages')
const missing: string[] = []

interface Fetched {
  folder: string
  version: string
  sha256: string
}

function main(): void {
  const lacks = ['apt-get', 'dpkg-deb', 'npm'].filter((name) => spawnSync(name, ['--version']).status !== 0)
  if (lacks.length > 0) throw new Error(`This needs ${lacks.join(' and ')}: run it on Debian or Ubuntu.`)
  prepareApt()
  mkdirSync(packagesFolder, { recursive: true })
  rmSync(documentsFolder, { recursive: true, force: true })
  const manifest: Manifest = { packages: [], documents: [] }
  const seen = new Set<string>()
  for (const source of sources) {
    const fetched = source.name.startsWith('npm:') ? fetchNpm(source.name) : fetchDebian(source.name)
    if (fetched === null) continue
    manifest.packages.push({ name: source.name, version: fetched.version, sha256: fetched.sha256 })
    const documents = taken(source, fetched.folder, seen)
    if (documents.length === 0) missing.push(`${source.name}: no document of it fits`)
    manifest.documents.push(...documents)
  }
  manifest.documents.sort((a, b) => (a.file < b.file ? -1 : 1))
  writeFileSync(manifestPath, `${JSON.stringify(manifest, null, 1)}\n`)
  for (const one of missing) say(`missing: ${one}`)
  const count = (by: (one: CorpusDocument) => string): string =>
    Object.entries(Object.groupBy(manifest.documents, by))
      .map(([name, some]) => `${name} ${some?.length}`)
      .join(', ')
  const bytes = manifest.documents.reduce((sum, one) => sum + one.bytes, 0)
  say(`${manifest.documents.length} documents, ${Math.round(bytes / 1e6)} MB, in ${documentsFolder}`)
  say(`  ${count((one) => one.kind)}`)
  say(`  ${count((one) => one.language)}`)
  say(`  manifest ${sha256(readFileSync(manifestPath))}`)
  if (manifest.documents.length < LEAST_DOCUMENTS) throw new Error(`These are fewer than ${LEAST_DOCUMENTS} documents.`)
}

function prepareApt(): void {
  const keys = '/usr/share/keyrings/debian-archive-keyring.gpg'
  if (!existsSync(keys)) throw new Error(`${keys} is missing: install debian-archive-keyring.`)
  for (const folder of ['lists/partial', 'cache/archives/partial', 'none'])
    mkdirSync(join(apt, folder), { recursive: true })
  // RFCs are in non-free.
  writeFileSync(
    join(apt, 'sources.list'),
    `deb [signed-by=${keys}] http://deb.debian.org/debian bookworm main contrib non-free\n`,
  )
  if (readdirSync(join(apt, 'lists')).some((name) => name.endsWith('_Packages') || name.includes('_Packages.'))) return
  execFileSync('apt-get', [...options, 'update'], { stdio: ['ignore', 'ignore', 'inherit'] })
}

function fetchDebian(source: string): Fetched | null {
  const name = source.slice('debian:'.length)
  return unpacked(name, '.deb', (folder) => {
    execFileSync('apt-get', [...options, 'download', name], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  })
}

function fetchNpm(source: string): Fetched | null {
  const name = source.slice('npm:'.length)
  return unpacked(name.replace('/', '+'), '.tgz', (folder) => {
    execFileSync('npm', ['pack', name, '--silent'], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  })
}

function unpacked(name: string, ending: string, download: (folder: string) => void): Fetched | null {
  const folder = join(packagesFolder, name)
  const archive = (): string | undefined =>
    (existsSync(folder) ? readdirSync(folder) : []).find((one) => one.endsWith(ending))
  if (archive() === undefined) {
    const fresh = `${folder}.new`
    rmSync(fresh, { recursive: true, force: true })
    mkdirSync(fresh, { recursive: true })
    try {
      download(fresh)
    } catch (error) {
      missing.push(`${name}: ${String(error).split('\n').slice(0, 3).join(' ').slice(0, 300)}`)
      return null
    }
    rmSync(folder, { recursive: true, force: true })
    renameSync(fresh, folder)
  }
  const file = archive() ?? ''
  const content = join(folder, 'content')
  if (!existsSync(content)) {
    const fresh = join(folder, 'content.new')
    rmSync(fresh, { recursive: true, force: true })
    mkdirSync(fresh)
    if (ending === '.deb') execFileSync('dpkg-deb', ['-x', join(folder, file), fresh])
    else execFileSync('tar', ['-xzf', join(folder, file), '-C', fresh])
    renameSync(fresh, content)
  }
  const version =
    ending === '.deb' ? decodeURIComponent(file.split('_')[1] ?? '') : file.replace(/^.*-(\d+\..*)\.tgz$/, '$1')
  return { folder: content, version, sha256: sha256(readFileSync(join(folder, file))) }
}

/** In an order that the machine has no part in. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort((a, b) => (sha256(a) < sha256(b) ? -1 : 1))
}

function taken(source: Source, folder: string, seen: Set<string>): CorpusDocument[] {
  const files = filesOf(folder)
  return source.parts.flatMap((part) => {
    const documents: CorpusDocument[] = []
    for (const path of files) {
      if (documents.length >= part.most) break
      const plain = path.replace(/\.gz$/, '')
      if (!part.path.test(`/${plain}`) || NO_DOCUMENT.test(plain)) continue
      const bytes = contentOf(join(folder, path), part)
      if (bytes === null) continue
      const hash = sha256(bytes)
      if (seen.has(hash)) continue
      seen.add(hash)
      const file = nameOf(source, plain, part)
      mkdirSync(dirname(join(documentsFolder, file)), { recursive: true })
      writeFileSync(join(documentsFolder, file), bytes)
      const { kind, language } = part
      documents.push({ file, kind, language, package: source.name, path, bytes: bytes.length, sha256: hash })
    }
    return documents
  })
}

function contentOf(path: string, part: Part): Uint8Array | null {
  const size = statSync(path).size
  if (size > MOST_PDF_BYTES) return null
  const raw = readFileSync(path)
  const bytes = path.endsWith('.gz') ? gunzipSync(raw) : raw
  if (part.kind === 'pdf')
    return bytes.subarray(0, 5).toString() === '%PDF-' && bytes.length <= MOST_PDF_BYTES ? bytes : null
  const text = part.kind === 'manual' ? manualText(bytes.toString('utf8')) : bytes.toString('utf8')
  if (text === null || text.includes('\ufffd') || text.length < LEAST_BYTES || text.length > MOST_BYTES) return null
  return Buffer.from(text)
}

/** The last folders of its path are enough to tell it from others. */
function nameOf(source: Source, path: string, { kind, language }: Part): string {
  const folder = source.name
    .replace(/^(?:debian|npm):/, '')
    .replace('/', '+')
    .replace(/(.)@.*$/, '$1')
  const name = path
    .replace(/^(?:package|usr\/share(?:\/doc)?)\//, '')
    .replace(/\.mdx$/, '.md')
    .replace(/(?:^|\/)\.+/g, '/')
  return `${folder}/${language}/${kind === 'manual' ? `${name}.txt` : name}`.replace(/\/+/g, '/')
}

main()
