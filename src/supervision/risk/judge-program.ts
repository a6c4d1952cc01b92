// What one program does with its words. Most programs are lines of `programs.ts`; here are those that run other programs, or whose words
// say more than a line can.

import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Command } from 'unbash'
import { visibleText } from '../../domain/text/visible-text.ts'
import { foldersFrom, type Scene } from './assess-command.ts'
import type { Use } from './places.ts'
import {
  BUILD_RESULTS,
  HARMLESS_MODULES,
  HARMLESS_VARIABLES,
  INTERPRETERS,
  MODULES,
  OBEYED_VARIABLES,
  PROGRAMS,
  REACHING_SCRIPT,
  type Rule,
  SHELLS,
  WITH_VERBS,
  WRAPPERS,
} from './programs.ts'
import { plainWord, type ShellWord } from './shell-words.ts'

const CODE = 'runs code that nobody has read'
const DOWNLOADED = 'runs a download or decoded text as a program'
const SYSTEM_FOLDERS = /^\/(?:usr\/(?:local\/)?)?s?bin\/$|^\/opt\/homebrew\/bin\/$/
const MAX_ACTION_CHARS = 60
const UNKNOWN: ShellWord = { text: '(input)', kind: 'any', variables: 'harmless' }

type Judge = (scene: Scene, words: readonly ShellWord[], command: Command | null) => void

/** `words` begin with the program. */
export function judgeProgram(scene: Scene, words: readonly ShellWord[], command: Command | null): void {
  const [first, ...rest] = words
  if (first === undefined) return
  if (first.kind !== 'plain') {
    scene.note('high', 'runs a program that is not clear')
    return
  }
  const folder = first.text.slice(0, first.text.lastIndexOf('/') + 1)
  const name = basename(first.text).toLowerCase()
  if (folder !== '' && !SYSTEM_FOLDERS.test(folder)) {
    scene.word(first, 'read')
    scene.note('low', 'runs a program of the workspace')
    runsFile(scene, first.text)
    if (!/(?:^|\/)bin\/$|\.bin\/$/.test(folder) || !isKnown(name)) {
      scene.begins ??= 1
      for (const word of rest) scene.word(word, 'read')
      return
    }
  }
  const judge = JUDGES.get(name)
  if (judge !== undefined) {
    judge(scene, words, command)
    return
  }
  if (SHELLS.has(name)) {
    judgeShell(scene, rest, command)
    return
  }
  if (INTERPRETERS.has(name) && !isListed(name, rest)) {
    judgeInterpreter(scene, name, rest)
    return
  }
  const wrapper = WRAPPERS.get(name) ?? WRAPPERS.get(`${name} ${rest[0]?.text}`)
  if (wrapper !== undefined) {
    judgeWrapped(scene, wrapper, WRAPPERS.has(name) ? rest : rest.slice(1))
    return
  }
  judgeByRule(scene, name, rest)
}

const isKnown = (name: string): boolean =>
  [PROGRAMS, WITH_VERBS, SHELLS, INTERPRETERS, WRAPPERS, JUDGES].some((all) => all.has(name))
const isListed = (name: string, [verb]: readonly ShellWord[]): boolean => PROGRAMS.has(`${name} ${verb?.text}`)

/** A file that was downloaded before is a download that runs. */
function runsFile(scene: Scene, file: string): void {
  if (scene.fetched.some((one) => basename(one) === basename(file))) scene.note('critical', DOWNLOADED)
}

interface Parsed {
  options: ShellWord[]
  /** Values of options, other than texts. */
  values: ShellWord[]
  operands: ShellWord[]
}

function parsed(words: readonly ShellWord[], valued: readonly string[], worded: readonly string[]): Parsed {
  const result: Parsed = { options: [], values: [], operands: [] }
  let onlyOperands = false
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] ?? UNKNOWN
    if (!onlyOperands && word.kind === 'plain' && word.text === '--') onlyOperands = true
    else if (onlyOperands || !word.text.startsWith('-') || word.text === '-') result.operands.push(word)
    else {
      const [name = ''] = word.text.split('=')
      // One word of any text: a variable in quotes stays one.
      if (name !== word.text && worded.includes(name) && word.kind !== 'any') continue
      result.options.push(word)
      const next = words[i + 1]
      if (next === undefined) continue
      if (worded.includes(word.text) && next.kind !== 'any') i += 1
      else if (valued.includes(word.text)) {
        result.values.push(next)
        i += 1
      }
    }
  }
  return result
}

/** Long options may be cut off: `--outp` is `--output`. */
export function hasOption(options: readonly ShellWord[], names: readonly string[]): boolean {
  return options.some(({ text, kind }) => {
    if (kind !== 'plain') return true
    const [name = ''] = text.split('=')
    return names.some((one) => {
      if (one.startsWith('--')) return name.length > 2 && one.startsWith(name)
      return one.length === 1 ? !name.startsWith('--') && name.slice(1).includes(one) : name === `-${one}`
    })
  })
}

/** The rule of a program with the longest beginning of its words. */
function ruleOf(name: string, rest: readonly ShellWord[]): { rule: Rule; key: string } | null {
  const loose = PROGRAMS.get(name)
  const valued = [...PROGRAMS].find(([key]) => key.startsWith(`${name} `))?.[1].valued ?? []
  const { operands } = parsed(rest, loose?.valued ?? valued, [])
  const [verb, second] = operands.map(({ text, kind }) => (kind === 'plain' ? text : ''))
  for (const key of [`${name} ${verb} ${second}`, `${name} ${verb}`]) {
    const rule = PROGRAMS.get(key)
    if (rule !== undefined) return { rule, key }
  }
  return loose === undefined || (WITH_VERBS.has(name) && verb !== undefined) ? null : { rule: loose, key: name }
}

function judgeByRule(scene: Scene, name: string, rest: readonly ShellWord[], more: Partial<Rule> = {}): void {
  const found = ruleOf(name, rest)
  const only = rest.length === 1 && rest[0]?.kind === 'plain' ? rest[0].text : ''
  if ((found?.rule.risk ?? 'high') !== 'critical' && isKnown(name) && /^--version$/.test(only)) {
    scene.note('none', 'asks for a version')
    return
  }
  if (found === null) {
    const verb = rest.find(({ text }) => !text.startsWith('-'))?.text
    const shown = visibleText(
      [name, ...(WITH_VERBS.has(name) && verb !== undefined ? [verb] : [])].join(' ').slice(0, 40),
    )
    scene.note('high', `runs ${shown}, which is not known here`)
    for (const word of rest) scene.word(word, 'write')
    return
  }
  const rule = { ...found.rule, ...more }
  const verbs = found.key.split(' ').length - 1
  const { options, values, operands } = parsed(rest, rule.valued, rule.worded)
  const own = operands.slice(verbs)
  scene.note(rule.risk, rule.why, actionOf(rule, own))
  if (hasOption(options, rule.not)) scene.note('high', `uses ${name} with an option that may do anything`)
  scene.begins ??= verbs + 1 + rule.more
  if (rule.words === 'text') {
    lookAtTexts(scene, rest)
    return
  }
  const texts = hasOption(options, ['e', 'f', '--regexp', '--file', '--files']) ? 0 : rule.texts
  lookAtTexts(scene, own.slice(0, texts))
  for (const word of [...own.slice(texts), ...options, ...values]) scene.word(word, rule.words)
}

function lookAtTexts(scene: Scene, words: readonly ShellWord[]): void {
  for (const { variables } of words) {
    if (variables === 'secret') scene.note('critical', 'reads a variable that usually holds a secret')
    if (variables === 'odd') scene.note('high', 'calculates with a value that is not known')
  }
}

export function actionOf({ action }: Pick<Rule, 'action'>, operands: readonly ShellWord[]): string | null {
  if (action === null) return null
  const texts = operands.map(({ text }) => text)
  const whole = action
    .replace('{/}', () => texts.join('/') || 'the remote')
    .replace('{}', () => texts.join(' ') || 'it')
  return visibleText(whole.length > MAX_ACTION_CHARS ? `${whole.slice(0, MAX_ACTION_CHARS - 1)}…` : whole).slice(
    0,
    MAX_ACTION_CHARS,
  )
}

function judgeWrapped(
  scene: Scene,
  { valued, words, plain }: { valued: string; words: number; plain: RegExp },
  rest: readonly ShellWord[],
): void {
  let at = 0
  for (; at < rest.length; at += 1) {
    const word = rest[at]
    if (word === undefined || word.kind !== 'plain' || !word.text.startsWith('-')) break
    if (word.text === '--') {
      at += 1
      break
    }
    if (valued.split(' ').includes(word.text)) at += 1
    else if (!plain.test(word.text)) scene.note('high', 'runs a program in a way that is not clear')
  }
  scene.begins ??= 0
  judgeProgram(scene, rest.slice(at + words), null)
}

function judgeShell(scene: Scene, rest: readonly ShellWord[], command: Command | null): void {
  const at = rest.findIndex(({ text }) => !/^-/.test(text) || text === '-')
  const options = at < 0 ? rest : rest.slice(0, at)
  const [code, ...more] = at < 0 ? [] : rest.slice(at)
  scene.begins ??= 0
  if (options.some(({ text, kind }) => kind !== 'plain' || !/^-[ceuxvl]+$|^--(?:norc|noprofile|login)$/.test(text)))
    scene.note('high', 'runs a shell in a way that is not clear')
  if (code !== undefined && hasOption(options, ['c'])) {
    if (code.kind === 'plain') {
      scene.script(code.text)
      return
    }
    if (scene.tainted) scene.note('critical', DOWNLOADED, 'Run a download')
    else scene.note('high', CODE)
    return
  }
  if (code !== undefined && code.kind === 'plain' && !/^(?:-|\/dev\/.*)$/.test(code.text)) {
    scene.note('low', 'runs a script of the workspace')
    runsFile(scene, code.text)
    for (const word of [code, ...more]) scene.word(word, 'read')
    return
  }
  scene.note(
    scene.tainted ? 'critical' : 'high',
    scene.tainted ? DOWNLOADED : CODE,
    scene.tainted ? 'Run a download' : null,
  )
  for (const one of command?.redirects ?? []) {
    if (one.type === 'HereDoc') scene.script(one.body.text)
    if (one.type === 'HereString' && one.target !== undefined) scene.script(one.target.value)
  }
}

function judgeInterpreter(scene: Scene, name: string, rest: readonly ShellWord[]): void {
  const plain = INTERPRETERS.get(name) ?? /^$/
  const only = rest.length === 1 && rest[0]?.kind === 'plain' ? rest[0].text : ''
  if (/^(?:--version|-v|-V)$/.test(only) && name !== 'perl') {
    scene.note('none', 'asks for a version')
    return
  }
  const at = rest.findIndex(({ text, kind }) => kind !== 'plain' || !plain.test(text))
  const [file, ...more] = at < 0 ? [] : rest.slice(at)
  const isTest = rest.some(({ text }) => text === '--test')
  if (file === undefined && isTest) {
    scene.note('low', 'runs tests of the workspace')
    return
  }
  if (file?.text === '-m' && name.startsWith('py') && more[0]?.kind === 'plain') {
    scene.begins ??= 3
    if (MODULES.has(more[0].text)) {
      judgeProgram(scene, more, null)
      return
    }
    if (!HARMLESS_MODULES.has(more[0].text)) {
      judgeByRule(scene, `${name} -m ${more[0].text}`, more.slice(1))
      return
    }
    scene.note('low', 'runs a build, a test or a check of the workspace')
    scene.begins ??= 3
    for (const word of more.slice(1)) scene.word(word, 'read')
    return
  }
  if (file === undefined || file.kind !== 'plain' || /^-|^\/dev\/|^[a-z]+:/.test(file.text)) {
    scene.note(
      scene.tainted ? 'critical' : 'high',
      scene.tainted ? DOWNLOADED : CODE,
      scene.tainted ? 'Run a download' : null,
    )
    for (const word of more) if (word.kind === 'plain') scene.word(word, 'read')
    return
  }
  scene.note('low', 'runs a script of the workspace')
  scene.begins ??= at === 0 ? 2 : 0
  runsFile(scene, file.text)
  for (const word of [file, ...more]) scene.word(word, 'read')
}

// Programs with a judge of their own.

const judgeCd: Judge = (scene, [name, ...rest]) => {
  const { operands } = parsed(rest, [], [])
  const [to] = operands
  scene.note('none', 'goes to another folder')
  scene.begins ??= 0
  if (to === undefined || to.kind !== 'plain' || to.text === '-' || name?.text !== 'cd' || operands.length > 1) {
    scene.folders = null
    if (to === undefined || to.kind !== 'plain') scene.note('high', 'goes to a folder that is not clear')
    return
  }
  scene.path(to.text, 'names')
  scene.folders = foldersFrom(scene.folders, to.text)
}

const judgeGit: Judge = (scene, [, ...rest]) => {
  const before = scene.folders
  let left = rest
  for (;;) {
    const [option, value] = left
    if (option?.text === '-C' && value !== undefined) {
      scene.word(value, 'names')
      scene.folders = value.kind === 'plain' ? foldersFrom(scene.folders, value.text) : null
      left = left.slice(2)
    } else if (option !== undefined && /^(?:--no-pager|-P|--no-optional-locks)$/.test(option.text)) left = left.slice(1)
    else break
  }
  if (left !== rest) scene.begins ??= 0
  const first = left[0]
  if (first !== undefined && (first.kind !== 'plain' || (first.text.startsWith('-') && first.text !== '--version'))) {
    scene.note('high', 'runs git with settings of its own')
    for (const word of left) scene.word(word, 'write')
  } else judgeGitVerb(scene, left)
  scene.folders = before
}

function judgeGitVerb(scene: Scene, rest: readonly ShellWord[]): void {
  const verb = rest[0]?.text ?? ''
  const { options, operands } = parsed(
    rest.slice(1),
    ['--sort', '--format', '--contains', '--merged', '-b', '-c', '--create', '-o', '--push-option'],
    ['-m', '--message'],
  )
  const texts = operands.map(({ text }) => text)
  if (verb === 'push') {
    const isForced = hasOption(options, [
      'f',
      'd',
      '--force',
      '--force-with-lease',
      '--force-if-includes',
      '--mirror',
      '--delete',
      '--prune',
    ])
    if (isForced || texts.some((text) => /^\+|^:|^\+?.*:\+/.test(text)))
      scene.note(
        'critical',
        'forces a push or deletes on a remote',
        actionOf({ action: 'Force-push to {/}' }, operands),
      )
    if (operands.some(({ kind }) => kind !== 'plain')) scene.note('high', 'pushes to a remote')
    if (hasOption(options, ['--receive-pack', '--exec']))
      scene.note('high', 'uses git with an option that may do anything')
  } else if (verb === 'config') {
    const isRead =
      options.some(({ text }) => /^(?:--get(?:-all|-regexp)?|--list|-l)$/.test(text)) ||
      texts[0] === 'list' ||
      texts[0] === 'get'
    if (isRead) scene.note('low', 'reads settings of git')
    if (
      !isRead &&
      texts.some((text) =>
        /hook|alias|credential|pager|editor|ssh|proxy|filter|command|helper|exec|url|include|fsmonitor|program|cmd|textconv|external|askpass|attributes/i.test(
          text,
        ),
      )
    )
      scene.note('critical', 'changes what git runs')
  } else if (verb === 'clean') {
    if (hasOption(options, ['f', '--force']) && hasOption(options, ['d', 'x', 'X']))
      scene.note('critical', 'deletes everything that git does not know', 'Delete all that git does not know')
  } else if (verb === 'branch' || verb === 'tag') {
    if (operands.length > 0 && !hasOption(options, ['l', '--list'])) scene.note('low', `makes a ${verb}`)
  } else if (verb === 'remote' || verb === 'reflog') {
    if (operands.length > 0 && !PROGRAMS.has(`git ${verb} ${texts[0]}`)) scene.note('high', 'changes settings of git')
  } else if (verb === 'restore') {
    if (hasOption(options, ['S', '--staged']) && !hasOption(options, ['W', '--worktree'])) {
      scene.note('low', 'unstages changes')
      for (const word of operands) scene.word(word, 'read')
      return
    }
  } else if (verb === 'checkout' || verb === 'switch') {
    const isFile = texts.some(
      (text) => text === '.' || scene.folders?.some((folder) => existsSync(resolve(folder, text))) !== false,
    )
    if (
      verb === 'checkout' &&
      (rest.some(({ text }) => text === '--') || isFile || operands.length > 1) &&
      !hasOption(options, ['b'])
    )
      scene.note('high', 'throws work away', 'Throw changes away')
    if (operands.some(({ kind }) => kind !== 'plain')) scene.note('high', 'changes to a branch that is not clear')
  } else if (verb === 'commit' && rest.some(({ text }) => /^-[a-z]*[FtCc]/.test(text))) {
    scene.note('high', 'commits with a text that is not shown')
  }
  judgeByRule(scene, 'git', rest)
}

const judgeRm: Judge = (scene, [, ...rest]) => {
  judgeByRule(scene, 'rm', rest, { words: 'text' })
  const { options, operands } = parsed(rest, [], [])
  const isTree = hasOption(options, ['r', 'R', '--recursive'])
  const action = actionOf({ action: 'Delete {}' }, operands)
  const mass = (why: string): void => scene.note('critical', why, action)
  if (isTree && operands.length > 5) mass('deletes many folders')
  for (const word of operands) {
    const whole = word.text.replace(/\/+$/, '')
    if (word.kind === 'any' || word.kind === 'one') {
      scene.note(isTree ? 'critical' : 'high', 'deletes files, and it is not clear which', action)
    } else if (/(?:^|\/)(?:\*+|\.\*|\.|\.\.)$/.test(whole) || whole === '') mass('deletes everything in a folder')
    else if (word.kind === 'plain' && BUILD_RESULTS.test(basename(whole))) {
      if (scene.path(dirname(whole), 'names').some(({ path }) => path === null)) mass('deletes outside the workspace')
    } else {
      scene.word(word, 'write')
      if (!isTree) continue
      for (const { path } of scene.path(whole, 'names')) {
        if (path === null) mass('deletes outside the workspace')
        else if (!path.includes('/') || word.kind === 'glob') mass('deletes a whole folder')
      }
    }
  }
}

const FIND_ACTIONS = /^-(?:exec|execdir|ok|okdir)$/
const judgeFind: Judge = (scene, [, ...rest]) => {
  const at = rest.findIndex(({ text }) => /^[-(!]/.test(text))
  const roots = at < 0 ? rest : rest.slice(0, at)
  scene.note('none', 'looks for files of the workspace')
  scene.begins ??= 1
  for (const root of roots) scene.word(root, 'names')
  const tests = at < 0 ? [] : rest.slice(at)
  for (let i = 0; i < tests.length; i += 1) {
    const { text = '', kind = 'plain' } = tests[i] ?? {}
    if (kind === 'any' || kind === 'one') scene.note('high', 'looks for files in a way that is not clear')
    if (text === '-delete')
      scene.note('critical', 'deletes all files that are found', 'Delete all files that are found')
    if (/^-(?:fprint|fls)/.test(text)) scene.note('high', 'writes what is found to a file')
    if (/^-(?:files0-from|newer\w*|samefile)$/.test(text) && tests[i + 1] !== undefined)
      scene.word(tests[i + 1] ?? UNKNOWN, 'read')
    if (!FIND_ACTIONS.test(text)) continue
    const end = tests.findIndex((word, j) => j > i && /^[;+]$/.test(word.text))
    const run = tests.slice(i + 1, end < 0 ? undefined : end)
    overMany(scene, run, tests)
    i = end < 0 ? tests.length : end
  }
}

/** A program that runs for all files that are found. Nobody knows which, so that it may change none. */
function overMany(scene: Scene, run: readonly ShellWord[], hints: readonly ShellWord[]): void {
  const [program] = run
  if (/^(?:.*\/)?(?:rm|unlink|shred|rmdir|truncate)$/i.test(program?.text ?? ''))
    scene.note('critical', 'deletes all files that are found', 'Delete all files that are found')
  for (const hint of hints)
    if (hint.kind !== 'any' && !hint.text.startsWith('-')) scene.word(plainWord(hint.text.replaceAll('*', '')), 'read')
  judgeProgram(
    scene,
    run.map((word) => (word.text.includes('{}') ? { ...word, kind: 'any' } : word)),
    null,
  )
}

const judgeXargs: Judge = (scene, [, ...rest]) => {
  const valued = ['-I', '-n', '-P', '-L', '-d', '-s', '-E', '-i', '-l', '--max-args', '--max-procs', '--delimiter']
  let at = 0
  while (rest[at]?.text.startsWith('-') === true) at += valued.includes(rest[at]?.text ?? '') ? 2 : 1
  if (rest.slice(0, at).some(({ text }) => /^(?:-a|--arg-file)/.test(text)))
    scene.note('high', 'runs a program in a way that is not clear')
  scene.begins ??= 0
  overMany(scene, [...rest.slice(at), UNKNOWN], [])
}

const judgeEnv: Judge = (scene, [, ...rest]) => {
  let at = 0
  scene.begins ??= 0
  for (; at < rest.length; at += 1) {
    const { text = '', kind = 'plain' } = rest[at] ?? {}
    const variable = /^(\w+)=/.exec(text)?.[1]
    if (text === '-u' || text === '--unset') at += 1
    else if (variable !== undefined) {
      if (kind !== 'plain' || !HARMLESS_VARIABLES.test(variable))
        scene.note('high', `sets ${variable.slice(0, 30)}, which programs obey`)
    } else if (!text.startsWith('-')) break
    else if (!/^(?:-i|--ignore-environment)$/.test(text))
      scene.note('high', 'runs a program in a way that is not clear')
  }
  if (at >= rest.length) scene.note('high', 'shows the environment, which can hold secrets')
  judgeProgram(scene, rest.slice(at), null)
}

/** Addresses, printing, deleting and replacing: commands of sed that neither run nor write anything. */
const SED_ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/(?:\\.|[^/\\\n])*/)`
const SED_COMMAND = new RegExp(
  String.raw`^\s*(?:${SED_ADDRESS}(?:,\s*[+~]?${SED_ADDRESS})?\s*!?\s*)?(?:[pdqDPnNhHgGx=]|s([^\w\s\\])(?:\\.|(?!\1)[^\\\n])*\1(?:\\.|(?!\1)[^\\\n])*\1[gIip\d]*)\s*(?:[;\n]|$)`,
)
const judgeSed: Judge = (scene, [, ...rest]) => {
  const { options, operands } = parsed(rest, [], [])
  const inPlace = options.some(({ text }) => /^-[nErsuz]*i|^--in-place/.test(text))
  const isKnownOption = ({ text, kind }: ShellWord): boolean =>
    kind === 'plain' &&
    /^(?:-[nErsuz]*(?:i\S*|e)?|--(?:quiet|silent|regexp-extended|in-place(?:=\S*)?|expression(?:=.*)?))$/s.test(text)
  const access: Use = inPlace ? 'write' : 'read'
  scene.note(inPlace ? 'low' : 'none', inPlace ? 'changes files of the workspace' : 'reads files of the workspace')
  scene.begins ??= 0
  const isNamed = options.some(({ text }) => /^-[a-zA-Z]*e$|^--e/.test(text))
  // With `-e` each script is the word after it; `sed -e a -e b file` has two.
  const scripts = isNamed
    ? rest.flatMap((word, i) => (/^-[a-zA-Z]*e$|^--expression$/.test(rest[i - 1]?.text ?? '') ? [word] : []))
    : operands.slice(0, 1)
  const long = options.flatMap(({ text }) =>
    text.startsWith('--expression=') ? [plainWord(text.slice('--expression='.length))] : [],
  )
  // BSD takes the word after `-i` for the ending of a copy.
  const isBsd = inPlace && operands[0]?.text === ''
  const all = [...(isBsd && !isNamed ? operands.slice(1, 2) : scripts), ...long]
  if (
    !options.every(isKnownOption) ||
    all.length === 0 ||
    !all.every(({ text, kind }) => kind === 'plain' && isKnownSed(text))
  )
    scene.note('high', 'runs a script of sed that is not understood')
  for (const word of operands) if (!all.includes(word)) scene.word(word, access)
}

function isKnownSed(script: string): boolean {
  let left = script
  while (left.trim() !== '') {
    const found = SED_COMMAND.exec(left)
    if (found === null || found[0] === '') return false
    left = left.slice(found[0].length)
  }
  return true
}

const judgeAwk: Judge = (scene, [program, ...rest]) => {
  const { operands } = parsed(rest, ['-F', '-v'], [])
  const [script] = operands
  if (
    script === undefined ||
    script.kind !== 'plain' ||
    /system|getline|ENVIRON|[>@]|(?<!\|)\|(?!\|)/.test(script.text)
  )
    scene.note('high', 'runs a script of awk that is not understood')
  judgeByRule(scene, basename(program?.text ?? 'awk').toLowerCase(), rest)
}

const judgeChmod: Judge = (scene, [program, ...rest]) => {
  const texts = rest.map(({ text }) => text)
  const isTree = texts.some((text) => /^-[a-zA-Z]*R|^--rec/.test(text))
  const isWide = texts.some((text) => /^[0-7]?7?77$|^(?:a|o|ugo)?[+=][rx]*w/.test(text))
  if ((isTree && isWide) || texts.some((text) => /^[0-7]?[2467][0-7]{3}$|^[ugoa]*[+=][rwxX]*s/.test(text)))
    scene.note('critical', 'gives rights to everybody', actionOf({ action: 'Change permissions of {}' }, rest.slice(1)))
  judgeByRule(scene, basename(program?.text ?? '').toLowerCase(), rest)
}

/** The last word is written, under the names of the others if it is a folder. What is moved is gone. */
const judgeCopy: Judge = (scene, [program, ...rest]) => {
  const { options, operands } = parsed(rest, ['-t', '-S', '--target-directory', '--suffix'], [])
  const name = basename(program?.text ?? '').toLowerCase()
  scene.note('low', name === 'mv' ? 'moves files of the workspace' : 'copies files of the workspace')
  scene.begins ??= 0
  if (
    !options.every(
      ({ text, kind }) =>
        kind === 'plain' &&
        /^-[aRrpfivnuTHLPd]+$|^--(?:verbose|force|no-clobber|recursive|archive|preserve)$/.test(text),
    )
  )
    scene.note('high', 'copies or moves in a way that is not clear')
  const target = operands.at(-1)
  const isTree = hasOption(options, ['r', 'R', 'a', '--recursive', '--archive'])
  for (const word of operands.slice(0, -1)) {
    scene.word(word, 'read')
    if (name === 'mv') scene.word(word, 'write')
    if (target === undefined || target.kind !== 'plain') continue
    if (word.kind === 'plain') scene.word(plainWord(join(target.text, basename(word.text))), 'write')
    else if (word.kind === 'glob') scene.note('high', 'copies files, and it is not clear which')
    if (isTree && scene.path(target.text, 'names').some(({ path }) => path === ''))
      scene.note('high', 'copies over the whole workspace')
  }
  if (target !== undefined) scene.word(target, 'write')
}

/** `npx x` runs what is installed, or else downloads it. */
const judgeNpx: Judge = (scene, [name, ...rest]) => {
  const isExec = /^(?:pnpm|yarn|npm)$/.test(name?.text ?? '')
  const words = isExec ? rest.slice(1) : rest
  const at = words.findIndex(({ text }) => !/^(?:--no-install|--no|--|-y|--yes)$/.test(text))
  const [program] = at < 0 ? [] : words.slice(at)
  const isLocal =
    program?.kind === 'plain' &&
    /^[\w.-]+$/.test(program.text) &&
    [scene.workspaceRoot, ...(scene.folders ?? [])].some((folder) =>
      existsSync(join(folder, 'node_modules/.bin', program.text)),
    )
  scene.begins ??= 0
  if (
    program === undefined ||
    program.text.startsWith('-') ||
    (!isLocal && !words.slice(0, at).some(({ text }) => /^--no/.test(text)))
  )
    scene.note(
      'high',
      'may download a package and run it',
      actionOf({ action: 'Download and run {}' }, program === undefined ? [] : [program]),
    )
  else scene.note('low', 'runs a program of the workspace')
  if (program?.text.startsWith('-') === false) judgeProgram(scene, words.slice(at), null)
}

const judgePackages: Judge = (scene, words, command) => {
  const [program, verb, script] = words
  const name = basename(program?.text ?? '').toLowerCase()
  if (verb?.text === 'exec' || (name === 'npm' && verb?.text === 'x')) {
    judgeNpx(scene, [plainWord(name), ...words.slice(1)], command)
    return
  }
  if (/^run(?:-script)?$/.test(verb?.text ?? '') && script === undefined) {
    scene.note('none', 'lists scripts of the workspace')
    return
  }
  if (/^run(?:-script)?$/.test(verb?.text ?? '') || /^(?:make|gmake|just|task)$/.test(name)) {
    const called = words.slice(1).filter(({ text }) => !text.startsWith('-'))
    if (called.some(({ kind }) => kind !== 'plain') || called.some(({ text }) => REACHING_SCRIPT.test(text)))
      scene.note('high', 'runs a script that may publish or install')
    if (
      !/^(?:npm|pnpm|yarn|bun)$/.test(name) &&
      called.some(({ text }) => /^\w+\s*[:?+]?=/.test(text) && !HARMLESS_VARIABLES.test(text.split('=')[0] ?? ''))
    )
      scene.note('high', 'sets a variable that programs obey')
  }
  judgeByRule(scene, name, words.slice(1))
}

const judgeEval: Judge = (scene, [name, ...rest]) => {
  scene.begins ??= 0
  const code = name?.text === 'trap' ? rest.slice(0, 1) : rest
  scene.note('low', 'runs a text as a command')
  if (code.every(({ kind }) => kind === 'plain')) {
    scene.script(code.map(({ text }) => text).join(' '))
    return
  }
  scene.note(scene.tainted ? 'critical' : 'high', scene.tainted ? DOWNLOADED : CODE)
}

const judgeSource: Judge = (scene, [, file, ...more]) => {
  scene.begins ??= 2
  if (file === undefined || file.kind !== 'plain' || /^\/dev\//.test(file.text)) {
    scene.note(scene.tainted ? 'critical' : 'high', scene.tainted ? DOWNLOADED : CODE)
    return
  }
  scene.note('low', 'runs a script of the workspace')
  runsFile(scene, file.text)
  for (const word of [file, ...more]) scene.word(word, 'read')
}

/** `export A=b`, `declare x=1`: the assignments. */
const judgeDeclare: Judge = (scene, [name, ...rest]) => {
  scene.begins ??= 0
  const isExport = name?.text === 'export'
  scene.note('none', 'sets variables of the shell')
  for (const { text, kind } of rest) {
    const variable = /^(\w+)(?:\+?=.*)?$/s.exec(text)?.[1]
    if (variable === undefined) {
      if (!/^-[rxgi]+$/.test(text)) scene.note('high', 'sets variables in a way that is not clear')
    } else if (
      isExport || rest.some((word) => /^-\w*x/.test(word.text))
        ? !HARMLESS_VARIABLES.test(variable)
        : OBEYED_VARIABLES.test(variable)
    )
      scene.note('high', `sets ${variable.slice(0, 30)}, which programs obey`)
    if (kind === 'any' && !/^\w+=/.test(text)) scene.note('high', 'sets variables in a way that is not clear')
  }
}

const judgeSet: Judge = (scene, [, ...rest]) => {
  scene.begins ??= 0
  const isKnownSet =
    rest.length > 0 &&
    rest.every(({ text, kind }) => kind === 'plain' && /^(?:[-+][eux]*o?|pipefail|errexit|nounset)$/.test(text))
  scene.note(
    isKnownSet ? 'none' : 'high',
    isKnownSet ? 'sets options of the shell' : 'sets options of the shell that are not known',
  )
}

/** In some shells a text with an index is evaluated. */
const judgeTest: Judge = (scene, [name, ...rest]) => {
  if (rest.some(({ text }) => /\[.*(?:\$\(|`)/s.test(text)))
    scene.note('high', 'calculates with a value that is not known')
  judgeByRule(
    scene,
    name?.text ?? '',
    rest.filter(({ text }) => text !== ']'),
    name?.text === 'printf' ? {} : { words: 'text' },
  )
  if (name?.text === 'printf') return
  for (const word of rest) if (word.kind === 'plain' && !word.text.startsWith('-')) scene.word(word, 'names')
}

const judgeCommandWord: Judge = (scene, words, command) => {
  if (/^-[vV]$/.test(words[1]?.text ?? '')) {
    scene.note('none', 'says where a program is')
    return
  }
  judgeWrapped(scene, WRAPPERS.get('command') ?? { valued: '', words: 0, plain: /^$/ }, words.slice(1))
  void command
}

/** A search through whole folders reads what is in them. */
const judgeSearch: Judge = (scene, [program, ...rest]) => {
  const name = basename(program?.text ?? '').toLowerCase()
  judgeByRule(scene, name, rest)
}

const judgeJq: Judge = (scene, [, ...rest]) => {
  if (rest.some(({ text }) => /\benv\b|\$ENV\b/.test(text)))
    scene.note('high', 'shows the environment, which can hold secrets')
  judgeByRule(scene, 'jq', rest)
}

const judgeMade: Judge = (scene, words) =>
  judgeByRule(scene, basename(words[0]?.text ?? '').toLowerCase(), words.slice(1))

const JUDGES: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ...['cd', 'pushd', 'popd'].map((name): [string, Judge] => [name, judgeCd]),
  ['git', judgeGit],
  ['rm', judgeRm],
  ['find', judgeFind],
  ['xargs', judgeXargs],
  ['env', judgeEnv],
  ['sed', judgeSed],
  ...['awk', 'gawk', 'mawk'].map((name): [string, Judge] => [name, judgeAwk]),
  ['chmod', judgeChmod],
  ['cp', judgeCopy],
  ['mv', judgeCopy],
  ...['npx', 'bunx', 'pnpx'].map((name): [string, Judge] => [name, judgeNpx]),
  ...['npm', 'pnpm', 'yarn', 'make', 'gmake', 'just', 'task'].map((name): [string, Judge] => [name, judgePackages]),
  ['eval', judgeEval],
  ['trap', judgeEval],
  ['source', judgeSource],
  ['.', judgeSource],
  ...['export', 'declare', 'typeset', 'local', 'readonly'].map((name): [string, Judge] => [name, judgeDeclare]),
  ['set', judgeSet],
  ...['test', '[', 'printf'].map((name): [string, Judge] => [name, judgeTest]),
  ['command', judgeCommandWord],
  ...['grep', 'egrep', 'fgrep', 'rg'].map((name): [string, Judge] => [name, judgeSearch]),
  ['jq', judgeJq],
  ['dd', judgeMade],
])
