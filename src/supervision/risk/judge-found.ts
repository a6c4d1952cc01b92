// Programs that run others for all files that are found.

import { type Judge, judgeByRule } from './judge-by-rule.ts'
import { isKindOfFile } from './places.ts'
import { hasOption, UNKNOWN } from './program-words.ts'
import { NOT_CLEAR } from './reasons.ts'
import type { Scene } from './scene.ts'
import { plainWord, type ShellWord } from './shell-words.ts'

const ALL_FOUND = 'deletes all files that are found'

const RUNS_FOR_FOUND = /^-(?:exec|ok)(?:dir)?$/

export const judgeFind: Judge = (scene, name, all) => {
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

export const judgeXargs: Judge = (scene, _name, rest) => {
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

/** A word with a place for the name of a file may become anything. */
const placed = (word: ShellWord): ShellWord => (/\{\}|^%$/.test(word.text) ? { ...word, kind: 'any' } : word)

/** A program that runs for many files. */
function overMany(scene: Scene, run: readonly ShellWord[]): undefined {
  if (/(?:^|\/)(?:rm|unlink|shred|rmdir|truncate|trash)$/i.test(run[0]?.text ?? ''))
    scene.note('critical', ALL_FOUND, 'Delete all files that are found')
  scene.begins(null)
  const before = scene.wholeTree
  scene.wholeTree = true
  scene.program(run)
  scene.wholeTree = before
}
