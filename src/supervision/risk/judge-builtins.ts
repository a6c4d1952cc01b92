// Programs that are part of the shell.

import { type Judge, judgeByRule } from './judge-by-rule.ts'
import { parsed } from './program-words.ts'
import { HARMLESS_VARIABLES, OBEYED_VARIABLES } from './programs.ts'
import { SHOWS_ENVIRONMENT } from './reasons.ts'

export const judgeCd: Judge = (scene, name, rest) => {
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

/** `export A=b`, `declare x=1`. */
export const judgeDeclare: Judge = (scene, name, rest) => {
  if (rest.every(({ text }) => text.startsWith('-'))) scene.note('high', SHOWS_ENVIRONMENT)
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

export const judgeSet: Judge = (scene, _name, rest) => {
  const isHarmless =
    rest.length > 0 &&
    rest.every(({ text, kind }) => kind === 'plain' && /^(?:[-+][eux]*o?|pipefail|errexit|nounset)$/.test(text))
  scene.note(isHarmless ? 'none' : 'high', 'sets options of the shell')
}

export const judgeTest: Judge = (scene, name, rest) => {
  judgeByRule(scene, name, rest, { words: 'text' })
  for (const word of rest) if (word.kind === 'plain' && !/^[-\]]/.test(word.text)) scene.word(word, 'names')
}
