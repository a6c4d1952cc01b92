// The risk of one piece of work: of a command by its text, of another tool by what it does with the paths in its arguments.

import { relative, sep } from 'node:path'
import { isWithin } from '../../domain/is-within.ts'
import type { WorkMatch } from '../../domain/supervision/grant.ts'
import { hidesCharacters } from '../../domain/text/visible-text.ts'
import { textsIn } from '../../json/texts-in.ts'
import { spellings } from '../workspace/guard-arguments.ts'
import { createWhereLeads } from '../workspace/where-leads.ts'
import { assessCommand } from './assess-command.ts'
import { createPathUses, type Finding, type Use, unclear } from './places.ts'
import { type Assessment, type AssessWork, isRiskier, type Work, type WorkRisk } from './risk.ts'

export interface AssessWorkDeps {
  /** See `createServerPlaces`. */
  serverPaths: readonly string[]
  /** What `~` means. */
  home: string
}

const MAX_TEXTS = 1_000
/** Arguments of writing tools that are the text itself. */
const TEXTS: ReadonlySet<string> = new Set([
  ...[
    'content',
    'contents',
    'file_text',
    'new_string',
    'old_string',
    'new_str',
    'old_str',
    'new_source',
    'text',
    'description',
  ],
  ...['insert_text', 'explanation', 'instruction', 'replacement'],
])
/** Arguments of searching tools that are what is looked for. */
const SOUGHT: ReadonlySet<string> = new Set(['query', 'regex', 'search_term', 'description', 'output_mode'])
const PATCHED = /^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |(?:\+\+\+|---) (?:[ab]\/)?)(.+?)\s*$/gm

export function createAssessWork({ serverPaths, home }: AssessWorkDeps): AssessWork {
  const whereLeads = createWhereLeads(serverPaths)

  function assessTool(work: Work): Assessment {
    const { effect, toolName, workspaceRoot, cwd } = work
    if (effect === 'host') return { risk: 'none', why: 'changes only what its host shows', action: null, matches: [] }
    const access: Use = effect === 'reads' || effect === 'searches' ? 'read' : 'write'
    const first = FIRST[effect]
    let best: Finding = { ...first, action: null }
    const paths = createPathUses(whereLeads, workspaceRoot)
    const inside = new Set<string>()
    let isGuarded = false
    // Without a folder it looks through the one where the agent is.
    for (const text of [...pathsOf(work), ...(effect === 'searches' ? [cwd] : [])]) {
      try {
        for (const written of spellings(text, home)) {
          for (const folder of new Set([cwd, workspaceRoot])) {
            const use = paths.use(written, folder, access)
            isGuarded ||= use.guarded
            if (use.path !== null) inside.add(use.path)
            if (isRiskier(use.risk, best.risk)) best = { risk: use.risk, why: use.why, action: null }
          }
        }
      } catch {
        if (best.risk === 'none' || best.risk === 'low') best = { ...unclear(text), action: null }
      }
    }
    if (effect === 'writes' && inside.size === 0 && best.risk === 'low')
      best = { risk: 'high', why: 'writes files, and it is not clear which', action: null }
    const isRemembered = best.risk !== 'critical' && best.risk !== 'none' && !isGuarded
    return { ...best, matches: isRemembered ? matchesOfTool(effect, toolName, best.risk, inside) : [] }
  }

  return (work) => {
    const { toolName, effect, input, command, workspaceRoot, cwd } = work
    if (hidesCharacters([toolName, input, command]))
      return { risk: 'critical', why: 'hides characters that a person would overlook', action: null, matches: [] }
    try {
      if (command === null) return assessTool(work)
      const found = assessCommand(command, { whereLeads, home, workspaceRoot, cwd })
      const isOnlyCommand = effect === 'runs'
      const risk = isOnlyCommand || isRiskier(found.risk, 'low') ? found.risk : 'high'
      const why = risk === found.risk ? found.why : FIRST.unknown.why
      const isRemembered = risk !== 'critical' && !found.guarded && isOnlyCommand
      const matches = isRemembered ? matchesOfCommand(command, found.begins, work, risk) : []
      return { risk, why, action: found.action, matches }
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

/** Every text of the arguments that may be a path. */
function pathsOf({ effect, toolName, input }: Work): string[] {
  const without = new Set(effect === 'writes' ? TEXTS : effect === 'searches' ? SOUGHT : [])
  // Of a tool that looks into files it is what to look for; otherwise it says which files.
  if (effect === 'searches' && !/glob|find|list|ls/i.test(toolName)) without.add('pattern')
  const found: string[] = []
  for (const text of textsIn(input, without)) {
    const patched = [...text.matchAll(PATCHED)].map(([, path = '']) => path)
    found.push(...(patched.length > 0 ? patched : [text]))
    if (found.length > MAX_TEXTS) throw new Error('There are too many arguments to look at.')
  }
  return found.filter((text) => text.trim() !== '' && text.length <= 4_096)
}

function matchesOfTool(effect: Work['effect'], tool: string, risk: WorkRisk, inside: ReadonlySet<string>): WorkMatch[] {
  if (effect !== 'writes') return [{ type: 'tool', tool }]
  const [path = ''] = inside
  if (risk !== 'low' || inside.size !== 1 || path === '' || /[*?]/.test(path)) return []
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  return [path, ...(folder === '' ? [] : [`${folder}**`])].map((pattern) => ({ type: 'writes', pattern }))
}

function matchesOfCommand(
  command: string,
  begins: readonly string[] | null,
  { workspaceRoot, cwd }: Work,
  risk: WorkRisk,
): WorkMatch[] {
  if (risk === 'none' || !isWithin(cwd, workspaceRoot)) return []
  const folder = relative(workspaceRoot, cwd).split(sep).join('/')
  return [
    { type: 'command', command, folder },
    ...(begins === null ? [] : [{ type: 'begins' as const, words: begins }]),
  ]
}
