// Commands that show the files of a workspace.

import { basename, extname } from 'node:path/posix'
import { ServerError } from '../../domain/errors.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import type { SupervisedSession } from '../../supervision/sessions/take-step.ts'
import { isWorkspaceSession } from '../../supervision/sessions/workspace-session.ts'
import { type FileList, type ListedEntry, listFiles, USUAL_DEPTH } from '../../supervision/workspace/list-files.ts'
import { type LineRange, showFile } from '../../supervision/workspace/show-file.ts'
import { type Answer, code, count, file, fitsInline, heading, oneLine, size, text } from './answer.ts'
import { type ChannelSessions, channelSessions, takePlace } from './channel-sessions.ts'
import type { Asked, CommandServices } from './command-services.ts'

const INLINE_LIST = { lines: 40, bytes: 8_192 }
const INLINE_FILE = { lines: 30, bytes: 2_048 }

export async function showFiles(services: CommandServices, asked: Asked): Promise<Answer> {
  const here = await channelSessions(services, asked.context)
  const { session, words } = await takePlace(services, here, asked, { most: 1 })
  const depth = depthOf(asked.command.options.get('depth'))
  await noteLookInside(services, asked.by, here, session)
  const found = await listFiles(session.supervision.workspaceRoot, { path: words[0] ?? '', depth }, services.clock)
  const shown = found.entries.map(entryLine)
  const content = shown.join('\n')
  const title = heading(
    `${found.path === '' ? 'The workspace' : visibleText(found.path)}: ${count(shown.length, 'entry', 'entries')}`,
  )
  const notes = notesOf(found)
  const parts = [title, ...(notes === '' ? [] : [text(notes)])]
  if (shown.length === 0) return { parts }
  return fitsInline(content, shown.length, INLINE_LIST)
    ? { parts: [title, code(content), ...parts.slice(1)] }
    : { parts, file: { ...file('files.txt', content), to: 'room' } }
}

const entryLine = ({ path, depth, type, bytes, isUnread }: ListedEntry): string => {
  const marks = { folder: '/', file: '', link: ' (link)', other: ' (not a file)' }
  const end = isUnread ? '  (cannot be read)' : bytes === null ? '' : `  ${size(bytes)}`
  return `${'  '.repeat(depth - 1)}${visibleText(basename(path))}${marks[type]}${end}`
}

function notesOf({ ignored, cut }: FileList): string {
  const notes = [
    ignored === 0
      ? null
      : `${count(ignored, 'entry is', 'entries are')} left out: generated, or excluded by .gitignore.`,
    cut === null ? null : 'There is more than this. Name a folder, or a smaller --depth.',
  ]
  return notes.filter((one) => one !== null).join(' ')
}

function depthOf(given: string | undefined): number {
  if (given === undefined) return USUAL_DEPTH
  if (/^\d{1,3}$/.test(given)) return Number(given)
  throw new ServerError('invalid_request', `--depth is a whole number, not ${JSON.stringify(oneLine(given, 40))}.`)
}

export async function showOneFile(services: CommandServices, asked: Asked): Promise<Answer> {
  const here = await channelSessions(services, asked.context)
  const { session, words } = await takePlace(services, here, asked, { most: 1, least: 1 })
  const [path] = words
  if (path === undefined) throw new ServerError('invalid_request', 'Name a file. Write: show-file PATH [--lines A:B]')
  const range = rangeOf(asked.command.options.get('lines'))
  await noteLookInside(services, asked.by, here, session)
  const found = await showFile(session.supervision.workspaceRoot, path, range)
  const { from, to, totalLines, bytes, hasMarks, leftOut } = found
  const name = visibleText(found.path)
  if (totalLines === 0) return { parts: [heading(name), text('The file is empty.')] }
  const isWhole = from === 1 && to === totalLines
  const part = isWhole ? count(totalLines, 'line') : `lines ${from} to ${to} of ${totalLines}`
  const content = found.lines.join('\n')
  const parts = [
    heading(`${name}: ${part}, ${size(bytes)}`),
    ...(hasMarks ? [text('It has characters that hide. They are shown as marks, such as <U+202E>.')] : []),
    ...(leftOut > 0 ? [text(`${count(leftOut, 'line is', 'lines are')} not shown. Ask for them with --lines.`)] : []),
  ]
  return fitsInline(content, found.lines.length, INLINE_FILE)
    ? { parts: [...parts, code(numbered(found.lines, from))] }
    : { parts, file: { ...file(basename(name), content, snippetTypeOf(found.path)), to: 'room' } }
}

function numbered(all: readonly string[], from: number): string {
  const width = String(from + all.length - 1).length
  return all.map((line, i) => `${String(from + i).padStart(width)}  ${line}`).join('\n')
}

/** `10:20`, `10:` to the end, `:20` from the start, or `10` alone. */
function rangeOf(given: string | undefined): LineRange | null {
  if (given === undefined) return null
  const [, first = '', colon = '', last = ''] = /^(\d{0,9})([:\-–]?)(\d{0,9})$/.exec(given.trim()) ?? []
  if (first === '' && last === '') {
    throw new ServerError('invalid_request', '--lines takes the first and the last line: 10:20. Also 10: and :20.')
  }
  const from = first === '' ? 1 : Number(first)
  return { from, to: last !== '' ? Number(last) : colon === '' ? from : null }
}

/** Operators may look at what the agents of others do, and the audit trail says that they did: also if they name only the workspace. */
async function noteLookInside(
  { oversight }: CommandServices,
  by: Caller,
  { all }: ChannelSessions,
  session: SupervisedSession,
): Promise<void> {
  const { workspaceRoot } = session.supervision
  const [newest = session] = isWorkspaceSession(session)
    ? all.filter(({ supervision }) => supervision.workspaceRoot === workspaceRoot)
    : []
  await oversight.foreignSession({ by, owner: by.user }, newest.id)
}

/** As Slack names languages. It knows no JSON and no TypeScript. */
const SNIPPET_TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    javascript: '.js .mjs .cjs .jsx .ts .mts .cts .tsx .json .jsonc',
    python: '.py .pyi',
    ruby: '.rb',
    go: '.go',
    rust: '.rs',
    java: '.java',
    kotlin: '.kt .kts',
    swift: '.swift',
    c: '.c .h',
    cpp: '.cc .cpp .cxx .hpp',
    csharp: '.cs',
    php: '.php',
    shell: '.sh .bash .zsh',
    sql: '.sql',
    html: '.html .htm',
    css: '.css',
    xml: '.xml .svg',
    yaml: '.yaml .yml',
    markdown: '.md',
    diff: '.diff .patch',
  }).flatMap(([type, endings]) => endings.split(' ').map((ending): [string, string] => [ending, type])),
)

const snippetTypeOf = (path: string): string => SNIPPET_TYPES.get(extname(path).toLowerCase()) ?? 'text'
