// Reads folders of skills, whole, when their agent is loaded. What is not read now can never be read: links are not followed, and hidden
// files and those that hold secrets are left out.

import { basename, join } from 'node:path'
import { type Skill, type SkillFile, skillList } from '../../domain/agent/skill.ts'
import { secretFile, secretText } from '../../domain/text/secret-file.ts'
import { hidesCharacters, visibleText } from '../../domain/text/visible-text.ts'
import { canonicalJson, sha256 } from '../../json/digest.ts'
import { type ConfigFiles, type FolderEntry, MAX_FILE_BYTES, readText } from '../source/config-files.ts'
import type { Path } from '../source/json-schema-node.ts'
import { existingFolder, type LoadContext } from '../source/load-context.ts'
import { readSkillText } from './skill-text.ts'

const SKILL = 'SKILL.md'
const AT: Path = ['skills']
const MOST_SKILLS = 100
/** Of one skill. */
const MOST_FILES = 500
const MOST_DEPTH = 8
/** Of all texts of an agent's skills together, as they stay in memory. */
const MOST_CHARS = 16_000_000
/** Names and descriptions go with each request. */
const MOST_LISTED = 40_000

/** Absent: the agent has none. */
export function defineSkills(folders: readonly string[] | undefined, context: LoadContext): Skill[] | undefined {
  if (folders === undefined) return undefined
  const skills: Skill[] = []
  const room: Room = { chars: MOST_CHARS }
  for (const [index, folder] of folders.entries()) {
    const at = Array.isArray(context.written(AT)) ? [...AT, index] : AT
    const path = existingFolder(folder, at, context)
    for (const directory of skillFolders(path, at, context)) {
      const skill = readSkill(directory, at, context, room)
      const twin = skills.find(({ name }) => name === skill?.name)
      if (skill === null || twin?.directory === directory) continue
      if (twin === undefined) skills.push(skill)
      else
        context.report(at, `${directory} and ${twin.directory} have the same name, ${skill.name}. Rename one of them.`)
      if (skills.length > MOST_SKILLS) {
        context.report(at, `there are more than ${MOST_SKILLS} skills. Name fewer folders.`)
        return undefined
      }
    }
  }
  const chars = skillList(skills).length
  if (chars > MOST_LISTED) {
    context.report(
      AT,
      `their names and descriptions have ${chars} characters, which go with each request. At most ${MOST_LISTED} are allowed.`,
    )
  }
  return skills.length === 0 ? undefined : skills
}

/** The folder itself, or those of its folders that have a SKILL.md. */
function skillFolders(path: string, at: Path, { files, report }: LoadContext): string[] {
  const entries = files.list(path)
  if (entries === null) return []
  const has = (folder: string) =>
    entriesIn(folder, files)?.some(({ name, isFile }) => isFile && name === SKILL) === true
  const found = has(path)
    ? [path]
    : entries
        .filter(({ name, isFolder }) => isFolder && isWanted(name))
        .flatMap(({ name }) => {
          const folder = join(path, name)
          return has(folder) ? [folder] : []
        })
  if (found.length === 0) {
    report(at, `${path}: neither this folder nor one in it has a ${SKILL}. Links are not followed.`)
  }
  return found
}

const isWanted = (name: string): boolean => !name.startsWith('.') && name !== 'node_modules' && name !== '__pycache__'

/** What may still be kept. */
interface Room {
  chars: number
}

function readSkill(directory: string, at: Path, context: LoadContext, room: Room): Skill | null {
  const report = (message: string) => context.report(at, message)
  const warn = (message: string) => context.warn(at, message)
  const file = join(directory, SKILL)
  const { text, problem } = readText(context.files, file)
  if (text === null) report(`${file}: ${problem}.`)
  const read = text === null ? null : readSkillText(file, text, basename(directory), report, warn)
  if (read === null || text === null) return null
  const { hidden, ...skill } = read
  if (hidden) {
    warn(`${file} says disable-model-invocation, so ${skill.name} is left out.`)
    return null
  }
  room.chars -= text.length
  const found = filesIn(directory, context.files, room, warn)
  if (found === null) {
    report(
      `${directory} has too much: at most ${MOST_FILES} files in folders ${MOST_DEPTH} deep, and with the other skills ${MOST_CHARS} characters.`,
    )
    return null
  }
  const marked = [{ path: SKILL, text }, ...found].filter((one) => hidesCharacters(one.text)).map(({ path }) => path)
  if (marked.length > 0) {
    warn(
      `${directory} has characters that people do not see in ${listed(marked)}. The model sees them as marks like <U+202E>.`,
    )
  }
  const files = found.map(({ hash: _hash, ...one }) => one)
  const bytes = files.reduce((sum, one) => sum + one.bytes, Buffer.byteLength(text))
  const hashes = found.map(({ path, hash }) => [path, hash])
  return { ...skill, directory, files, bytes, digest: sha256(canonicalJson([text, hashes])).slice(0, 16) }
}

type ReadFile = SkillFile & { hash: string }

/** Null: it cannot be read. */
function entriesIn(folder: string, files: ConfigFiles): FolderEntry[] | null {
  try {
    return files.list(folder)
  } catch {
    return null
  }
}

/** Null: there are too many. */
function filesIn(
  directory: string,
  files: ConfigFiles,
  room: Room,
  warn: (message: string) => void,
): ReadFile[] | null {
  const found: ReadFile[] = []
  const skipped: string[] = []
  const left = [{ folder: '', depth: 0 }]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { folder, depth } = next
    const entries = entriesIn(join(directory, folder), files)
    if (entries === null) skipped.push(folder)
    for (const { name, isFolder, isFile } of entries ?? []) {
      const path = `${folder}${name}`
      if (!isWanted(name) || path === SKILL) continue
      if (depth > MOST_DEPTH || found.length >= MOST_FILES || left.length >= MOST_FILES) return null
      if (isFolder) {
        left.push({ folder: `${path}/`, depth: depth + 1 })
        continue
      }
      const file = isFile ? readFile(path, name, join(directory, path), files) : null
      if (file === null) skipped.push(path)
      else found.push(file)
      room.chars -= file?.text?.length ?? 0
      if (room.chars < 0) return null
    }
  }
  if (skipped.length > 0) {
    warn(`${directory}: links, secrets and files that cannot be read are left out: ${listed(skipped)}.`)
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Null: it must not be read, or cannot. */
function readFile(path: string, name: string, file: string, files: ConfigFiles): ReadFile | null {
  if (visibleText(path) !== path || secretFile(name, name.normalize('NFKC').toLowerCase()) !== null) return null
  let bytes: Uint8Array
  try {
    bytes = files.read(file, MAX_FILE_BYTES + 1)
  } catch {
    return null
  }
  const text = bytes.length > MAX_FILE_BYTES ? null : textIn(bytes)
  if (text !== null && secretText(text) !== null) return null
  return { path, bytes: bytes.length, text, hash: sha256(Buffer.from(bytes).toString('latin1')) }
}

function textIn(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

const MOST_NAMED = 5

const listed = (paths: readonly string[]): string =>
  paths.slice(0, MOST_NAMED).map(visibleText).join(', ') +
  (paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : '')
