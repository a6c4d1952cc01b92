// Programs that run others for all files that are found.

import { type Judge, judgeByRule } from './judge-by-rule.ts'
import { isKindOfFile } from './places.ts'
import { UNKNOWN } from './program-words.ts'
import { NOT_CLEAR } from './reasons.ts'
import type { Scene } from './scene.ts'
import { plainWord, type ShellWord } from './shell-words.ts'

const ALL_FOUND = 'deletes all files that are found'
const UNCLEAR_SEARCH = 'looks for files in a way that is not clear'

const RUNS_FOR_FOUND = /^-(?:exec|ok)(?:dir)?$/

export const judgeFind: Judge = (scene, name, all) => {
  const start = all.findIndex(({ text }) => !/^-(?:[HLP]+|O\d)$/.test(text))
  const [leading, rest] = start < 0 ? [all, []] : [all.slice(0, start), all.slice(start)]
  const at = rest.findIndex(({ text }) => /^[-(!]/.test(text))
  const tests = at < 0 ? [] : rest.slice(at)
  const named = rest.slice(0, rest.length - tests.length)
  const runs = tests.some(({ text }) => RUNS_FOR_FOUND.test(text))
  if (runs) scene.begins(null)
  judgeByRule(scene, name, named)
  const roots = named.length === 0 ? [plainWord('.')] : named
  const has = (test: RegExp): boolean => tests.some(({ text }) => test.test(text))
  // After these there may be folders, or a file says which.
  if (/^-(?:-|[DEXdfsx]+)$/.test(tests[0]?.text ?? '') || has(/^-files0-from$/)) scene.note('high', UNCLEAR_SEARCH)
  if (has(/^-delete$/)) scene.note('critical', ALL_FOUND, 'Delete all files that are found')
  if (has(/^-f(?:print|ls)/)) scene.note('high', 'writes what is found to a file')
  for (const [i, { kind, text }] of tests.entries()) {
    const before = tests[i - 1]?.text ?? ''
    if (kind === 'any' || kind === 'one') scene.note('high', UNCLEAR_SEARCH)
    if (/^-(?:files0-from|newer\w*|samefile)$/.test(before)) scene.word(plainWord(text), 'read')
    if (/^-f(?:print|ls)/.test(before)) scene.word(plainWord(text), 'write')
    // Files of these names are read.
    if (runs && /^-i?(?:name|path|wholename)$/.test(before)) scene.word(plainWord(text.replaceAll('*', '')), 'read')
  }
  if (runs && (has(/^-follow$/) || leading.some(({ text }) => /^-[HL]/.test(text)))) scene.note('high', 'follows links')
  // What stands behind `-exec` says nothing about the files.
  const before = tests.slice(
    0,
    tests.findIndex(({ text }) => RUNS_FOR_FOUND.test(text)),
  )
  const wanted = before.filter((_, i) => /^-i?name$/.test(before[i - 1]?.text ?? '')).map(({ text }) => text)
  const areOnly = !has(/^(?:-o|-or|!|-not|,)$/)
  if (runs && !(areOnly && wanted.some(isKindOfFile))) for (const root of roots) scene.tree(root)
  const names = areOnly && wanted[0] !== undefined && !wanted[0].includes('[') ? wanted[0] : '*'
  for (let i = 0; i < tests.length; i += 1) {
    if (!RUNS_FOR_FOUND.test(tests[i]?.text ?? '')) continue
    const isEnd = (text: string, j: number): boolean => text === ';' || (text === '+' && tests[j - 1]?.text === '{}')
    const end = tests.findIndex(({ text }, j) => j > i && isEnd(text, j))
    const run = tests.slice(i + 1, end < 0 ? undefined : end)
    const given = (word: ShellWord): readonly ShellWord[] => (word.text === '{}' ? roots : [placed(word)])
    overMany(scene, run.flatMap(given), names)
    i = end < 0 ? tests.length : end
  }
}

export const judgeXargs: Judge = (scene, _name, rest) => {
  let at = 0
  while (rest[at]?.text.startsWith('-') === true)
    at += /^(?:-[0rtx]*[InPLdsE]|--(?:max-args|max-procs|delimiter))$/.test(rest[at]?.text ?? '') ? 2 : 1
  const options = rest.slice(0, at)
  // `-n $X`: there may be a program in it.
  const isKnown = ({ text, kind }: ShellWord): boolean =>
    kind === 'plain' &&
    /^(?!-)|^-[0rtx]*(?:[InPLdsEi].*)?$|^--(?:max-args|max-procs|delimiter|replace|null|no-run-if-empty)(?:=.*)?$/s.test(
      text,
    )
  if (!options.every(isKnown)) scene.note('high', NOT_CLEAR)
  // `-I x bash -c x`: what is read stands where the name is.
  const names = options.flatMap(({ text }, i) => {
    const [, name] = /^(?:-[0rtx]*[Ii]|--replace=?)(.*)$/s.exec(text) ?? []
    return name === '' ? [rest[i + 1]?.text ?? '', '{}'] : (name ?? [])
  })
  const isReplaced = ({ text }: ShellWord): boolean => names.some((name) => text.includes(name))
  const run = rest.slice(at).map((word) => (isReplaced(word) ? { ...word, kind: 'any' as const } : placed(word)))
  overMany(scene, [...run, UNKNOWN])
}

/** A word with a place for the name of a file may become anything. */
const placed = (word: ShellWord): ShellWord => (/\{\}|^%$/.test(word.text) ? { ...word, kind: 'any' } : word)

/** A program that runs for many files. */
function overMany(scene: Scene, run: readonly ShellWord[], names = '*'): undefined {
  if (/(?:^|\/)(?:rm|unlink|shred|rmdir|truncate|trash)$/i.test(run[0]?.text ?? ''))
    scene.note('critical', ALL_FOUND, 'Delete all files that are found')
  scene.begins(null)
  const before = scene.wholeTree
  scene.wholeTree = names
  scene.program(run)
  scene.wholeTree = before
}
