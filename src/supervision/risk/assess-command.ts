// How risky a command line is. The shell's own grammar says which programs run; `judge-program.ts` says what each does. The riskiest
// part counts, so that a command is never less risky than any of its parts.

import { statSync } from 'node:fs'
import { basename, isAbsolute, resolve } from 'node:path'
import { type Command, forEachChild, parse, type Redirect, type SyntaxNode } from 'unbash'
import { secretPath } from '../workspace/secret-path.ts'
import type { WhereLeads } from '../workspace/where-leads.ts'
import { beginningsOf, newPart, type Part } from './beginnings.ts'
import { givesCode, takesCode } from './gives-code.ts'
import { judgeProgram } from './judge-program.ts'
import { createPathUses, type Finding, unclear } from './places.ts'
import { HARMLESS_SETTINGS, HARMLESS_VARIABLES, OBEYED_VARIABLES, SETS_VARIABLES } from './programs.ts'
import { ANY_VALUE } from './reasons.ts'
import { type Beginning, isRiskier } from './risk.ts'
import type { Scene } from './scene.ts'
import { allCommands, type Known, plainWord, type ShellWord, shellWords, wordsOf } from './shell-words.ts'

export interface CommandFinding extends Finding {
  /** It uses what only a person may let an agent use, so that nothing about it is remembered. */
  guarded: boolean
  /** Of every program that does more than read: its words that may be remembered. Empty: one of them cannot be known by its beginning. */
  beginnings: readonly Beginning[]
}

interface CommandPlace {
  whereLeads: WhereLeads
  /** What `~` means. */
  home: string
  workspaceRoot: string
  cwd: string
}

const MAX_CHARS = 16_000
const MAX_SCRIPTS = 20
/** Commands in words of others. */
const MAX_NESTED = 500
const MAX_STEPS = 20_000
const TOO_LONG = 'runs a command that is too long to understand'
const MAX_FOLDERS = 8
const MAX_LOOPED = 20
const OTHER_NAME = 'gives a name another meaning'

export function assessCommand(text: string, { whereLeads, home, workspaceRoot, cwd }: CommandPlace): CommandFinding {
  const paths = createPathUses(whereLeads, workspaceRoot)
  const loops = new Map<string, ShellWord>()
  const known: Known = { home, loops }
  const parts: Part[] = []
  /** Notes that belong to no program. */
  const outside: Part = { ...newPart(), begins: null }
  let current = outside
  let best: Finding | null = null
  let guarded = false
  /** A folder may be gone that was there before. */
  let hasMoved = false
  /** The line, and the texts in it that a shell runs. */
  const texts: string[] = []
  const setting = new Map<string, boolean>()
  let steps = 0
  /** Whether the program reads what another one prints. */
  let isFed = false
  /** Whether a node gives code: asked of every node by every node above it. */
  const gives = new Map<SyntaxNode, boolean>()

  const scene: Scene = {
    workspaceRoot,
    folders: [cwd],
    fetched: [],
    tainted: false,
    input: [],
    wholeTree: null,
    called: '',
    note(risk, why, action = null) {
      if (best === null || isRiskier(risk, best.risk)) best = { risk, why, action }
      if (isRiskier(risk, current.risk)) current.risk = risk
      if (isRiskier(risk, 'low')) current.reasons.add(why)
    },
    begins(words, ofHigh) {
      if (current.begins !== undefined) return
      current.begins = words && [plainWord(scene.called), ...words]
      current.ofHigh = ofHigh
    },
    path(written, access) {
      const uses = (scene.folders ?? [null]).map((folder) => paths.use(written, folder, access))
      for (const use of uses) {
        if (use.risk !== 'none') scene.note(use.risk, use.why)
        guarded ||= use.guarded
        const { wholeTree: names } = scene
        const { path } = use
        if (names === null || access !== 'write' || path === null) continue
        if (path === '') scene.note('high', 'changes files anywhere in the workspace')
        const named = carefully(() => paths.protectedBelow(path, names))
        if (named === null) continue
        guarded = true
        scene.note('critical', `changes a protected file (${named})`)
      }
      return uses
    },
    word({ text: word, kind }, access) {
      if (kind === 'one' || kind === 'any') {
        // `$HOME/.env`: the folder is not clear, the file is.
        const name = basename(word)
        if (/^[\w.-]*\.[\w.-]*$/.test(name) && secretPath(name) !== null) scene.path(name, access)
        return scene.note('high', unclear(word).why)
      }
      for (const path of pathsIn(word)) {
        const all = kind === 'glob' ? carefully(() => paths.matching(path, scene.folders)) : [path]
        if (all === null) scene.note('high', unclear(word).why)
        for (const one of all ?? []) {
          if (kind === 'glob' && one.startsWith('-')) scene.note('high', 'may take the name of a file for an option')
          scene.path(one, access)
        }
      }
    },
    tree({ text: folder }) {
      for (const from of scene.folders ?? []) {
        const secret = carefully(() => paths.secretBelow(resolve(from, folder)))
        if (secret === null) continue
        guarded = true
        scene.note('high', `reads a folder with files that usually hold secrets (${secret})`)
      }
    },
    variable(assigned, isPlain) {
      const [name = ''] = assigned.split(/\W/)
      if (!HARMLESS_SETTINGS.test(assigned) && !(isPlain && HARMLESS_VARIABLES.test(name)))
        scene.note('high', `sets ${name.slice(0, 30)}, which programs obey`)
    },
    goTo(folder) {
      if (folder === null) scene.folders = null
      else scene.folders = isAbsolute(folder) ? [folder] : (scene.folders?.map((from) => resolve(from, folder)) ?? null)
    },
    program: (words) => judgeProgram(scene, words),
    script(code) {
      texts.push(code)
      if (
        code.length > MAX_CHARS ||
        texts.length > MAX_SCRIPTS ||
        (code.match(/\$\(|[<>]\(|`/g)?.length ?? 0) > MAX_NESTED
      )
        return scene.note('high', TOO_LONG)
      // Another shell does not know the variables of this one.
      const bound = [...loops]
      loops.clear()
      visit(parse(code))
      for (const [name, word] of bound) loops.set(name, word)
    },
  }

  /** Null as well if there is too much to look at, which makes the work high. */
  function carefully<T>(look: () => T): T | null {
    try {
      return look()
    } catch {
      scene.note('high', 'touches too many folders to look at')
      return null
    }
  }

  /** What a part does to the folder ends with it. */
  function apart(visitAll: () => void): undefined {
    const { folders, tainted, input } = scene
    visitAll()
    Object.assign(scene, { folders, tainted, input })
  }

  /** A part that may run or not: afterwards the shell is here or there. */
  function perhaps(visitAll: () => void): undefined {
    const before = scene.folders
    visitAll()
    scene.folders = either(before, scene.folders)
  }

  /** A part that may run again, from where it has ended. */
  function again(visitAll: () => void): undefined {
    const before = scene.folders
    visitAll()
    if (scene.folders === before) return
    scene.folders = null
    visitAll()
  }

  function visit(node: SyntaxNode): undefined {
    steps += 1
    if (steps > MAX_STEPS) return scene.note('high', TOO_LONG)
    const children = (): undefined => forEachChild(node, visit) as undefined
    switch (node.type) {
      case 'Script':
        if ('errors' in node && (node.errors?.length ?? 0) > 0)
          scene.note('high', 'runs a command that cannot be understood')
        return perhaps(children)
      case 'Statement':
        if (node.background === true) scene.note('high', 'leaves a program running')
        return isSureCd(node.command) ? children() : perhaps(children)
      case 'AndOr': {
        let possible = isSureCd(node) ? null : [scene.folders]
        for (const [i, one] of node.commands.entries()) {
          visit(one)
          possible = [...(possible ?? []), scene.folders]
          // After `cd x &&` the shell is in x, and nowhere else.
          if (node.operators.slice(0, i + 1).includes('||')) scene.folders = possible.reduce(either)
        }
        scene.folders = (possible ?? [scene.folders]).reduce(either)
        return
      }
      case 'Pipeline':
        return apart(() => {
          const before = isFed
          for (const one of node.commands) {
            apart(() => visit(one))
            isFed = true
            scene.tainted ||= givesCode(one, known, gives)
            scene.input = one.type === 'Command' ? [printedBy(one)] : []
          }
          isFed = before
        })
      case 'Subshell':
      case 'CommandExpansion':
      case 'ProcessSubstitution':
      case 'ArithmeticCommandExpansion':
        return apart(children)
      case 'Coproc':
        scene.note('high', 'leaves a program running')
        return apart(children)
      case 'Function':
        scene.note('high', OTHER_NAME)
        return again(children)
      case 'For': {
        const words = (node.wordlist ?? []).flatMap((word) => shellWords(word, known))
        const name = node.name.value
        setsVariable(name)
        // Something else may set the variable too.
        const isAssigned = new RegExp(`\\b${name}\\b\\s*(?:\\+|:|-)?[=[]`)
        const isSet = texts.some((one) => isAssigned.test(one) || setsAny(one)) || loopsAgain(node, name)
        const isBound =
          words.length <= MAX_LOOPED &&
          words.every(({ kind }) => kind === 'plain' || kind === 'glob') &&
          // Commands set these.
          /^(?!(?:_|REPLY|DIRSTACK)$)\w+$/.test(name)
        // Each word makes other commands.
        for (const word of [...(isBound ? words : []), ...(isBound && !isSet && words.length > 0 ? [] : [null])]) {
          if (word === null) loops.delete(name)
          else loops.set(name, word)
          again(children)
        }
        loops.delete(name)
        return
      }
      case 'Select': {
        setsVariable(node.name.value)
        return again(children)
      }
      case 'While':
      case 'ArithmeticFor':
        return again(children)
      case 'ArithmeticExpansion':
      case 'ArithmeticCommand': {
        // What is no calculation can be two brackets around commands: `$((ls; ls))`.
        const inner = node.type === 'ArithmeticCommand' ? node.body : node.text.slice(3, -2)
        if (/[;&|<>\n]|\w\s+[^\s=+*/%<>&|^-]/.test(inner)) apart(() => scene.script(inner))
        return children()
      }
      case 'ArithmeticWord':
        // The value of a variable is evaluated, and may run something.
        if (!/^\s*\d*\s*$/.test(node.value)) scene.note('high', ANY_VALUE)
        return children()
      case 'TestBinary':
        if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator) && !/^\d+$/.test(`${node.left.value}${node.right.value}`))
          scene.note('high', ANY_VALUE)
        return children()
      case 'TestCommand':
        scene.note('none', 'tests a condition')
        return children()
      case 'TestUnary':
        if (/^-[vR]$/.test(node.operator)) scene.note('high', ANY_VALUE)
        for (const word of shellWords(node.operand, known)) if (word.kind === 'plain') scene.word(word, 'names')
        return children()
      case 'Redirect':
        redirect(node)
        return children()
      case 'Command':
        return command(node)
      default:
        return children()
    }
  }

  function setsVariable(name: string): undefined {
    if (OBEYED_VARIABLES.test(name)) scene.note('high', `sets ${name.slice(0, 30)}, which programs obey`)
  }

  /** Whether a loop inside of a loop has the same variable. */
  function loopsAgain(node: SyntaxNode, name: string): boolean {
    let found = false
    forEachChild(node, (child) => {
      const isLoop = child.type === 'For' || child.type === 'Select'
      found ||= (isLoop && child.name.value === name) || loopsAgain(child, name)
    })
    return found
  }

  /** Whether a text has a program that may set any variable, or one that is not clear. */
  function setsAny(code: string): boolean {
    const found =
      setting.get(code) ??
      allCommands(code).some((words) => {
        const program = words.find((word) => !/^(?:builtin|command|time|-.*)$/.test(word))
        return program === '' || words.some((word) => SETS_VARIABLES.has(word))
      })
    setting.set(code, found)
    return found
  }

  /** Whether a part begins with a `cd` to a folder that exists and still will: the shell goes there. */
  function isSureCd(node: SyntaxNode): boolean {
    const first = node.type === 'AndOr' ? node.commands[0] : node
    if (first?.type !== 'Command' || first.name?.value !== 'cd') return false
    const [, to, ...others] = wordsOf(first, known)
    if (to?.kind !== 'plain' || others.length > 0 || hasMoved) return false
    return scene.folders?.every((folder) => isFolder(resolve(folder, to.text))) === true
  }

  function redirect({ operator, target }: Redirect): undefined {
    if (target === undefined || isHarmless(operator, target.value)) return
    const use = operator === '<' || operator === '<&' ? 'read' : 'write'
    if (use === 'write') scene.note('low', 'writes files of the workspace')
    if (target.parts?.some(({ type }) => type === 'ProcessSubstitution') === true) return
    for (const word of shellWords(target, known)) scene.word(word, use)
  }

  function command(node: Command): undefined {
    const { tainted, input } = scene
    const outer = current
    const words = wordsOf(node, known)
    hasMoved ||= words.some((word) => /(?:^|\/)(?:mv|rm|rmdir|ln|git|chmod)$/i.test(word.text))
    const assignments = [...node.prefix, ...node.args].filter((one) => one.type === 'Assignment')
    const isQuiet = node.redirects.every((one) => 'target' in one && isHarmless(one.operator, one.target?.value ?? ''))
    const isPlain = assignments.length === 0 && !isFed
    current = { ...newPart(), words: isQuiet ? words : null, isPlain }
    parts.push(current)
    const isSource = givesCode(node, known, gives)
    apart(() => {
      scene.tainted ||= isSource
      forEachChild(node, visit)
    })
    for (const { name, text: assigned } of assignments) {
      if (node.name !== undefined) scene.variable(assigned, true)
      else {
        setsVariable(name)
        scene.note('none', 'sets variables of the shell')
      }
    }
    scene.tainted ||= takesCode(node, known, gives)
    const given = node.redirects.flatMap((one) =>
      one.type === 'HereDoc' ? [one.body.text] : one.type === 'HereString' ? [one.target?.value ?? ''] : [],
    )
    scene.input = given.length > 0 ? given : input
    if (words.length > 0) judgeProgram(scene, words)
    Object.assign(scene, { tainted, input })
    if (isSource)
      scene.fetched.push(
        ...words.map((word) => word.text),
        ...node.redirects.flatMap((one) => ('target' in one ? [one.target?.value ?? ''] : [])),
      )
    current = outer
  }

  scene.path(cwd, 'names')
  scene.script(text)
  return {
    ...(best ?? { risk: 'none', why: 'does nothing', action: null }),
    guarded,
    beginnings: beginningsOf([outside, ...parts]),
  }
}

const isHarmless = (operator: string, target: string): boolean =>
  (/^[<>]&$/.test(operator) && /^(?:\d+-?|-)$/.test(target)) || /^\/dev\/(?:null|stdout|stderr)$/.test(target)

/** Everything in a word that may be a path: after `=`, `:` or `@`, or directly after a short option. */
function pathsIn(text: string): Set<string> {
  const found = new Set<string>()
  for (let value = assigned(text); value !== undefined; value = assigned(value)) found.add(value)
  if (!text.startsWith('-')) found.add(text)
  else if (!text.startsWith('--')) {
    found.add(text.slice(2))
    const at = text.search(/[/.~]/)
    if (at > 0) found.add(text.slice(at))
  }
  for (const one of [...found]) {
    if (one.startsWith('@')) found.add(one.slice(1))
    // `HEAD:path`, `host:path`
    if (one.includes(':')) found.add(one.slice(one.lastIndexOf(':') + 1))
  }
  return found
}

const assigned = (text: string): string | undefined => /^-{0,2}[\w.-]+=(.*)$/s.exec(text)?.[1]

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

function either(a: readonly string[] | null, b: readonly string[] | null): readonly string[] | null {
  if (a === b || a === null || b === null) return a === b ? a : null
  const all = new Set([...a, ...b])
  return all.size > MAX_FOLDERS ? null : [...all]
}

/** What `echo` prints, if that is all it does. */
const printedBy = ({ name, args }: Command): string =>
  /^(?:echo|printf)$/.test(name?.value ?? '')
    ? args.map((one) => (one.type === 'Word' ? one.value : one.text)).join(' ')
    : ''
