// Programs that read, change and delete files, where a line of the table cannot say which.

import { basename, dirname, join } from 'node:path'
import { type Judge, judgeByRule } from './judge-by-rule.ts'
import { isKindOfFile } from './places.ts'
import { actionOf, hasOption, parsed, UNKNOWN } from './program-words.ts'
import { BUILD_RESULTS } from './programs.ts'
import { NOT_CLEAR } from './reasons.ts'
import { isThere } from './scene.ts'
import { plainWord, type ShellWord } from './shell-words.ts'

export const judgeRm: Judge = (scene, name, rest) => {
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

export const judgeChmod: Judge = (scene, name, rest) => {
  const { options, operands } = parsed(rest)
  const [mode = UNKNOWN, ...files] = operands
  const action = actionOf('Change permissions of {files}', files)
  const isWide = /^0?7?77$|^(?:a|o|ugo)?[+=][rx]*w/.test(mode.text) && hasOption(options, ['R', '--recursive'])
  if (isWide || /^0?[2467][0-7]{3}$|^[ugoa]*[+=][rwxX]*s/.test(mode.text))
    scene.note('critical', 'gives rights to everybody', action)
  judgeByRule(scene, name, rest, { action })
}

/** The last word is written, under the names of the others if it is a folder. What is moved is gone. */
export const judgeCopy: Judge = (scene, name, rest) => {
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

/** Only lists, or packs files of the workspace into one of it. */
export const judgeTar: Judge = (scene, name, rest) => {
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

export const judgeUniq: Judge = (scene, name, rest) => {
  judgeByRule(scene, name, rest)
  const [, target] = parsed(rest).operands
  if (target === undefined) return
  scene.note('low', 'writes files of the workspace')
  scene.word(target, 'write')
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

export const judgeSed: Judge = (scene, _name, rest) => {
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

export const judgeAwk: Judge = (scene, name, rest) => {
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

export const judgeJq: Judge = (scene, name, rest) => {
  const [script] = parsed(rest).operands
  // `jq -n "$X"`: it may show the environment.
  if (script !== undefined && script.kind !== 'plain' && script.text.startsWith('$')) scene.note('high', NOT_CLEAR)
  judgeByRule(scene, name, rest)
}

/** They only say how answers are printed. */
const SQLITE_OPTION =
  /^--?(?:readonly|safe|(?:no)?header|json|csv|column|markdown|table|box|line|list|html|quote|tabs|ascii|batch|bail)$/
/** With these a question reads or writes other files, however they are quoted. */
const SQLITE_REACHES = /readfile|writefile|zipfile|fsdir|load_ext|\bedit\b|tokenizer|\n\s*\./i

/** Of what a database runs, only a question. */
export const judgeSqlite: Judge = (scene, name, rest) => {
  const { options, operands } = parsed(rest)
  const [database = UNKNOWN, ...statements] = operands
  scene.word(database, 'write')
  const isQuestion = statements.every(
    ({ text, kind }) =>
      kind === 'plain' &&
      /^\s*(?:select|explain|\.(?:tables|schema|mode|headers)\b)[^;]*;?\s*$/i.test(text) &&
      !SQLITE_REACHES.test(text),
  )
  // `file:%2e%2e/x.db` is in the folder above.
  const isClear = !database.text.includes('%') && options.every(({ text }) => SQLITE_OPTION.test(text))
  if (statements.length === 0 || !isQuestion || !isClear)
    scene.note('high', 'changes a database, or runs what is not clear')
  judgeByRule(scene, name, rest, { words: 'text' })
}

/** A search through folders shows what is in the files there. */
export const judgeSearch: Judge = (scene, name, rest) => {
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
