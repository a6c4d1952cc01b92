// The risk of one piece of work: of a command by its text, of another tool by what it does with the paths in its arguments.

import { basename, dirname, relative, resolve, sep } from 'node:path'
import { isRecord } from '../../domain/is-record.ts'
import { isWithin } from '../../domain/is-within.ts'
import type { WorkMatch } from '../../domain/supervision/grant.ts'
import { hidesCharacters } from '../../domain/text/visible-text.ts'
import { textArguments } from '../../hosts/tool-effect.ts'
import { textsIn } from '../../json/texts-in.ts'
import { isTooLong, spellings } from '../workspace/guard-arguments.ts'
import { createWhereLeads } from '../workspace/where-leads.ts'
import { COMMANDS } from '../workspace-policy/request-of-call.ts'
import { assessCommand, type CommandFinding } from './assess-command.ts'
import { createPathUses, type Finding, isKindOfFile, type Use, unclear } from './places.ts'
import { AND, type Assessment, type AssessWork, isRiskier, type Work, type WorkRisk } from './risk.ts'

export interface AssessWorkDeps {
  /** See `createServerPlaces`. */
  serverPaths: readonly string[]
  /** What `~` means. */
  home: string
}

const MAX_TEXTS = 1_000
// What the wire takes.
const MAX_COMMAND_CHARS = 10_000
const MAX_WORDS = 100
const MAX_WORD_CHARS = 1_000
const MAX_PATTERN_CHARS = 4_000
/** Arguments of searching tools that are what is looked for. */
const SOUGHT: ReadonlySet<string> = new Set(['query', 'regex', 'search_term', 'description', 'output_mode'])
/** Arguments of tools that run something, or type it into a program that runs. */
const CODE: ReadonlySet<string> = new Set([...COMMANDS, 'chars', 'input', 'keys', 'query', 'sql'])
/** Tools that only find names. */
const FINDS_NAMES = /glob|find|list|^ls$/i
/** The files of a patch. */
const PATCHED = /^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |(?:\+\+\+|---) (?:[ab]\/)?)(.+?)\s*$/gm
const DELETES = /^\*\*\* Delete File: |^\+\+\+ \/dev\/null/m

/** In a command: a return that overwrites the line on a terminal, and spaces that are none for a shell. */
const OVERLOOKED = /\r(?!\n)|[^\P{Zs} ]/u

export function createAssessWork({ serverPaths, home }: AssessWorkDeps): AssessWork {
  const whereLeads = createWhereLeads(serverPaths)

  function assessTool(work: Work): Assessment {
    const { effect, toolName, workspaceRoot, cwd } = work
    const paths = createPathUses(whereLeads, workspaceRoot, work.seen)
    const inside = new Set<string>()
    let best: Finding = { ...FIRST[effect], action: null }
    let isGuarded = false
    const note = (risk: WorkRisk, why: string): void => {
      if (isRiskier(risk, best.risk)) best = { risk, why, action: null }
    }
    // Without a folder it looks through the one where the agent is.
    for (const text of effect === 'host' ? [] : [...pathsOf(work), ...(effect === 'searches' ? [cwd] : [])]) {
      if (effect === 'writes' && (DELETES.test(text) || /delete|remove/i.test(toolName))) note('high', 'deletes files')
      try {
        for (const written of [...text.matchAll(PATCHED)].map(([, path = '']) => path)) lookAt(written)
        lookAt(text)
        lookBelow(text)
      } catch {
        note('high', unclear(text).why)
      }
    }
    /** A pattern finds hidden and ignored files as well. */
    function lookBelow(text: string): void {
      if (accessOf(work) !== 'read' || !/^[^!].*[*?[{]|^[*?[{]/s.test(text) || isKindOfFile(basename(text))) return
      const secret = paths.secretBelow(resolve(cwd, dirname(text.replace(/[*?[{].*$/s, 'x'))))
      if (secret === null) return
      isGuarded = true
      note('high', `reads a folder with files that usually hold secrets (${secret})`)
    }
    function lookAt(text: string): void {
      for (const written of spellings(text, home)) {
        for (const folder of new Set([cwd, workspaceRoot])) {
          const use = paths.use(written, folder, accessOf(work))
          note(use.risk, use.why)
          isGuarded ||= use.guarded
          if (use.path !== null && folder === cwd && /^[^\n]*[./][^\n]*$/.test(text)) inside.add(use.path)
        }
      }
    }
    if (effect === 'writes' && inside.size === 0) note('high', 'writes files, and it is not clear which')
    const isRemembered = best.risk !== 'critical' && best.risk !== 'none' && !isGuarded
    return { ...best, matches: isRemembered ? matchesOfTool(work, best.risk, inside) : [] }
  }

  return (work) => {
    const { toolName, effect, input, command, workspaceRoot, cwd } = work
    if (hidesCharacters([toolName, input, command]) || OVERLOOKED.test(command ?? ''))
      return { risk: 'critical', why: 'hides characters that a person would overlook', action: null, matches: [] }
    try {
      if (command === null) return assessTool(work)
      const found = assessCommand(command, { whereLeads, home, workspaceRoot, cwd })
      const isOnlyCommand = effect === 'runs'
      const risk = isOnlyCommand || isRiskier(found.risk, 'low') ? found.risk : 'high'
      const why = risk === found.risk ? found.why : FIRST.unknown.why
      const isRemembered = risk !== 'critical' && risk !== 'none' && !found.guarded && isOnlyCommand
      const matches = isRemembered ? matchesOfCommand(command, found, work) : []
      return { risk, why, action: found.action, matches, beginnings: isRemembered ? found.beginnings : [] }
    } catch {
      return { risk: 'high', why: 'does something that cannot be understood', action: null, matches: [] }
    }
  }
}

const FIRST: Record<Work['effect'], { risk: WorkRisk; why: string }> = {
  host: { risk: 'none', why: 'changes only what its host shows' },
  reads: { risk: 'none', why: 'reads files of the workspace' },
  searches: { risk: 'none', why: 'searches the workspace' },
  writes: { risk: 'low', why: 'writes files of the workspace' },
  runs: { risk: 'high', why: 'runs something that is not shown' },
  reaches: { risk: 'high', why: 'reaches the network' },
  unknown: { risk: 'high', why: 'uses a tool that is not known here' },
}

/** A tool that is not known may write to everything that it is given. */
function accessOf({ effect, toolName }: Work): Use {
  if (effect === 'searches' && FINDS_NAMES.test(toolName)) return 'names'
  return effect === 'writes' || effect === 'unknown' ? 'write' : 'read'
}

/** Every text of the arguments that may be a path or a patch. */
function pathsOf({ effect, toolName, input }: Work): string[] {
  // Of a tool that looks into files it is what to look for; otherwise it says which files.
  const pattern = FINDS_NAMES.test(toolName) ? [] : ['pattern']
  const without =
    effect === 'writes' ? textArguments : effect === 'searches' ? new Set([...SOUGHT, ...pattern]) : undefined
  const found = [...textsIn(input, without)].filter((text) => text.trim() !== '' && !isTooLong(text))
  if (found.length > MAX_TEXTS) throw new Error('There are too many arguments to look at.')
  return found
}

/** Of a write: the file, its folder, the folder at the top, and all ordinary files. */
function matchesOfTool({ effect, toolName, input }: Work, risk: WorkRisk, inside: ReadonlySet<string>): WorkMatch[] {
  // What it is given may be code, or a file anywhere: the next call would be another one.
  const isCode = isRecord(input) && Object.keys(input).some((name) => CODE.has(name))
  if (effect === 'reads' || effect === 'searches' || (isCode && /^(?:unknown|runs)$/.test(effect))) return []
  if (effect !== 'writes') return [{ type: 'tool', tool: toolName }]
  const [path = ''] = inside
  if (risk !== 'low' || inside.size !== 1 || path === '' || path.length > MAX_PATTERN_CHARS || /[*?]/.test(path))
    return []
  const folders = path.split('/').slice(0, -1)
  const near = folders.length === 0 ? [] : [`${folders.join('/')}/**`, `${folders[0]}/**`]
  return [...new Set([path, ...near, '**'])].map((pattern) => ({ type: 'writes', pattern }))
}

/** The command, its beginning, and all plain work of the tool: a yes to low work never covers what is riskier. */
function matchesOfCommand(command: string, { beginnings, risk }: CommandFinding, work: Work): WorkMatch[] {
  const { workspaceRoot, cwd, toolName } = work
  if (!isWithin(cwd, workspaceRoot) || command.length > MAX_COMMAND_CHARS) return []
  const folder = relative(workspaceRoot, cwd).split(sep).join('/')
  const words = beginnings.flatMap((one, i) => [...(i === 0 ? [] : [AND]), ...one.words])
  const isShort = words.length > 0 && words.length <= MAX_WORDS && words.every((word) => word.length <= MAX_WORD_CHARS)
  return [
    { type: 'command', command, folder },
    ...(isShort ? [{ type: 'begins' as const, words }] : []),
    ...(risk === 'low' ? [{ type: 'tool' as const, tool: toolName }] : []),
  ]
}
