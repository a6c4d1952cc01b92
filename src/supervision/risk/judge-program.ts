// What one program does with its words. Most programs are lines of `programs.ts`; here are those that run other programs, or whose words
// say more than a line can.

import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { visibleText } from '../../domain/text/visible-text.ts'
import { isKindOfFile } from './places.ts'
import {
  BUILD_RESULTS,
  CHECKS,
  HARMLESS_VARIABLES,
  INTERPRETERS,
  MODULES,
  OBEYED_GIT_SETTINGS,
  OBEYED_VARIABLES,
  OUTPUTS,
  PROGRAMS,
  REACHING_SCRIPT,
  type Rule,
  SHELLS,
  WITH_VERBS,
  WRAPPERS,
} from './programs.ts'
import type { Scene } from './scene.ts'
import { plainWord, type ShellWord, STREAM } from './shell-words.ts'

const NOT_CLEAR = 'runs a program in a way that is not clear'
const ALL_FOUND = 'deletes all files that are found'
const ANY_VALUE = 'calculates with a value that is not known'
const SYSTEM_FOLDER = /^(?:\/usr(?:\/local)?)?\/s?bin\/$|^\/opt\/homebrew\/bin\/$/
/** As the table says it. */
const PUSHES = 'pushes to a remote'
const MAX_ACTION_CHARS = 60
const UNKNOWN: ShellWord = { text: 'its input', kind: 'any', variables: 'harmless' }

/** A judge returns nothing; so `return` may end with what it says. */
type Judge = (scene: Scene, name: string, rest: readonly ShellWord[]) => undefined

/** `words` begin with the program. */
export function judgeProgram(scene: Scene, words: readonly ShellWord[]): undefined {
  const [first, ...rest] = words
  if (first === undefined) return
  if (first.kind !== 'plain') {
    if (scene.tainted) runsCode(scene)
    return scene.note('high', 'runs a program that is not clear')
  }
  if (/[^ -~]/.test(first.text)) scene.note('critical', 'runs a program with a name that looks like another')
  const folder = first.text.slice(0, first.text.lastIndexOf('/') + 1)
  // Some disks ignore case.
  const name = basename(first.text).toLowerCase()
  scene.called = folder === '' ? name : first.text
  if (folder !== '' && !SYSTEM_FOLDER.test(folder) && !first.text.includes('://')) {
    runsFile(scene, first, 'runs a program of the workspace', rest)
    if (!/(?:^|\/)\.?bin\/$/.test(folder) || !isKnown(name)) return runsOwn(scene, [], rest)
  }
  const judge = JUDGES[name]
  if (judge !== undefined && Object.hasOwn(JUDGES, name)) return judge(scene, name, rest)
  if (SHELLS.has(name)) return judgeShell(scene, name, rest)
  if (INTERPRETERS.has(name) && !PROGRAMS.has(`${name} ${rest[0]?.text}`)) return judgeInterpreter(scene, name, rest)
  if (Object.hasOwn(WRAPPERS, name)) return judgeWrapped(scene, name, rest)
  const both = `${name} ${rest[0]?.text}`
  if (Object.hasOwn(WRAPPERS, both)) return judgeWrapped(scene, both, rest.slice(1))
  judgeByRule(scene, name.startsWith('mkfs.') ? 'mkfs' : name, rest)
}

const isKnown = (name: string): boolean =>
  [PROGRAMS, WITH_VERBS, SHELLS, INTERPRETERS].some((all) => all.has(name)) ||
  [JUDGES, WRAPPERS].some((all) => Object.hasOwn(all, name))

function readAll(scene: Scene, words: readonly ShellWord[]): undefined {
  for (const word of words) scene.word(word, 'read')
}

function runsFile(scene: Scene, file: ShellWord, why: string, words: readonly ShellWord[]): undefined {
  scene.note('low', why)
  scene.word(file, 'read')
  if (REACHING_SCRIPT.test(basename(file.text)) && !words.some(({ text }) => text === '--dry-run'))
    scene.note('high', 'runs a script that may publish or install')
  // What was downloaded before runs now.
  if (scene.fetched.some((one) => basename(one) === basename(file.text))) runsCode(scene, true)
}

/** Code from a text or an input that nobody can look at. */
function runsCode(scene: Scene, isDownload = scene.tainted): undefined {
  if (isDownload) return scene.note('critical', 'runs a download or decoded text as a program', 'Run a download')
  return scene.note('high', 'runs code that nobody has read')
}

/** A program or a script of the workspace that nobody has listed. */
function runsOwn(scene: Scene, begins: readonly ShellWord[] | null, words: readonly ShellWord[]): undefined {
  scene.note('low', 'runs a program of the workspace')
  scene.begins(begins)
  if (words.some(({ text }) => REACHING_SCRIPT.test(text)))
    scene.note('high', 'runs a script that may publish or install')
  readAll(scene, words)
}

/** A text that a shell runs, as far as it is known. */
function runsText(scene: Scene, words: readonly ShellWord[]): undefined {
  if (words.some(({ kind }) => kind !== 'plain')) runsCode(scene)
  scene.script(words.map(({ text }) => text).join(' '))
}

interface Parsed {
  options: ShellWord[]
  /** Values of options, other than texts. */
  values: ShellWord[]
  operands: ShellWord[]
}

function parsed(words: readonly ShellWord[], valued: readonly string[] = [], worded: readonly string[] = []): Parsed {
  const result: Parsed = { options: [], values: [], operands: [] }
  let onlyOperands = false
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] ?? UNKNOWN
    const next = words[i + 1]
    if (onlyOperands || !word.text.startsWith('-') || word.text === '-') result.operands.push(word)
    else if (word.text === '--') onlyOperands = true
    // A variable in quotes stays one word, so that a text may be anything.
    else if (word.kind !== 'any' && worded.some((one) => word.text.startsWith(`${one}=`))) continue
    else {
      result.options.push(word)
      if (next === undefined || next.kind === 'any') continue
      if (worded.includes(word.text)) i += 1
      else if (valued.includes(word.text)) {
        result.values.push(next)
        i += 1
      }
    }
  }
  return result
}

/** Long options may be cut off: `--outp` is `--output`. */
function hasOption(options: readonly ShellWord[], names: readonly string[]): boolean {
  return options.some(({ text, kind }) => {
    const [name = ''] = text.split('=')
    if (kind === 'any' || kind === 'one' || /[*?[]/.test(name)) return names.length > 0
    return names.some((one) => {
      if (one.startsWith('--')) return name.length > 2 && one.startsWith(name)
      return one.length === 1 ? !name.startsWith('--') && name.slice(1).includes(one) : name === `-${one}`
    })
  })
}

/** The rule of the longest beginning of the words. */
function ruleOf(name: string, rest: readonly ShellWord[]): { rule: Rule; key: string } | null {
  const { operands } = parsed(rest, WITH_VERBS.get(name))
  const [verb, second] = operands.map(({ text, kind }) => (kind === 'plain' ? text : ''))
  // A verb of gh that is not listed reaches the network as gh does; one of npm may do anything.
  const isLoose = verb === undefined || !WITH_VERBS.has(name) || PROGRAMS.get(name)?.why === 'reaches the network'
  const keys = [`${name} ${verb} ${second}`, `${name} ${verb}`, ...(isLoose ? [name] : [])]
  const key = keys.find((one) => PROGRAMS.has(one))
  const rule = key === undefined ? undefined : PROGRAMS.get(key)
  return key === undefined || rule === undefined ? null : { rule, key }
}

function judgeByRule(scene: Scene, name: string, rest: readonly ShellWord[], change: Partial<Rule> = {}): undefined {
  const found = ruleOf(name, rest)
  if (rest.length === 1 && rest[0]?.text === '--version' && found?.rule.risk !== 'critical')
    return scene.note(isKnown(name) ? 'none' : 'low', 'asks for a version')
  if (found === null) {
    const verb = WITH_VERBS.has(name) ? rest.find(({ text }) => !text.startsWith('-'))?.text : undefined
    scene.note('high', `runs ${visibleText([name, verb].join(' ').trim().slice(0, 40))}, which is not known here`)
    scene.begins([])
    for (const word of rest) scene.word(word, 'write')
    return
  }
  const rule = { ...found.rule, ...change }
  const verbs = found.key.split(' ').length - 1
  const { options, values, operands } = parsed(rest, rule.valued, rule.worded)
  const own = operands.slice(verbs)
  scene.note(rule.risk, rule.why, rule.action === null ? null : actionOf(rule.action, own))
  if (hasOption(options, rule.not)) scene.note('high', `uses ${name} with an option that may do more`)
  if (own.slice(0, rule.more).some(({ text, kind }) => kind !== 'plain' || REACHING_SCRIPT.test(text)))
    scene.note('high', 'runs a script that may publish or install')
  if (rule.risk === 'low' && rule.words !== 'text') lookAtOutputs(scene, rest, rule)
  if (
    /^(?:mvn|gradle|rake|turbo|nx)$/.test(name) &&
    own.some(({ text }) => /:/.test(text) || REACHING_SCRIPT.test(text))
  )
    scene.note('high', 'runs a script that may publish or install')
  // Another server may learn from the question, and `a:b` changes branches here.
  const isElsewhere = /^(?:npm|pnpm|yarn|bun)$/.test(name) ? /:|^[\w-]+\// : /:|^\+/
  if (rule.byVerb > 0 && [...options, ...values, ...operands].some(({ text }) => isElsewhere.test(text)))
    scene.note('high', 'names a server or a branch of its own')
  // Without its script `make` may become anything.
  scene.begins(
    own.length < rule.more ? null : operands.slice(0, verbs + rule.more),
    rule.byVerb > 0 ? rule.why : undefined,
  )
  const texts = hasOption(options, ['e', 'f', '--regexp', '--file', '--files', '--from-file']) ? 0 : rule.texts
  lookAtTexts(scene, rule.words === 'text' ? rest : own.slice(0, texts))
  if (rule.words === 'text') return
  const use = hasOption(options, rule.writes) ? 'write' : rule.words
  if (use === 'write' && rule.risk === 'none') scene.note('low', 'writes files of the workspace')
  // What a command in `<( )` prints is read like a file.
  for (const word of own.slice(texts)) if (rule.risk !== 'none' || word.text !== STREAM) scene.word(word, use)
  for (const word of [...options, ...values]) scene.word(word, use === 'names' ? 'read' : use)
}

/** Programs that only check files may still write what they find anywhere, or take their settings from elsewhere. */
function lookAtOutputs(scene: Scene, rest: readonly ShellWord[], { worded }: Rule): undefined {
  for (const [i, word] of rest.entries()) {
    const before = rest[i - 1]?.text ?? ''
    if (worded.includes(before) || worded.some((one) => word.text.startsWith(`${one}=`))) continue
    const [option = ''] = word.text.split('=')
    if (/^-/.test(before) && OUTPUTS.test(before) && !word.text.startsWith('-')) scene.word(word, 'write')
    if (/^-.*=/s.test(word.text) && OUTPUTS.test(option)) scene.word(word, 'write')
    if (/^(?:-.*=)?\{/s.test(word.text)) scene.note('high', NOT_CLEAR)
    if (/:\/\/(?!localhost\b|127\.0\.0\.1\b)/.test(word.text)) scene.note('high', 'reaches the network')
  }
}

function lookAtTexts(scene: Scene, words: readonly ShellWord[]): undefined {
  for (const { variables } of words) {
    if (variables === 'secret') scene.note('critical', 'reads a variable that usually holds a secret')
    if (variables === 'odd') scene.note('high', ANY_VALUE)
  }
}

function actionOf(action: string, operands: readonly ShellWord[]): string {
  const texts = operands.map(({ text }) => text)
  const whole = action.replace(/\{(\/?)(.*)\}/, (_, slash, none) => texts.join(slash === '/' ? '/' : ' ') || none)
  const shown = visibleText(whole)
  return shown.length > MAX_ACTION_CHARS ? `${shown.slice(0, MAX_ACTION_CHARS - 1)}…` : shown
}

const judgeWrapped: Judge = (scene, name, rest) => {
  const { plain = /^$/, valued = [], words = 0 } = WRAPPERS[name] ?? {}
  let at = 0
  for (; rest[at]?.text.startsWith('-') === true && rest[at - 1]?.text !== '--'; at += 1) {
    const { text } = rest[at] ?? UNKNOWN
    if (valued.includes(text)) at += 1
    else if (text !== '--' && !plain.test(text)) scene.note('high', NOT_CLEAR)
  }
  judgeProgram(scene, rest.slice(at + words))
}

const judgeShell: Judge = (scene, _name, rest) => {
  const { options, operands } = parsed(rest)
  const [code] = operands
  if (options.some(({ text, kind }) => kind !== 'plain' || !/^-[ceuxvl]+$|^--(?:norc|noprofile|login)$/.test(text)))
    scene.note('high', NOT_CLEAR)
  if (code !== undefined && hasOption(options, ['c'])) return runsText(scene, [code])
  if (code?.kind === 'plain' && !hasOption(options, ['s']) && !/^-$|^\/dev\//.test(code.text)) {
    runsFile(scene, code, 'runs a script of the workspace', operands.slice(1).concat(options))
    return runsOwn(scene, [code], operands.slice(1))
  }
  runsCode(scene)
  for (const text of scene.input) scene.script(text)
}

const judgeInterpreter: Judge = (scene, name, rest) => {
  if (rest.length === 1 && /^(?:--version|-[vV])$/.test(rest[0]?.text ?? ''))
    return scene.note('none', 'asks for a version')
  const plain = INTERPRETERS.get(name) ?? /^$/
  const at = rest.findIndex(({ text, kind }) => kind !== 'plain' || !plain.test(text))
  const [file, ...more] = at < 0 ? [] : rest.slice(at)
  for (const option of rest.slice(0, at < 0 ? undefined : at)) scene.word(option, 'write')
  if (file === undefined && rest.some(({ text }) => text === '--test'))
    return scene.note('low', 'runs tests of the workspace')
  const [module, ...args] = more
  if (file?.text === '-m' && module?.kind === 'plain' && /^py/.test(name)) {
    scene.begins([file, module])
    if (MODULES.has(module.text)) return judgeProgram(scene, more)
    if (!CHECKS.has(module.text)) return judgeByRule(scene, `${name} -m ${module.text}`, args)
    scene.note('low', 'runs a check of the workspace')
    if (module.text === 'json.tool') for (const word of parsed(args).operands.slice(1)) scene.word(word, 'write')
    return readAll(scene, args)
  }
  // `bun x` runs a package, `bun x.ts` a file.
  const isFile =
    file?.kind === 'plain' && !/^-|^\/dev\/|^\w+:/.test(file.text) && (name !== 'bun' || /[./]/.test(file.text))
  if (!isFile) {
    runsCode(scene)
    return readAll(
      scene,
      more.filter(({ kind }) => kind === 'plain'),
    )
  }
  runsFile(scene, file, 'runs a script of the workspace', more)
  runsOwn(scene, [file], more)
}

const judgeCd: Judge = (scene, name, rest) => {
  const { operands } = parsed(rest)
  const [to] = operands
  scene.note('none', 'goes to another folder')
  if (to?.kind === 'plain' && to.text !== '-' && !/^\+/.test(to.text) && operands.length === 1 && name !== 'popd') {
    scene.path(to.text, 'names')
    return scene.goTo(to.text)
  }
  scene.goTo(null)
  scene.note('high', 'goes to a folder that is not clear')
}

const judgeGit: Judge = (scene, _name, rest) => {
  const { folders } = scene
  let left = rest
  while (/^(?:-C|--no-pager|-P|--no-optional-locks)$/.test(left[0]?.text ?? '')) {
    const to = left[1] ?? UNKNOWN
    const isFolder = left[0]?.text === '-C'
    if (isFolder) {
      scene.word(to, 'names')
      scene.goTo(to.kind === 'plain' ? to.text : null)
    }
    left = left.slice(isFolder ? 2 : 1)
  }
  if (/^-(?!-version$)/.test(left[0]?.text ?? '')) {
    scene.note('high', 'runs git with settings of its own')
    for (const word of left) scene.word(word, 'write')
    const at = left.findIndex(({ text }) => PROGRAMS.has(`git ${text}`))
    if (at >= 0) judgeGitVerb(scene, left.slice(at))
  } else judgeGitVerb(scene, left)
  scene.folders = folders
}

function judgeGitVerb(scene: Scene, rest: readonly ShellWord[]): undefined {
  const valued = [
    '--sort',
    '--format',
    '--contains',
    '--merged',
    '--no-merged',
    '--points-at',
    '-b',
    '-c',
    '--create',
    '-o',
  ]
  const { options, operands } = parsed(rest.slice(1), valued, ['-m', '--message'])
  const has = (...names: string[]): boolean => hasOption(options, names)
  const texts = operands.map(({ text }) => text)
  const isUnclear = operands.some(({ kind }) => kind !== 'plain')
  switch (rest[0]?.text) {
    case 'push': {
      const [remote] = operands
      // A name stands in the settings of the repository. Everything else is a place that the agent chose.
      if (remote !== undefined && !(remote.kind === 'plain' && /^[\w-]+$/.test(remote.text)))
        scene.note(
          'critical',
          'pushes to a place that is no remote of the repository',
          actionOf('Push to {}', operands),
        )
      scene.begins([...rest.slice(0, 1), ...(remote === undefined ? [] : [remote])], PUSHES)
      if (
        has('f', 'd', '--force', '--force-with-lease', '--force-if-includes', '--mirror', '--delete', '--prune') ||
        texts.some((text) => /^[+:]|:\+/.test(text))
      )
        scene.note(
          'critical',
          'forces a push or deletes on a remote',
          actionOf('Force-push to {/the remote}', operands),
        )
      break
    }
    case 'fetch':
    case 'ls-remote':
      if (!/^[\w-]*$/.test(texts[0] ?? '')) scene.note('high', 'reaches a place that is no remote of the repository')
      break
    case 'config': {
      const reads = /^(?:-l|--list|--get|--get-all|--get-regexp)$/
      const isPlain = options.every(
        ({ text }) => reads.test(text) || /^--(?:global|local|system|show-origin|show-scope|name-only)$/.test(text),
      )
      const isRead = options.some(({ text }) => reads.test(text)) || /^(?:list|get)$/.test(texts[0] ?? '')
      if (isRead && isPlain) return scene.note('low', 'reads settings of git')
      if (texts.some((text) => OBEYED_GIT_SETTINGS.test(text))) scene.note('critical', 'changes what git runs')
      break
    }
    case 'clean':
      if (has('f', '--force') && has('d', 'x', 'X'))
        scene.note('critical', 'deletes everything that git does not know', 'Delete all that git does not know')
      break
    case 'branch':
    case 'tag':
      if (operands.length > 0 && !has('l', '--list')) scene.note(isUnclear ? 'high' : 'low', `makes a ${rest[0].text}`)
      break
    case 'rm':
      if (has('r') && texts.some((text) => /^[./*]*$/.test(text)))
        scene.note('critical', 'deletes everything in a folder', 'Delete everything')
      break
    case 'remote':
    case 'reflog':
      if (operands.length > 0 && !PROGRAMS.has(`git ${rest[0].text} ${texts[0]}`))
        scene.note('high', 'changes settings of git')
      break
    case 'restore':
      if (!has('S', '--staged') || has('W', '--worktree')) break
      scene.begins(rest.slice(0, 1))
      scene.note('low', 'unstages changes')
      return readAll(scene, operands)
    case 'reset':
      // What is no file is a commit.
      if (texts.some((text) => text !== 'HEAD' && !isThere(scene, text)))
        scene.note('high', 'rewrites the history of the repository')
      break
    case 'checkout': {
      const isFile = texts.some((text) => isThere(scene, text))
      if ((isFile || operands.length > 1 || rest.some(({ text }) => text === '--')) && !has('b'))
        scene.note('high', 'throws work away', 'Throw changes away')
      if (isUnclear) scene.note('high', 'changes to a branch that is not clear')
      break
    }
    default:
  }
  // Git itself looks for the files that match a pattern.
  judgeByRule(
    scene,
    'git',
    rest.map((word) => (word.kind === 'plain' && /^[^-].*[*?[]/.test(word.text) ? { ...word, kind: 'glob' } : word)),
  )
}

const isThere = ({ folders }: Scene, path: string): boolean =>
  folders?.some((folder) => existsSync(resolve(folder, path))) ?? true

const judgeRm: Judge = (scene, name, rest) => {
  judgeByRule(scene, name, rest, { words: 'text' })
  const { options, operands } = parsed(rest)
  const isTree = hasOption(options, ['r', 'R', '--recursive'])
  const mass = (why: string): undefined => scene.note('critical', why, actionOf('Delete {files}', operands))
  if (isTree && operands.length > 5) mass('deletes many folders')
  for (const word of operands) {
    const whole = word.text.replace(/(.)\/+$/, '$1')
    if (word.kind === 'any' || word.kind === 'one') {
      if (isTree) mass('deletes folders, and it is not clear which')
    } else if (/(?:^|\/)(?:[*.]+)?$/.test(whole)) mass('deletes everything in a folder')
    else if (word.kind === 'plain' && BUILD_RESULTS.test(basename(whole))) {
      if (scene.path(dirname(whole), 'names').some(({ path }) => path === null)) mass('deletes outside the workspace')
    } else {
      scene.word(word, 'write')
      for (const { path } of isTree ? scene.path(whole, 'names') : []) {
        if (path === null) mass('deletes outside the workspace')
        else if (!path.includes('/') || word.kind === 'glob') mass('deletes a whole folder')
      }
    }
  }
}

const RUNS_FOR_FOUND = /^-(?:exec|ok)(?:dir)?$/
const judgeFind: Judge = (scene, name, all) => {
  const start = all.findIndex(({ text }) => !/^-(?:[HLP]+|O\d)$/.test(text))
  const [leading, rest] = start < 0 ? [all, []] : [all.slice(0, start), all.slice(start)]
  const at = rest.findIndex(({ text }) => /^[-(!]/.test(text))
  const tests = at < 0 ? [] : rest.slice(at)
  const named = rest.slice(0, rest.length - tests.length)
  judgeByRule(scene, name, named)
  const roots = named.length === 0 ? [plainWord('.')] : named
  const has = (test: RegExp): boolean => tests.some(({ text }) => test.test(text))
  const runs = has(RUNS_FOR_FOUND)
  if (has(/^-delete$/)) scene.note('critical', ALL_FOUND, 'Delete all files that are found')
  if (has(/^-f(?:print|ls)/)) scene.note('high', 'writes what is found to a file')
  for (const [i, { kind, text }] of tests.entries()) {
    const before = tests[i - 1]?.text ?? ''
    if (kind === 'any' || kind === 'one') scene.note('high', 'looks for files in a way that is not clear')
    if (/^-(?:files0-from|newer\w*|samefile)$/.test(before)) scene.word(plainWord(text), 'read')
    // Files of these names are read.
    if (runs && /^-i?(?:name|path|wholename)$/.test(before)) scene.word(plainWord(text.replaceAll('*', '')), 'read')
  }
  if (runs && leading.some(({ text }) => /^-[HL]/.test(text))) scene.note('high', 'follows links')
  const isNamed = tests.some(({ text }, i) => /^-i?name$/.test(tests[i - 1]?.text ?? '') && isKindOfFile(text))
  if (runs && !(isNamed && !has(/^(?:-o|-or|!|-not|,)$/))) for (const root of roots) scene.tree(root)
  for (let i = 0; i < tests.length; i += 1) {
    if (!RUNS_FOR_FOUND.test(tests[i]?.text ?? '')) continue
    const end = tests.findIndex((word, j) => j > i && /^[;+]$/.test(word.text))
    const run = tests.slice(i + 1, end < 0 ? undefined : end)
    const given = (word: ShellWord): readonly ShellWord[] => (word.text === '{}' ? roots : [placed(word)])
    overMany(scene, run.flatMap(given))
    i = end < 0 ? tests.length : end
  }
}

/** A word with a place for the name of a file may become anything. */
const placed = (word: ShellWord): ShellWord => (/\{\}|^%$/.test(word.text) ? { ...word, kind: 'any' } : word)

/** A program that runs for many files. */
function overMany(scene: Scene, run: readonly ShellWord[]): undefined {
  if (/(?:^|\/)(?:rm|unlink|shred|rmdir|truncate|trash)$/i.test(run[0]?.text ?? ''))
    scene.note('critical', ALL_FOUND, 'Delete all files that are found')
  scene.begins(null)
  const before = scene.wholeTree
  scene.wholeTree = true
  judgeProgram(scene, run)
  scene.wholeTree = before
}

/** Of what a database runs, only a question. */
const judgeSqlite: Judge = (scene, name, rest) => {
  const [database = UNKNOWN, ...statements] = parsed(rest).operands
  scene.word(database, 'write')
  const isQuestion = statements.every(
    ({ text, kind }) =>
      kind === 'plain' &&
      /^\s*(?:select|explain|\.(?:tables|schema|mode|headers)\b)[^;]*;?\s*$/i.test(text) &&
      !/file\s*\(|load_ext|edit\s*\(|tokenizer/i.test(text),
  )
  if (statements.length === 0 || !isQuestion) scene.note('high', 'changes a database, or runs what is not clear')
  judgeByRule(scene, name, rest, { words: 'text' })
}

/** `perl -pi -e s/a/b/` does what `sed -i` does. */
const judgePerl: Judge = (scene, name, rest) => {
  const [how, e, script = UNKNOWN, ...files] = rest
  const isPlain = script.kind === 'plain' && /^s\/[\w .:-]*\/[\w .:-]*\/g?$/.test(script.text)
  if (how?.text !== '-pi' || e?.text !== '-e' || !isPlain) return judgeInterpreter(scene, name, rest)
  scene.note('low', 'changes files of the workspace')
  for (const word of files) scene.word(word, 'write')
}

const judgeXargs: Judge = (scene, _name, rest) => {
  let at = 0
  while (rest[at]?.text.startsWith('-') === true)
    at += /^(?:-[InPLdsE]|--(?:max-args|max-procs|delimiter))$/.test(rest[at]?.text ?? '') ? 2 : 1
  if (hasOption(rest.slice(0, at), ['a', '--arg-file'])) scene.note('high', NOT_CLEAR)
  const run = rest.slice(at).map(placed)
  const [program, ...words] = scene.feeder
  if (program?.text !== 'find') return overMany(scene, [...run, UNKNOWN])
  // The same as `-exec`, but a name with a space becomes two.
  scene.note('low', 'runs a program for all files that are found')
  judgeFind(scene, 'find', [...words, plainWord('-exec'), ...run, plainWord('{}'), plainWord('+')])
}

const judgeEnv: Judge = (scene, _name, rest) => {
  let at = 0
  for (; at < rest.length; at += 1) {
    const { text, kind } = rest[at] ?? UNKNOWN
    if (/^(?:-u|--unset)$/.test(text)) at += 1
    else if (/^\w+=/.test(text)) scene.variable(text, kind === 'plain')
    else if (!text.startsWith('-')) break
    else if (!/^(?:-i|--ignore-environment)$/.test(text)) scene.note('high', NOT_CLEAR)
  }
  if (at >= rest.length) scene.note('high', 'shows the environment, which can hold secrets')
  judgeProgram(scene, rest.slice(at))
}

/** Addresses, printing, deleting and replacing: commands of sed that neither run nor write anything. */
const SED_ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/(?:\\.|[^/\\\n])*/)`
const SED_COMMAND = new RegExp(
  String.raw`^\s*(?:${SED_ADDRESS}(?:,\s*[+~]?${SED_ADDRESS})?\s*!?\s*)?(?:[pdqDPnNhHgGx=]|s([^\w\s\\])(?:\\.|(?!\1)[^\\\n])*\1(?:\\.|(?!\1)[^\\\n])*\1[gIip\d]*)\s*(?:[;\n]|$)`,
)
function isKnownSed({ text, kind }: ShellWord): boolean {
  let left = text
  while (kind === 'plain' && left.trim() !== '') {
    const found = SED_COMMAND.exec(left)
    if (found === null) return false
    left = left.slice(found[0].length)
  }
  return kind === 'plain'
}

const judgeSed: Judge = (scene, _name, rest) => {
  const { options, operands } = parsed(rest, ['-e', '-ne', '-Ee', '-ie', '--expression'])
  const inPlace = options.some(({ text }) => /^-[nErsuz]*i|^--in/.test(text))
  scene.note(inPlace ? 'low' : 'none', inPlace ? 'changes files of the workspace' : 'reads files of the workspace')
  const scripts = rest.flatMap((word, i) => {
    if (/^-[a-zA-Z]*e$|^--expression$/.test(rest[i - 1]?.text ?? '')) return [word]
    return word.text.startsWith('--expression=') ? [{ ...word, text: word.text.slice('--expression='.length) }] : []
  })
  // BSD takes the word after `-i` for the ending of a copy.
  const files = inPlace && operands[0]?.text === '' ? operands.slice(1) : operands
  const script = scripts.length > 0 ? scripts : files.slice(0, 1)
  const isPlain = options.every(({ text }) =>
    /^(?:-[nErsuz]*(?:i[\w.~]*|e)?|--(?:quiet|silent|regexp-extended|in-place(?:=[\w.~]*)?|expression(?:=.*)?))$/s.test(
      text,
    ),
  )
  if (!isPlain || script.length === 0 || !script.every(isKnownSed))
    scene.note('high', 'runs a script of sed that is not understood')
  for (const word of scripts.length > 0 ? files : files.slice(1)) scene.word(word, inPlace ? 'write' : 'read')
}

const judgeAwk: Judge = (scene, name, rest) => {
  const { options, operands } = parsed(rest, ['-F', '-v'])
  const [script = UNKNOWN] = operands
  if (
    script.kind !== 'plain' ||
    /system|getline|ENVIRON|ARG|@|[{].*>|print.*>|(?<!\|)\|(?!\|)/s.test(script.text) ||
    options.some(({ text }) => !/^-[Fv]/.test(text))
  )
    scene.note('high', 'runs a script of awk that is not understood')
  judgeByRule(scene, name, rest)
}

const judgeChmod: Judge = (scene, name, rest) => {
  const { options, operands } = parsed(rest)
  const [mode = UNKNOWN, ...files] = operands
  const action = actionOf('Change permissions of {files}', files)
  const isWide = /^0?7?77$|^(?:a|o|ugo)?[+=][rx]*w/.test(mode.text) && hasOption(options, ['R', '--recursive'])
  if (isWide || /^0?[2467][0-7]{3}$|^[ugoa]*[+=][rwxX]*s/.test(mode.text))
    scene.note('critical', 'gives rights to everybody', action)
  judgeByRule(scene, name, rest, { action })
}

/** The last word is written, under the names of the others if it is a folder. What is moved is gone. */
const judgeCopy: Judge = (scene, name, rest) => {
  const { options, operands } = parsed(rest)
  const target = operands.at(-1) ?? UNKNOWN
  judgeByRule(scene, name, rest, { words: 'text' })
  if (
    !options.every(({ text }) =>
      /^-[aRrpfivnuTsHLPd]+$|^--(?:verbose|force|no-clobber|recursive|archive|preserve|symbolic)$/.test(text),
    )
  )
    scene.note('high', NOT_CLEAR)
  for (const word of operands.slice(0, -1)) {
    scene.word(word, 'read')
    if (name === 'mv') scene.word(word, 'write')
    if (word.kind === 'plain' && target.kind === 'plain') scene.path(join(target.text, basename(word.text)), 'write')
    else scene.note('high', 'copies or moves files, and it is not clear which')
  }
  scene.word(target, 'write')
  if (hasOption(options, ['r', 'R', 'a']) && scene.path(target.text, 'names').some(({ path }) => path === ''))
    scene.note('high', 'copies over the whole workspace')
}

const isInstalled = ({ workspaceRoot, folders }: Scene, { text, kind }: ShellWord): boolean =>
  kind === 'plain' &&
  /^\w[\w.-]*$/.test(text) &&
  [workspaceRoot, ...(folders ?? [])].some((folder) => existsSync(join(folder, 'node_modules/.bin', text)))

/** `npx x` runs what is installed, or else downloads it. */
const judgeNpx: Judge = (scene, _name, rest) => {
  const at = rest.findIndex(({ text }) => !/^(?:--no-install|--no|--|-y|--yes)$/.test(text))
  const run = at < 0 ? [] : rest.slice(at)
  const isLocal = isInstalled(scene, run[0] ?? UNKNOWN) || rest.slice(0, at).some(({ text }) => /^--no/.test(text))
  scene.begins(run.slice(0, 1))
  if (!isLocal)
    scene.note('high', 'may download a package and run it', actionOf('Download and run {it}', run.slice(0, 1)))
  runsInstalled(scene, run)
}

const judgePackages: Judge = (scene, name, rest) => {
  const [verb = UNKNOWN, script] = parsed(rest, WITH_VERBS.get(name)).operands
  if (/^run(?:-script)?$/.test(verb.text) && script === undefined)
    return scene.note('none', 'lists scripts of the workspace')
  if (/^run(?:-script)?$/.test(verb.text) && script?.text === 'env')
    scene.note('high', 'shows the environment, which can hold secrets')
  if (verb.text === 'version' && !rest.some(({ text }) => text === '--no-git-tag-version'))
    scene.note('high', 'makes a commit and a tag of the version')
  if (verb.text === 'pack' && script !== undefined) scene.note('high', 'may download a package and run it')
  const before = rest.slice(0, rest.indexOf(verb))
  const after = rest.slice(before.length)
  const isExec = verb.text === 'exec' || (name === 'npm' && verb.text === 'x')
  // `pnpm vitest` runs a program of the workspace too.
  if (!isExec && (name === 'npm' || PROGRAMS.has(`${name} ${verb.text}`) || !isInstalled(scene, verb)))
    return judgeByRule(scene, name, rest)
  if (hasOption(parsed(before).options, PROGRAMS.get('npm run')?.not ?? [])) scene.note('high', NOT_CLEAR)
  readAll(scene, before)
  scene.begins(isExec ? after.filter(({ text }) => text !== '--').slice(0, 2) : after.slice(0, 1))
  const run = isExec ? after.slice(1) : after
  // Of these two only npm downloads what is not there.
  if (isExec && name === 'npm') return judgeNpx(scene, name, run)
  runsInstalled(scene, run[0]?.text === '--' ? run.slice(1) : run)
}

function runsInstalled(scene: Scene, run: readonly ShellWord[]): undefined {
  const name = run[0]?.text.toLowerCase() ?? ''
  if (run[0]?.kind !== 'plain' || isKnown(name) || !isInstalled(scene, run[0])) return judgeProgram(scene, run)
  runsOwn(scene, null, run.slice(1))
}

const judgeMake: Judge = (scene, name, rest) => {
  for (const { text, kind } of rest) {
    if (/^\w+\s*[:?+]?=/.test(text)) scene.variable(text, kind === 'plain')
    if (/^(?:-f|--file=|--makefile=)?-$/.test(text)) runsCode(scene)
    if (REACHING_SCRIPT.test(text)) scene.note('high', 'runs a script that may publish or install')
  }
  judgeByRule(scene, name, rest)
}

const judgeGo: Judge = (scene, name, rest) => {
  if (rest.some(({ text }) => text.includes('@'))) scene.note('high', 'may download a package and run it')
  judgeByRule(scene, name, rest)
}

const judgeEval: Judge = (scene, name, rest) => {
  const code = name === 'trap' ? rest.slice(0, 1) : rest
  runsText(scene, code)
}

const judgeSource: Judge = (scene, _name, [file = UNKNOWN, ...more]) => {
  if (file.kind !== 'plain' || /^\/dev\//.test(file.text)) return runsCode(scene)
  runsFile(scene, file, 'runs a script of the workspace', more)
  runsOwn(scene, [file], more)
}

/** `export A=b`, `declare x=1`. */
const judgeDeclare: Judge = (scene, name, rest) => {
  if (rest.every(({ text }) => text.startsWith('-')))
    scene.note('high', 'shows the environment, which can hold secrets')
  scene.note('none', 'sets variables of the shell')
  const isExported = name === 'export' || rest.some(({ text }) => /^-\w*x/.test(text))
  for (const { text } of rest) {
    const [, variable] = /^(\w+)(?:\+?=.*)?$/s.exec(text) ?? []
    if (
      variable === undefined
        ? !/^-[rxg]+$/.test(text)
        : isExported
          ? !HARMLESS_VARIABLES.test(variable)
          : OBEYED_VARIABLES.test(variable)
    )
      scene.note('high', 'sets variables that programs obey')
  }
}

const judgeSet: Judge = (scene, _name, rest) => {
  const isHarmless =
    rest.length > 0 &&
    rest.every(({ text, kind }) => kind === 'plain' && /^(?:[-+][eux]*o?|pipefail|errexit|nounset)$/.test(text))
  scene.note(isHarmless ? 'none' : 'high', 'sets options of the shell')
}

/** The index of a variable is evaluated, and may run something. */
const judgeIndexed: Judge = (scene, name, rest) => {
  if (rest.some(({ text, variables }) => /\[.*(?:\$\(|`)/s.test(text) || variables === 'odd'))
    scene.note('high', ANY_VALUE)
  const isTest = name === 'test' || name === '['
  if (name === 'read' && rest.some(({ text }) => OBEYED_VARIABLES.test(text)))
    scene.note('high', 'sets variables that programs obey')
  judgeByRule(scene, name, rest, isTest ? { words: 'text' } : {})
  if (isTest) for (const word of rest) if (word.kind === 'plain' && !/^[-\]]/.test(word.text)) scene.word(word, 'names')
}

/** A search through folders shows what is in the files there. */
const judgeSearch: Judge = (scene, name, rest) => {
  judgeByRule(scene, name, rest)
  const { options, operands } = parsed(rest, '-A -B -C -m -g -t -T -d -j -M --glob --iglob --type --include'.split(' '))
  const isWide =
    name === 'rg'
      ? hasOption(options, ['u', '.', '--hidden', '--unrestricted', '--no-ignore'])
      : hasOption(options, ['r', 'R', 'd', '--recursive', '--dereference-recursive', '--directories'])
  const all = rest.map(({ text }) => text)
  // The files of a kind are searched whatever else there is: hidden ones too, as a pattern names them.
  const kinds = all.flatMap((text, i) => {
    const [, value] = /^(?:--(?:include|i?glob|type)=|-[gt](?=.))(.*)$/s.exec(text) ?? []
    return value ?? (/^(?:-\w*[gt]|--i?glob|--type|--include)$/.test(all[i - 1] ?? '') ? text : [])
  })
  const wanted = kinds.filter((kind) => !kind.startsWith('!'))
  const isKind = (kind: string): boolean => isKindOfFile(kind) || (name === 'rg' && /^(?!all$)[a-z]+$/.test(kind))
  const isNarrow = wanted.length > 0 && wanted.every(isKind) && !all.some((text) => text.startsWith('--type-'))
  const follows = hasOption(options, name === 'rg' ? ['L', '--follow'] : ['R', '--dereference-recursive'])
  if (!(isWide || wanted.length > 0 || follows) || (isNarrow && !follows)) return
  const folders = operands.slice(name === 'diff' || hasOption(options, ['e', 'f', '--regexp', '--file']) ? 0 : 1)
  const found = folders.filter(({ text, kind }) => kind !== 'plain' || isThere(scene, text))
  for (const folder of found.length === 0 ? [plainWord('.')] : found) scene.tree(folder)
}

const judgeJq: Judge = (scene, name, rest) => {
  if (rest.some(({ text }) => /\benv\b|\$ENV\b/.test(text)))
    scene.note('high', 'shows the environment, which can hold secrets')
  if (rest.some(({ text }) => /\b(?:import|include)\b|^-L/.test(text))) scene.note('high', NOT_CLEAR)
  judgeByRule(scene, name, rest)
}

/** Only lists, or packs files of the workspace into one of it. */
const judgeTar: Judge = (scene, name, rest) => {
  const [how = UNKNOWN, ...files] = rest
  const isPlain = files.every(({ text }) => !text.startsWith('-') || text === '-C' || text.startsWith('--exclude='))
  if (
    how.kind !== 'plain' ||
    !isPlain ||
    !/^-?[ctvzjJf]+$/.test(how.text) ||
    files.some(({ text }) => text.includes(':'))
  )
    return judgeByRule(scene, name, rest)
  const isPacking = how.text.includes('c')
  scene.note(isPacking ? 'low' : 'none', isPacking ? 'writes files of the workspace' : 'reads files of the workspace')
  for (const word of files) scene.word(word, isPacking ? 'write' : 'read')
  if (isPacking) for (const folder of files) scene.tree(folder)
}

const judgePs: Judge = (scene, name, rest) => {
  judgeByRule(scene, name, rest)
  // `ps eww`, unlike `ps -e`.
  if (rest.some(({ text }) => /^[a-zA-Z]*e/.test(text)))
    scene.note('high', 'shows the environment, which can hold secrets')
}

const judgeUniq: Judge = (scene, name, rest) => {
  judgeByRule(scene, name, rest)
  const [, target] = parsed(rest).operands
  if (target === undefined) return
  scene.note('low', 'writes files of the workspace')
  scene.word(target, 'write')
}

const judgeCommand: Judge = (scene, name, rest) => {
  if (/^-[vV]$/.test(rest[0]?.text ?? '')) return scene.note('none', 'says where a program is')
  judgeWrapped(scene, name, rest)
}

const forAll = (names: string, judge: Judge): Record<string, Judge> =>
  Object.fromEntries(names.split(' ').map((name) => [name, judge]))
const JUDGES: Readonly<Record<string, Judge>> = {
  ...forAll('cd pushd popd', judgeCd),
  ...forAll('git', judgeGit),
  ...forAll('rm', judgeRm),
  ...forAll('find', judgeFind),
  ...forAll('xargs', judgeXargs),
  ...forAll('sqlite3', judgeSqlite),
  ...forAll('perl', judgePerl),
  ...forAll('env', judgeEnv),
  ...forAll('sed', judgeSed),
  ...forAll('awk gawk mawk', judgeAwk),
  ...forAll('chmod', judgeChmod),
  ...forAll('cp mv ln', judgeCopy),
  ...forAll('npx bunx pnpx', judgeNpx),
  ...forAll('npm pnpm yarn', judgePackages),
  ...forAll('make gmake just', judgeMake),
  ...forAll('go', judgeGo),
  ...forAll('eval trap', judgeEval),
  ...forAll('source .', judgeSource),
  ...forAll('export declare typeset local readonly', judgeDeclare),
  ...forAll('set', judgeSet),
  ...forAll('test [ printf read unset', judgeIndexed),
  ...forAll('command', judgeCommand),
  ...forAll('grep egrep fgrep rg diff', judgeSearch),
  ...forAll('jq', judgeJq),
  ...forAll('uniq', judgeUniq),
  ...forAll('tar', judgeTar),
  ...forAll('ps', judgePs),
}
