// What a program does by its line of the table in `programs.ts`.

import { visibleText } from '../../domain/text/visible-text.ts'
import { actionOf, hasOption, parsed } from './program-words.ts'
import { isKnown, OUTPUTS, PROGRAMS, REACHING_SCRIPT, type Rule, TELLTALES, WITH_VERBS } from './programs.ts'
import { ANY_VALUE, NOT_CLEAR, REACHES } from './reasons.ts'
import type { Scene } from './scene.ts'
import { type ShellWord, STREAM } from './shell-words.ts'

/** A judge returns nothing; so `return` may end with what it says. */
export type Judge = (scene: Scene, name: string, rest: readonly ShellWord[]) => undefined

export function readAll(scene: Scene, words: readonly ShellWord[]): undefined {
  for (const word of words) scene.word(word, 'read')
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

export function judgeByRule(
  scene: Scene,
  name: string,
  rest: readonly ShellWord[],
  change: Partial<Rule> = {},
): undefined {
  const found = ruleOf(name, rest)
  if (rest.length === 1 && rest[0]?.text === '--version' && found?.rule.risk !== 'critical')
    return scene.note(isKnown(name) ? 'none' : 'low', 'asks for a version')
  for (const { programs, word, why } of TELLTALES)
    if (programs.includes(name) && rest.some(({ text }) => word.test(text))) scene.note('high', why)
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
    scene.note('high', REACHES)
  if (rule.risk === 'low' && rule.words !== 'text') lookAtOutputs(scene, rest, rule)
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
