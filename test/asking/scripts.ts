// The scripts of the model: what an agent does in one task, in the order of scripts/*.txt, where
//   `= name`   begins a task       `r`  reads files            `g`  searches: a pattern, and where
//   `f`  finds files by a glob     `l`  lists a folder         `e`  edits files          `w`  writes new files
//   `t`  notes its plan            `u`  fetches an address     `s`  looks something up
//   `$`  runs a command; lines that begin with `>` belong to it.
//   `x 5`  looks around: five reads and searches in the files of the workspace   `c 2`  edits and runs the same again, twice
// The first line names the host: `host claude`.

import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { type HostName, isHostName } from '../../src/hosts/hosts.ts'
import type { ScriptStep, Verb } from './host-words.ts'
import { type WorkspaceName, workspaces } from './workspaces.ts'

export interface Task {
  name: string
  host: HostName
  workspace: WorkspaceName
  steps: readonly ScriptStep[]
}

const VERBS: Readonly<Record<string, Verb>> = {
  r: 'read',
  g: 'search',
  f: 'find',
  l: 'list',
  e: 'edit',
  w: 'write',
  t: 'plan',
  u: 'fetch',
  s: 'look up',
  $: 'run',
}
/** Each word of the line is a step of its own. */
const MANY: ReadonlySet<Verb> = new Set(['read', 'find', 'list', 'edit', 'write', 'fetch'])

export function readScripts(): Task[] {
  const folder = join(import.meta.dirname, 'scripts')
  return readdirSync(folder)
    .toSorted()
    .flatMap((file) => tasksIn(file.replace(/\.txt$/, ''), readFileSync(join(folder, file), 'utf8')))
}

function tasksIn(workspace: string, text: string): Task[] {
  if (!isWorkspace(workspace)) throw new Error(`there is no workspace ${workspace}`)
  const [head = '', ...parts] = text.split(/^= /m)
  const host = head.trim().replace(/^host /, '')
  if (!isHostName(host)) throw new Error(`${workspace}: there is no host ${host}`)
  return parts.map((part) => {
    const [name = '', ...lines] = part.replaceAll(/\n> ?/g, '\u0000').split('\n')
    const steps: Planned[] = []
    for (const line of lines.filter((one) => one.trim() !== '')) {
      const count = Number(line.slice(2))
      if (line.startsWith('x ')) steps.push(...lookAround(workspace, `${name} ${steps.length}`, count))
      else if (line.startsWith('c ')) steps.push(...onceMore(steps, count))
      else steps.push(...stepsOf(line.replaceAll('\u0000', '\n')))
    }
    return { name: name.trim(), host, workspace, steps: steps.map((step, index) => ({ ...step, nth: index + 1 })) }
  })
}

const isWorkspace = (name: string): name is WorkspaceName => Object.hasOwn(workspaces, name)

type Planned = Omit<ScriptStep, 'nth'>

/** The same for the same seed: agents read a few files, then search for what they saw there. */
function lookAround(workspace: WorkspaceName, seed: string, count: number): Planned[] {
  const files = Object.entries<string>(workspaces[workspace].files).filter(([path]) => !path.startsWith('..'))
  let state = [...seed].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) >>> 0, 7)
  return Array.from({ length: count }, (_, index): Planned => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0
    const [path, names] = files[(state >>> 8) % files.length] ?? ['README.md', '']
    const parts = names.split(' ')
    const folder = path.split('/').slice(0, -1).join('/')
    if (index % 4 === 2)
      return { verb: 'search', what: parts[(state >>> 20) % parts.length] ?? '', where: folder || null }
    if (index % 12 === 9) return { verb: 'list', what: folder || '.', where: null }
    if (index % 12 === 11) return { verb: 'find', what: `**/*${extname(path)}`, where: null }
    return { verb: 'read', what: path, where: null }
  })
}

function onceMore(before: readonly Planned[], count: number): Planned[] {
  const last = (verb: Verb) => before.findLast((step) => step.verb === verb)
  const round = [last('edit'), last('run')].filter((step) => step !== undefined)
  return Array.from({ length: count }, () => round).flat()
}

function stepsOf(line: string): Planned[] {
  const verb = VERBS[line.charAt(0)]
  if (verb === undefined) throw new Error(`no step begins like this: ${line}`)
  const rest = line.slice(2)
  if (MANY.has(verb)) return rest.split(' ').map((what) => ({ verb, what, where: null }))
  if (verb !== 'search') return [{ verb, what: rest, where: null }]
  // A pattern with spaces stands in quotes.
  const [, quoted, plain, where] = /^(?:"([^"]*)"|(\S+))(?: (\S+))?$/.exec(rest) ?? []
  return [{ verb, what: quoted ?? plain ?? rest, where: where ?? null }]
}
