// How risky a command line is. The shell's own grammar says which programs run; `judge-program.ts` says what each does. The riskiest
// part counts, so that a command is never less risky than any of its parts.

import { isAbsolute, resolve } from 'node:path'
import { type Command, forEachChild, parse, type SyntaxNode } from 'unbash'
import type { WhereLeads } from '../workspace/where-leads.ts'
import { judgeProgram } from './judge-program.ts'
import { createPathUses, type Finding, type PathUse, type Use, unclear } from './places.ts'
import { DECODERS, DOWNLOADS, HARMLESS_VARIABLES, OBEYED_VARIABLES } from './programs.ts'
import { RISKS, type WorkRisk } from './risk.ts'
import { type ShellWord, shellWords, wordsOf } from './shell-words.ts'

export interface CommandFinding extends Finding {
  /** Nothing about it is remembered. */
  guarded: boolean
  /** Where a remembered beginning of the command ends, in words; null: no program with a rule of its own. */
  begins: number | null
}

/** What a judge of a program sees and says. */
export interface Scene {
  home: string
  workspaceRoot: string
  /** The folders that the shell may be in; null: nobody knows. */
  folders: readonly string[] | null
  /** Files that were downloaded before, as they were written. */
  fetched: string[]
  /** What a program reads may be a download or decoded text. */
  tainted: boolean
  /** The program reads from something else than the terminal. */
  piped: boolean
  begins: number | null
  note(risk: WorkRisk, why: string, action?: string | null): void
  /** Judges a path, and says what it is. */
  path(written: string, access: Use): PathUse[]
  word(word: ShellWord, access: Use): void
  program(words: readonly ShellWord[], command: Command | null): void
  script(text: string): void
}

const MAX_CHARS = 16_000
const MAX_SCRIPTS = 20
const NOTHING = 'does nothing'

export function assessCommand(
  text: string,
  {
    whereLeads,
    home,
    workspaceRoot,
    cwd,
  }: { whereLeads: WhereLeads; home: string; workspaceRoot: string; cwd: string },
): CommandFinding {
  const paths = createPathUses(whereLeads, workspaceRoot)
  let best: Finding = { risk: 'none', why: NOTHING, action: null }
  let guarded = false
  let scripts = 0

  const scene: Scene = {
    home,
    workspaceRoot,
    folders: [cwd],
    fetched: [],
    tainted: false,
    piped: false,
    begins: null,
    note(risk, why, action = null) {
      const isMore = RISKS.indexOf(risk) > RISKS.indexOf(best.risk)
      if (isMore || best.why === NOTHING) best = { risk, why, action }
    },
    path(written, access) {
      const uses = (scene.folders ?? [null]).map((folder) => paths.use(written, folder, access))
      for (const use of uses) {
        if (use.risk !== 'none') scene.note(use.risk, use.why)
        guarded ||= use.guarded
      }
      return uses
    },
    word(word, access) {
      if (word.kind === 'one' || word.kind === 'any') {
        const { risk, why } = unclear(word.text)
        scene.note(risk, why)
        return
      }
      for (const candidate of pathsIn(word.text)) {
        if (word.kind === 'plain') scene.path(candidate, access)
        else {
          for (const folder of scene.folders ?? [null]) {
            const all = paths.matching(candidate, folder)
            if (all === null) scene.note('high', unclear(word.text).why)
            else for (const path of all) scene.path(path, access)
          }
        }
      }
    },
    program: (words, command) => judgeProgram(scene, words, command),
    script(code) {
      scripts += 1
      const { length } = code
      if (length > MAX_CHARS || scripts > MAX_SCRIPTS) {
        scene.note('high', 'runs a command that is too long to understand')
        return
      }
      visit(parse(code))
    },
  }

  /** What a part does to the folder ends with it. */
  function apart(visitAll: () => void): void {
    const { folders, piped, tainted } = scene
    visitAll()
    Object.assign(scene, { folders, piped, tainted })
  }

  /** A part that may run or not: afterwards the shell is here or there. */
  function perhaps(visitAll: () => void): void {
    const before = scene.folders
    visitAll()
    scene.folders = either(before, scene.folders)
  }

  /** A part that may run again from where it has ended. */
  function again(visitAll: () => void): void {
    const before = scene.folders
    visitAll()
    if (scene.folders === before) return
    scene.folders = null
    visitAll()
  }

  function visit(node: SyntaxNode): void {
    const children = (): void => forEachChild(node, visit)
    switch (node.type) {
      case 'Script':
        if ('errors' in node && (node.errors?.length ?? 0) > 0)
          scene.note('high', 'runs a command that cannot be understood')
        {
          perhaps(children)
          return
        }
      case 'Statement':
        if (node.background === true) scene.note('high', 'leaves a program running')
        {
          perhaps(children)
          return
        }
      case 'AndOr': {
        const before = scene.folders
        for (const [i, one] of node.commands.entries()) {
          const after = scene.folders
          visit(one)
          // After `cd x &&` the shell is in x.
          const isSure = node.operators.slice(0, i + 1).every((operator) => operator === '&&')
          if (!isSure) scene.folders = either(either(before, after), scene.folders)
        }
        return
      }
      case 'Pipeline': {
        apart(() => {
          for (const one of node.commands) {
            apart(() => visit(one))
            scene.piped = true
            scene.tainted ||= taints(one, home)
          }
        })
        return
      }
      case 'Subshell':
      case 'CommandExpansion':
      case 'ProcessSubstitution':
      case 'ArithmeticCommandExpansion': {
        apart(children)
        return
      }
      case 'Coproc':
        scene.note('high', 'leaves a program running')
        {
          apart(children)
          return
        }
      case 'Function':
        scene.note('high', 'gives a name another meaning')
        {
          again(children)
          return
        }
      case 'While':
      case 'For':
      case 'Select':
      case 'ArithmeticFor': {
        again(children)
        return
      }
      case 'ArithmeticWord':
        // The value of a variable is evaluated, and may run something.
        if (!/^\s*\d*\s*$/.test(node.value)) scene.note('high', 'calculates with a value that is not known')
        {
          children()
          return
        }
      case 'TestBinary':
        if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator) && !/^\d+$/.test(`${node.left.value}${node.right.value}`))
          scene.note('high', 'calculates with a value that is not known')
        {
          children()
          return
        }
      case 'TestUnary':
        if (node.operator === '-v' || node.operator === '-R') scene.note('high', 'tests a variable that is not clear')
        else for (const word of shellWords(node.operand, home)) if (word.kind === 'plain') scene.word(word, 'names')
        {
          children()
          return
        }
      case 'Redirect': {
        const isCopy = /^[<>]&$/.test(node.operator) && /^(?:\d+|-|\d+-)$/.test(node.target?.value ?? '')
        if (node.target === undefined || isCopy) {
          children()
          return
        }
        const access = node.operator.startsWith('<') && node.operator !== '<>' ? 'read' : 'write'
        for (const word of shellWords(node.target, home)) {
          if (access === 'write' && !/^\/dev\/(?:null|stdout|stderr|tty)$/.test(word.text))
            scene.note('low', 'writes files of the workspace')
          if (node.target.parts?.some(({ type }) => type === 'ProcessSubstitution') !== true) scene.word(word, access)
        }
        children()
        return
      }
      case 'Command': {
        command(node)
        return
      }
      default: {
        children()
        return
      }
    }
  }

  function command(node: Command): void {
    const outer = { tainted: scene.tainted, piped: scene.piped }
    const isDownload = taints(node, home)
    const inside = nestedTaint(node, home)
    apart(() => {
      scene.tainted ||= isDownload
      forEachChild(node, visit)
    })
    for (const one of [...node.prefix, ...node.args]) {
      if (one.type !== 'Assignment') continue
      const isExported = node.name !== undefined
      if (isExported ? !HARMLESS_VARIABLES.test(one.name) : OBEYED_VARIABLES.test(one.name))
        scene.note('high', `sets ${one.name.slice(0, 30)}, which programs obey`)
    }
    const words = wordsOf(node, home)
    scene.tainted = outer.tainted || inside
    scene.piped = outer.piped || node.redirects.some(({ operator }) => operator.startsWith('<'))
    if (words.length > 0) judgeProgram(scene, words, node)
    Object.assign(scene, outer)
    if (isDownload) {
      const targets = node.redirects.flatMap((one) =>
        'target' in one && one.target !== undefined ? [one.target.value] : [],
      )
      scene.fetched.push(...words.map((word) => word.text), ...targets)
    }
  }

  scene.script(text)
  return { ...best, guarded, begins: scene.begins }
}

/** Everything in a word that may be a path: after `=`, `:` or `@`, or directly after a short option. */
function pathsIn(text: string): Set<string> {
  const found = new Set<string>()
  const value = /^(?:-{0,2}[\w.-]+=)(.*)$/s.exec(text)?.[1]
  if (value !== undefined) found.add(value)
  if (!text.startsWith('-')) found.add(text)
  else if (!text.startsWith('--')) {
    found.add(text.slice(2))
    const at = text.search(/[/.~]/)
    if (at > 0) found.add(text.slice(at))
  }
  for (const one of [...found]) {
    if (one.startsWith('@')) found.add(one.slice(1))
    // `HEAD:path`, `host:path`
    const colon = one.lastIndexOf(':')
    if (colon >= 0 && !one.startsWith(':(')) found.add(one.slice(colon + 1))
  }
  return found
}

function either(a: readonly string[] | null, b: readonly string[] | null): readonly string[] | null {
  if (a === null || b === null) return null
  if (a === b) return a
  const all = new Set([...a, ...b])
  return all.size > 8 ? null : [...all]
}

/** Whether a part of a pipeline gives a download or a decoded text to the next one. */
function taints(node: SyntaxNode, home: string): boolean {
  let found = false
  const look = (one: SyntaxNode): void => {
    if (found) return
    if (one.type === 'Command') {
      const words = wordsOf(one, home).map(({ text }) => text.slice(text.lastIndexOf('/') + 1).toLowerCase())
      const isEncoded =
        /^(?:printf|echo)$/.test(words[0] ?? '') && words.some((word) => /\\(?:x|u|0?[0-7]{2,3})/.test(word))
      found = isEncoded || words.some((word) => DOWNLOADS.has(word) || DECODERS.has(word))
    }
    forEachChild(one, look)
  }
  look(node)
  return found
}

function nestedTaint(node: Command, home: string): boolean {
  let found = false
  forEachChild(node, (child) => {
    const look = (one: SyntaxNode): void => {
      if (one.type === 'CommandExpansion' || one.type === 'ProcessSubstitution') found ||= taints(one, home)
      else forEachChild(one, look)
    }
    look(child)
  })
  return found
}

/** A folder to go to, from each of those where the shell may be. */
export const foldersFrom = (folders: readonly string[] | null, to: string): readonly string[] | null =>
  isAbsolute(to) ? [to] : (folders?.map((folder) => resolve(folder, to)) ?? null)
