// Programs that run other programs: shells, interpreters, package managers, and those that only stand in front of one.

import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Judge, judgeByRule, readAll } from './judge-by-rule.ts'
import { actionOf, hasOption, parsed, UNKNOWN } from './program-words.ts'
import {
  CHECKS,
  INTERPRETERS,
  isKnown,
  MODULES,
  PROGRAMS,
  REACHING_SCRIPT,
  SHELLS,
  WITH_VERBS,
  WRAPPERS,
} from './programs.ts'
import { DOWNLOADS, NOT_CLEAR, REACHES, SHOWS_ENVIRONMENT } from './reasons.ts'
import type { Scene } from './scene.ts'
import type { ShellWord } from './shell-words.ts'

export function runsFile(scene: Scene, file: ShellWord, why: string, words: readonly ShellWord[]): undefined {
  scene.note('low', why)
  scene.word(file, 'read')
  if (REACHING_SCRIPT.test(basename(file.text)) && !words.some(({ text }) => text === '--dry-run'))
    scene.note('high', REACHES)
  // What was downloaded before runs now.
  if (scene.fetched.some((one) => basename(one) === basename(file.text))) runsCode(scene, true)
}

/** Code from a text or an input that nobody can look at. */
export function runsCode(scene: Scene, isDownload = scene.tainted): undefined {
  if (isDownload) return scene.note('critical', 'runs a download or decoded text as a program', 'Run a download')
  return scene.note('high', 'runs code that nobody has read')
}

/** A program or a script of the workspace that nobody has listed. */
export function runsOwn(scene: Scene, begins: readonly ShellWord[] | null, words: readonly ShellWord[]): undefined {
  scene.note('low', 'runs a program of the workspace')
  scene.begins(begins)
  if (words.some(({ text }) => REACHING_SCRIPT.test(text))) scene.note('high', REACHES)
  readAll(scene, words)
}

/** A text that a shell runs, as far as it is known. */
function runsText(scene: Scene, words: readonly ShellWord[]): undefined {
  if (words.some(({ kind }) => kind !== 'plain')) runsCode(scene)
  scene.script(words.map(({ text }) => text).join(' '))
}

export const judgeWrapped: Judge = (scene, name, rest) => {
  const { plain = /^$/, valued = [], words = 0 } = WRAPPERS[name] ?? {}
  let at = 0
  for (; rest[at]?.text.startsWith('-') === true && rest[at - 1]?.text !== '--'; at += 1) {
    const { text } = rest[at] ?? UNKNOWN
    if (valued.includes(text)) at += 1
    else if (text !== '--' && !plain.test(text)) scene.note('high', NOT_CLEAR)
  }
  // `timeout $X`: there may be a program in it.
  if (rest.slice(0, at + words).some(({ kind }) => kind === 'any')) scene.note('high', NOT_CLEAR)
  scene.program(rest.slice(at + words))
}

export const judgeCommand: Judge = (scene, name, rest) => {
  if (/^-[vV]$/.test(rest[0]?.text ?? '')) return scene.note('none', 'says where a program is')
  judgeWrapped(scene, name, rest)
}

export const judgeEnv: Judge = (scene, _name, rest) => {
  let at = 0
  for (; at < rest.length; at += 1) {
    const { text, kind } = rest[at] ?? UNKNOWN
    if (/^(?:-u|--unset)$/.test(text)) at += 1
    else if (/^\w+=/.test(text)) scene.variable(text, kind === 'plain')
    else if (!text.startsWith('-')) break
    else if (!/^(?:-i|--ignore-environment)$/.test(text)) scene.note('high', NOT_CLEAR)
  }
  if (rest.slice(0, at).some(({ text, kind }) => kind === 'any' && !text.includes('='))) scene.note('high', NOT_CLEAR)
  if (at >= rest.length) scene.note('high', SHOWS_ENVIRONMENT)
  scene.program(rest.slice(at))
}

export const judgeShell: Judge = (scene, _name, rest) => {
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

export const judgeInterpreter: Judge = (scene, name, rest) => {
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
    if (MODULES.has(module.text)) return scene.program(more)
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

/** `perl -pi -e s/a/b/` does what `sed -i` does. */
export const judgePerl: Judge = (scene, name, rest) => {
  const [how, e, script = UNKNOWN, ...files] = rest
  const isPlain = script.kind === 'plain' && /^s\/[\w .:-]*\/[\w .:-]*\/g?$/.test(script.text)
  // `-e` again is more code, and `ls|` runs something.
  const areFiles = files.every(({ text }) => /^[\w./*][\w./*@-]*$/.test(text))
  if (how?.text !== '-pi' || e?.text !== '-e' || !isPlain || !areFiles) return judgeInterpreter(scene, name, rest)
  scene.note('low', 'changes files of the workspace')
  for (const word of files) scene.word(word, 'write')
}

/** What is remembered of `npx x`, `npx node x.js` and `npx git commit`. Null: what runs is said further behind. */
function beginsRunning(verb: readonly ShellWord[], run: readonly ShellWord[]): readonly ShellWord[] | null {
  const [program = UNKNOWN, ...rest] = run
  const { text } = program
  const { more = 0, why } = PROGRAMS.get(text) ?? {}
  if (Object.hasOwn(WRAPPERS, text) || why === 'runs another program') return null
  if (more === 0 && ![INTERPRETERS, SHELLS, WITH_VERBS].some((all) => all.has(text))) return [...verb, program]
  const first = rest.find((word) => !word.text.startsWith('-'))
  const saysAll = first !== undefined && !PROGRAMS.get(`${text} ${first.text}`)?.more
  return saysAll ? [...verb, program, first] : null
}

const isInstalled = ({ workspaceRoot, folders }: Scene, { text, kind }: ShellWord): boolean =>
  kind === 'plain' &&
  /^\w[\w.-]*$/.test(text) &&
  [workspaceRoot, ...(folders ?? [])].some((folder) => existsSync(join(folder, 'node_modules/.bin', text)))

const ONLY_RUNS = /^(?:--no-install|--no|--|-y|--yes)$/

/** `npx x` runs what is installed, or else downloads it. */
export const judgeNpx: Judge = (scene, _name, rest) => {
  const at = rest.findIndex(({ text }) => !ONLY_RUNS.test(text))
  const run = at < 0 ? [] : rest.slice(at)
  const isLocal = isInstalled(scene, run[0] ?? UNKNOWN) || rest.slice(0, at).some(({ text }) => /^--no/.test(text))
  scene.begins(beginsRunning([], run))
  if (!isLocal) scene.note('high', DOWNLOADS, actionOf('Download and run {it}', run.slice(0, 1)))
  runsInstalled(scene, run)
}

export const judgePackages: Judge = (scene, name, rest) => {
  const [verb = UNKNOWN, script] = parsed(rest, WITH_VERBS.get(name)).operands
  if (/^run(?:-script)?$/.test(verb.text) && script === undefined)
    return scene.note('none', 'lists scripts of the workspace')
  if (/^run(?:-script)?$/.test(verb.text) && script?.text === 'env') scene.note('high', SHOWS_ENVIRONMENT)
  if (verb.text === 'version' && !rest.some(({ text }) => text === '--no-git-tag-version'))
    scene.note('high', 'makes a commit and a tag of the version')
  if (verb.text === 'pack' && script !== undefined) scene.note('high', DOWNLOADS)
  const before = rest.slice(0, rest.indexOf(verb))
  const after = rest.slice(before.length)
  const isExec = verb.text === 'exec' || (name === 'npm' && verb.text === 'x')
  // `pnpm vitest` runs a program of the workspace too.
  if (!isExec && (name === 'npm' || PROGRAMS.has(`${name} ${verb.text}`) || !isInstalled(scene, verb)))
    return judgeByRule(scene, name, rest)
  // npm takes options for its own as far as `--`, wherever they stand.
  const end = rest.findIndex(({ text }) => text === '--')
  const own = name === 'npm' ? rest.slice(0, end < 0 ? undefined : end) : before
  const not = [...(PROGRAMS.get('npm run')?.not ?? []), 'p', '--package', '--shell-mode']
  if (hasOption(parsed(own).options, not)) scene.note('high', NOT_CLEAR)
  readAll(scene, before)
  const named = after.slice(isExec ? 1 : 0).filter(({ text }) => !ONLY_RUNS.test(text))
  scene.begins(beginsRunning(isExec ? [verb] : [], named))
  const run = isExec ? after.slice(1) : after
  // The others download nothing that is not there.
  if (isExec && name === 'npm') return judgeNpx(scene, name, run)
  runsInstalled(scene, run[0]?.text === '--' ? run.slice(1) : run)
}

function runsInstalled(scene: Scene, run: readonly ShellWord[]): undefined {
  const name = run[0]?.text.toLowerCase() ?? ''
  if (run[0]?.kind !== 'plain' || isKnown(name) || !isInstalled(scene, run[0])) return scene.program(run)
  runsOwn(scene, null, run.slice(1))
}

export const judgeMake: Judge = (scene, name, rest) => {
  for (const { text, kind } of rest) {
    if (/^\w+\s*[:?+]?=/.test(text)) scene.variable(text, kind === 'plain')
    if (/^(?:-f|--file=|--makefile=)?-$/.test(text)) runsCode(scene)
  }
  judgeByRule(scene, name, rest)
}

export const judgeEval: Judge = (scene, name, rest) => {
  const code = name === 'trap' ? rest.slice(0, 1) : rest
  runsText(scene, code)
}

export const judgeSource: Judge = (scene, _name, [file = UNKNOWN, ...more]) => {
  if (file.kind !== 'plain' || /^\/dev\//.test(file.text)) return runsCode(scene)
  runsFile(scene, file, 'runs a script of the workspace', more)
  runsOwn(scene, [file], more)
}
